#include "tests/client/fake_service.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace dv::testing {
namespace {

const grpc::Status kUnset(grpc::StatusCode::UNIMPLEMENTED, "the test sets no such method");

}  // namespace

grpc::Status FakeService::Describe(grpc::ServerContext* /*context*/,
                                   const pb::DescribeRequest* request,
                                   pb::DescribeResponse* response) {
  return describe ? describe(*request, response) : kUnset;
}

grpc::Status FakeService::ReadPositions(grpc::ServerContext* /*context*/,
                                        const pb::ReadPositionsRequest* request,
                                        grpc::ServerWriter<pb::ReadPositionsResponse>* writer) {
  return read ? read(*request, writer) : kUnset;
}

grpc::Status FakeService::Scan(
    grpc::ServerContext* /*context*/,
    grpc::ServerReaderWriter<pb::ScanResponse, pb::ScanRequest>* stream) {
  return scan ? scan(stream) : kUnset;
}

FakeServer::FakeServer() {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service_);
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

FakeServer::~FakeServer() { server_->Shutdown(std::chrono::system_clock::now()); }

grpc::Status DetailedStatus() {
  google::rpc::ErrorInfo info;
  info.set_reason("CRC_MISMATCH");
  info.set_domain("deletionvector.v1");
  (*info.mutable_metadata())["found"] = "0x1";
  (*info.mutable_metadata())["offset"] = "42";
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(1);
  retry.mutable_retry_delay()->set_nanos(500'000'000);
  google::rpc::Status status;
  status.set_code(grpc::StatusCode::INVALID_ARGUMENT);
  status.set_message("the CRC differs");
  status.add_details()->PackFrom(info);
  status.add_details()->PackFrom(retry);
  return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, status.message(),
                      status.SerializeAsString());
}

}  // namespace dv::testing
