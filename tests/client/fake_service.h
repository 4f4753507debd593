// A server in this process that does what a test wants, to see what a client makes of it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "grpcpp/server.h"
#include "grpcpp/server_context.h"

namespace dv::testing {

namespace pb = ::deletionvector::v1;

// FakeService
//
// Calls the functions that a test sets. A method without one is UNIMPLEMENTED.
class FakeService final : public pb::DeletionVectorService::Service {
 public:
  std::function<grpc::Status(const pb::DescribeRequest&, pb::DescribeResponse*)> describe;
  std::function<grpc::Status(const pb::ReadPositionsRequest&,
                             grpc::ServerWriter<pb::ReadPositionsResponse>*)>
      read;
  std::function<grpc::Status(grpc::ServerReaderWriter<pb::ScanResponse, pb::ScanRequest>*)> scan;

  grpc::Status Describe(grpc::ServerContext* context, const pb::DescribeRequest* request,
                        pb::DescribeResponse* response) override;
  grpc::Status ReadPositions(grpc::ServerContext* context, const pb::ReadPositionsRequest* request,
                             grpc::ServerWriter<pb::ReadPositionsResponse>* writer) override;
  grpc::Status Scan(grpc::ServerContext* context,
                    grpc::ServerReaderWriter<pb::ScanResponse, pb::ScanRequest>* stream) override;
};

// FakeServer
//
// A FakeService on a free port of the loopback interface.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  FakeService& service() { return service_; }
  const std::string& address() const { return address_; }

 private:
  FakeService service_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

// Returns a status as the server sends it, with an ErrorInfo and a RetryInfo in its details.
grpc::Status DetailedStatus();

}  // namespace dv::testing
