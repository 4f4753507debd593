#include "server/rpc/read_call.h"

#include <optional>

#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "server/rpc/answer.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/status.h"
#include "server/rpc/vector_request.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// ReadCall
//
// The course of a call: parse, check and decode the request, then one part after the other. One
// thread at a time works on it: after each write the next one to do so is that of OnWriteDone().
class ReadCall : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ReadCall(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
           const Limits& limits, WorkerPool& pool)
      : context_(context), request_buffer_(request), limits_(limits), pool_(pool) {}

  void Start() {
    if (request_buffer_->Length() > kInlineCost) {
      pool_.Schedule([this] { Run(); });
    } else {
      Run();
    }
  }

  void OnWriteDone(bool ok) override {
    // Not taken: the caller is gone, or its deadline has passed.
    if (!ok || context_->IsCancelled()) return Finish(grpc::Status::CANCELLED);
    WriteNext();
  }

  void OnDone() override { delete this; }

 private:
  void Run() {
    absl::Status status = request_.Parse(*request_buffer_, limits_);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    const absl::StatusOr<ReadSpec> spec = CheckRead(request_.message().query(), "query");
    if (!spec.ok()) return Finish(ToGrpcStatus(spec.status()));
    if (context_->IsCancelled()) return Finish(grpc::Status::CANCELLED);
    status = request_.Decode();
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    if (context_->IsCancelled()) return Finish(grpc::Status::CANCELLED);
    answer_.emplace(request_.decoded().view, *spec, std::nullopt);
    WriteNext();
  }

  void WriteNext() {
    if (!answer_->Done()) {
      message_ = ToByteBuffer(answer_->Next());
      StartWrite(&message_);
      return;
    }
    pb::ReadPositionsResponse response;
    *response.mutable_end() = answer_->End();
    message_ = ToByteBuffer(bytes::Chain::Own(response.SerializeAsString()));
    StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
  }

  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_buffer_;
  const Limits& limits_;
  WorkerPool& pool_;
  VectorRequest<pb::ReadPositionsRequest> request_;
  std::optional<Answer> answer_;
  // The message under way.
  grpc::ByteBuffer message_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartReadPositions(grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request,
                                                               const Limits& limits,
                                                               WorkerPool& pool) {
  // Deletes itself in OnDone().
  auto* const call = new ReadCall(context, request, limits, pool);
  call->Start();
  return call;
}

}  // namespace dv::rpc
