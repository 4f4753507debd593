#include "client/client.h"

#include <utility>

#include "client/status.h"

namespace dv::client {
namespace {

// Makes a unary call and returns its answer.
template <typename Response, typename Stub, typename Method, typename Request>
absl::StatusOr<Response> Call(Stub& stub, Method method, const Request& request,
                              const CallOptions& options) {
  const std::unique_ptr<grpc::ClientContext> context = MakeContext(options);
  Response response;
  const grpc::Status status = (stub.*method)(context.get(), request, &response);
  if (!status.ok()) return StatusFromGrpc(status);
  return response;
}

}  // namespace

PositionReader::PositionReader(
    std::unique_ptr<grpc::ClientContext> context,
    std::unique_ptr<grpc::ClientReader<pb::ReadPositionsResponse>> reader)
    : context_(std::move(context)),
      reader_(std::move(reader)),
      result_(absl::InternalError("the server ended the answer without its end message")) {}

PositionReader::~PositionReader() {
  if (finished_) return;
  if (!drained_) Cancel();
  Finish().IgnoreError();
}

bool PositionReader::Next(pb::AnswerPart* part) {
  pb::ReadPositionsResponse response;
  while (!drained_) {
    if (!reader_->Read(&response)) {
      drained_ = true;
    } else if (response.has_part()) {
      part->Swap(response.mutable_part());
      return true;
    } else if (response.has_end()) {
      result_ = std::move(*response.mutable_end());
    }
    // Anything else is of a later version of the contract and not for us.
  }
  return false;
}

absl::StatusOr<pb::AnswerEnd> PositionReader::Finish() {
  if (finished_) return result_;
  pb::AnswerPart dropped;
  while (Next(&dropped)) {
  }
  finished_ = true;
  const grpc::Status status = reader_->Finish();
  if (!status.ok()) result_ = StatusFromGrpc(status);
  return result_;
}

absl::StatusOr<Client> Client::Connect(const std::string& target, const ChannelOptions& options) {
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = OpenChannel(target, options);
  if (!channel.ok()) return channel.status();
  return Client(*channel);
}

Client::Client(const std::shared_ptr<grpc::Channel>& channel)
    : service_(pb::DeletionVectorService::NewStub(channel)),
      health_(grpc::health::v1::Health::NewStub(channel)) {}

absl::StatusOr<pb::DescribeResponse> Client::Describe(const pb::DescribeRequest& request,
                                                      const CallOptions& options) const {
  return Call<pb::DescribeResponse>(*service_, &pb::DeletionVectorService::Stub::Describe, request,
                                    options);
}

absl::StatusOr<pb::CheckPositionsResponse> Client::CheckPositions(
    const pb::CheckPositionsRequest& request, const CallOptions& options) const {
  return Call<pb::CheckPositionsResponse>(
      *service_, &pb::DeletionVectorService::Stub::CheckPositions, request, options);
}

absl::StatusOr<pb::CountPositionsResponse> Client::CountPositions(
    const pb::CountPositionsRequest& request, const CallOptions& options) const {
  return Call<pb::CountPositionsResponse>(
      *service_, &pb::DeletionVectorService::Stub::CountPositions, request, options);
}

std::unique_ptr<PositionReader> Client::ReadPositions(const pb::ReadPositionsRequest& request,
                                                      const CallOptions& options) const {
  std::unique_ptr<grpc::ClientContext> context = MakeContext(options);
  std::unique_ptr<grpc::ClientReader<pb::ReadPositionsResponse>> reader =
      service_->ReadPositions(context.get(), request);
  return std::unique_ptr<PositionReader>(new PositionReader(std::move(context), std::move(reader)));
}

std::unique_ptr<ScanSession> Client::Scan(const CallOptions& options) const {
  return std::make_unique<ScanSession>(service_, options);
}

absl::StatusOr<ServingStatus> Client::CheckHealth(const std::string& service,
                                                  const CallOptions& options) const {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  const absl::StatusOr<grpc::health::v1::HealthCheckResponse> response =
      Call<grpc::health::v1::HealthCheckResponse>(*health_, &grpc::health::v1::Health::Stub::Check,
                                                  request, options);
  if (!response.ok()) return response.status();
  return response->status();
}

}  // namespace dv::client
