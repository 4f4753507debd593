#include "server/rpc/unary_call.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/evaluate.h"
#include "server/rpc/status.h"
#include "server/rpc/vector_request.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// Items that are answered between two looks at whether the caller is still there.
constexpr int kItemsPerStep = 4'096;

// About how many bytes of a vector are looked at for one position, range or bucket.
constexpr uint64_t kBytesPerItem = 128;

// UnaryCall
//
// The course of a call: parse, check and decode the request, answer it, finish. What costs little
// runs on the thread of the reaction, the rest on the pool. One thread at a time works on a call.
template <typename Request, typename Response>
class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  UnaryCall(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
            grpc::ByteBuffer* response, const Limits& limits, WorkerPool& pool)
      : context_(context),
        request_buffer_(request),
        response_buffer_(response),
        limits_(limits),
        pool_(pool) {}

  void Start() {
    if (request_buffer_->Length() > kInlineCost) {
      pool_.Schedule([this] {
        if (Prepare()) Run();
      });
      return;
    }
    if (!Prepare()) return;
    if (Cost() > kInlineCost) {
      pool_.Schedule([this] { Run(); });
    } else {
      Run();
    }
  }

  void OnDone() override { delete this; }

 protected:
  // Checks the rest of the request.
  virtual absl::Status Check() = 0;
  // Returns how many items are to be answered.
  virtual uint64_t ItemCount() const = 0;
  // Answers. Looks at cancelled() now and then, and stops.
  virtual void Answer(Response& response) = 0;

  bool cancelled() const { return context_->IsCancelled(); }

  VectorRequest<Request> request_;

 private:
  uint64_t Cost() const { return request_buffer_->Length() + ItemCount() * kBytesPerItem; }

  // Finishes the call and returns false if the request is wrong.
  bool Prepare() {
    absl::Status status = request_.Parse(*request_buffer_, limits_);
    if (status.ok()) status = Check();
    if (!status.ok()) Finish(ToGrpcStatus(status));
    return status.ok();
  }

  void Run() {
    if (cancelled()) return Finish(grpc::Status::CANCELLED);
    const absl::Status status = request_.Decode();
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    Response response;
    if (!cancelled()) Answer(response);
    if (cancelled()) return Finish(grpc::Status::CANCELLED);
    *response_buffer_ = ToByteBuffer(bytes::Chain::Own(response.SerializeAsString()));
    Finish(grpc::Status::OK);
  }

  grpc::CallbackServerContext* const context_;
  const grpc::ByteBuffer* const request_buffer_;
  grpc::ByteBuffer* const response_buffer_;
  const Limits& limits_;
  WorkerPool& pool_;
};

class DescribeCall : public UnaryCall<pb::DescribeRequest, pb::DescribeResponse> {
 public:
  using UnaryCall::UnaryCall;

 private:
  absl::Status Check() override {
    if (!request_.message().has_histogram()) return absl::OkStatus();
    const absl::StatusOr<HistogramSpec> spec =
        CheckHistogram(request_.message().histogram(), request_.options().row_count, "histogram");
    if (spec.ok()) histogram_ = *spec;
    return spec.status();
  }

  uint64_t ItemCount() const override { return histogram_.bucket_count; }

  void Answer(pb::DescribeResponse& response) override {
    *response.mutable_summary() = Summarize(request_.decoded(), request_.bytes_copied());
    if (histogram_.bucket_count == 0) return;
    *response.mutable_histogram() = MakeHistogram(request_.decoded().view, histogram_);
  }

  // No buckets: not asked for.
  HistogramSpec histogram_;
};

class CheckPositionsCall : public UnaryCall<pb::CheckPositionsRequest, pb::CheckPositionsResponse> {
 public:
  using UnaryCall::UnaryCall;

 private:
  absl::Status Check() override { return CheckUnaryItems(ItemCount(), "positions"); }

  uint64_t ItemCount() const override {
    return static_cast<uint64_t>(request_.message().positions_size());
  }

  void Answer(pb::CheckPositionsResponse& response) override {
    const auto& positions = request_.message().positions();
    pb::CheckAnswer& answer = *response.mutable_answer();
    // A step is a whole number of bytes of the bitmap.
    static_assert(kItemsPerStep % 8 == 0);
    for (int next = 0; next < positions.size() && !cancelled(); next += kItemsPerStep) {
      const int count = std::min(kItemsPerStep, positions.size() - next);
      const pb::CheckAnswer step = rpc::Check(
          request_.decoded().view,
          absl::Span<const uint64_t>(positions.data() + next, static_cast<size_t>(count)),
          static_cast<uint64_t>(next));
      answer.mutable_deleted()->append(step.deleted());
      answer.set_deleted_count(answer.deleted_count() + step.deleted_count());
    }
    answer.set_position_count(ItemCount());
  }
};

class CountPositionsCall : public UnaryCall<pb::CountPositionsRequest, pb::CountPositionsResponse> {
 public:
  using UnaryCall::UnaryCall;

 private:
  absl::Status Check() override {
    const absl::Status status = CheckUnaryItems(ItemCount(), "ranges");
    return status.ok() ? CheckRanges(request_.message().ranges(), "ranges") : status;
  }

  uint64_t ItemCount() const override {
    return static_cast<uint64_t>(request_.message().ranges_size());
  }

  void Answer(pb::CountPositionsResponse& response) override {
    const auto& ranges = request_.message().ranges();
    pb::CountAnswer& answer = *response.mutable_answer();
    for (int next = 0; next < ranges.size() && !cancelled(); next += kItemsPerStep) {
      const int end = next + std::min(kItemsPerStep, ranges.size() - next);
      const pb::CountAnswer step = Count(request_.decoded().view, ranges, next, end);
      answer.mutable_counts()->MergeFrom(step.counts());
    }
  }
};

template <typename Call>
grpc::ServerUnaryReactor* StartCall(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                    const Limits& limits, WorkerPool& pool) {
  // Deletes itself in OnDone().
  auto* const call = new Call(context, request, response, limits, pool);
  call->Start();
  return call;
}

}  // namespace

grpc::ServerUnaryReactor* StartDescribe(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                        const Limits& limits, WorkerPool& pool) {
  return StartCall<DescribeCall>(context, request, response, limits, pool);
}

grpc::ServerUnaryReactor* StartCheckPositions(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response, const Limits& limits,
                                              WorkerPool& pool) {
  return StartCall<CheckPositionsCall>(context, request, response, limits, pool);
}

grpc::ServerUnaryReactor* StartCountPositions(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response, const Limits& limits,
                                              WorkerPool& pool) {
  return StartCall<CountPositionsCall>(context, request, response, limits, pool);
}

}  // namespace dv::rpc
