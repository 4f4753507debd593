// File: client.h
//
// A synchronous client of the deletion vector service. Requests and answers are the messages of the
// contract, proto/deletionvector/v1; errors are absl::Status with the server's reason and metadata
// (status.h).
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/call_options.h"
#include "client/channel.h"
#include "client/scan_session.h"
#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/client_context.h"

namespace dv::client {

namespace pb = ::deletionvector::v1;

// What the server says of its own health.
using ServingStatus = grpc::health::v1::HealthCheckResponse::ServingStatus;

// PositionReader
//
// The answer to a ReadPositions call, part by part. It belongs to one thread at a time, but
// Cancel() may be called from any. Destroying it before the end cancels the call.
class PositionReader {
 public:
  ~PositionReader();
  PositionReader(const PositionReader&) = delete;
  PositionReader& operator=(const PositionReader&) = delete;

  // Waits for the next part and writes it to `part`. Returns false when no part follows, be it
  // because the answer is complete or because the call failed: Finish() says which.
  bool Next(pb::AnswerPart* part);

  // Returns the end of the answer once Next() has returned false, or why the call failed. Parts
  // that were handed out before a failure are right; `next_start` of the last of them says where a
  // new call goes on.
  absl::StatusOr<pb::AnswerEnd> Finish();

  // Gives the call up: Next() returns false soon, and Finish() CANCELLED.
  void Cancel() { context_->TryCancel(); }

 private:
  friend class Client;
  PositionReader(std::unique_ptr<grpc::ClientContext> context,
                 std::unique_ptr<grpc::ClientReader<pb::ReadPositionsResponse>> reader);

  // Declared before the reader, which uses it to its last moment.
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<pb::ReadPositionsResponse>> reader_;
  // What Finish() returns, once that is known.
  bool drained_ = false;
  bool finished_ = false;
  absl::StatusOr<pb::AnswerEnd> result_;
};

// Client
//
// Calls of the service over one channel. All of it may be used by several threads at once; copies
// share the channel.
//
// Example:
//
//   absl::StatusOr<Client> client = Client::Connect("127.0.0.1:50051");
//   if (!client.ok()) return client.status();
//   pb::CountPositionsRequest request;
//   request.mutable_vector()->set_inline_(blob);
//   request.add_ranges()->set_end(1000);
//   absl::StatusOr<pb::CountPositionsResponse> response = client->CountPositions(request);
//   if (!response.ok()) return response.status();
//   std::cout << response->answer().counts(0) << " of the first 1,000 rows are deleted\n";
class Client {
 public:
  // Returns a client of the server at `target`; see OpenChannel, whose errors these are. Nothing is
  // sent yet.
  static absl::StatusOr<Client> Connect(const std::string& target,
                                        const ChannelOptions& options = {});

  // A client over a channel of the caller's.
  explicit Client(const std::shared_ptr<grpc::Channel>& channel);

  // The unary calls. Each waits for its answer or for the end of its time (DEADLINE_EXCEEDED);
  // UNAVAILABLE without a reason says that no server could be reached.
  absl::StatusOr<pb::DescribeResponse> Describe(const pb::DescribeRequest& request,
                                                const CallOptions& options = {}) const;
  absl::StatusOr<pb::CheckPositionsResponse> CheckPositions(
      const pb::CheckPositionsRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<pb::CountPositionsResponse> CountPositions(
      const pb::CountPositionsRequest& request, const CallOptions& options = {}) const;

  // Asks for the positions of a range. The time of `options` is that of the whole call, all parts
  // included.
  //
  // Example:
  //
  //   std::unique_ptr<PositionReader> reader = client.ReadPositions(request);
  //   pb::AnswerPart part;
  //   while (reader->Next(&part)) Use(part.positions().values());
  //   absl::StatusOr<pb::AnswerEnd> end = reader->Finish();
  //   if (!end.ok()) return end.status();
  std::unique_ptr<PositionReader> ReadPositions(const pb::ReadPositionsRequest& request,
                                                const CallOptions& options = {}) const;

  // Starts a stream that opens many vectors and asks many things of them; see ScanSession. The time
  // of `options` is that of the whole stream.
  std::unique_ptr<ScanSession> Scan(const CallOptions& options = {}) const;

  // Returns how the server, or one of its services by full name, is. Empty: the whole server.
  // NOT_FOUND: it knows no such service.
  absl::StatusOr<ServingStatus> CheckHealth(const std::string& service = "",
                                            const CallOptions& options = {}) const;

 private:
  std::shared_ptr<pb::DeletionVectorService::Stub> service_;
  std::shared_ptr<grpc::health::v1::Health::Stub> health_;
};

}  // namespace dv::client
