#include "server/rpc/scan_call.h"

#include <utility>
#include <vector>

#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/scan_session.h"
#include "server/rpc/status.h"
#include "server/rpc/wire.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

using Lock = std::unique_lock<std::mutex>;

// What a small step costs beside the bytes that it looks at.
constexpr uint64_t kStepOverhead = 4'096;

}  // namespace

// ScanCall
//
// Reactions of gRPC and tasks of the pool come from many threads. One mutex guards the state; at
// most one thread at a time is the pump, which decodes small vectors, makes parts and starts
// writes, and lets go of the mutex for what takes time. Big vectors are decoded beside it.
// Operations are started under the mutex, which is safe because no reaction of this class runs
// within the start of an operation.
//
// Finish() is called once, when no write and no work is under way; a read may be. The object lives
// until OnDone(), and as long as a thread is inside.
class ScanCall : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                 public std::enable_shared_from_this<ScanCall> {
 public:
  ScanCall(ScanCalls& calls, const Limits& limits, WorkerPool& pool)
      : calls_(calls), limits_(limits), pool_(pool), session_(limits) {}

  void Start() {
    Lock lock(mutex_);
    Pump(lock, /*on_pool=*/false);
  }

  void Drain() {
    const auto self = shared_from_this();
    Lock lock(mutex_);
    draining_ = true;
    Pump(lock, /*on_pool=*/false);
  }

  void OnReadDone(bool ok) override {
    const auto self = shared_from_this();
    if (!ok) {
      Lock lock(mutex_);
      reading_ = false;
      session_.HalfClose();
      Pump(lock, /*on_pool=*/false);
      return;
    }
    if (request_.Length() <= kInlineCost) return TakeIn(/*on_pool=*/false);
    {
      const Lock lock(mutex_);
      ++jobs_;
    }
    pool_.Schedule([self] {
      self->TakeIn(/*on_pool=*/true);
      Lock lock(self->mutex_);
      --self->jobs_;
      self->MaybeFinish();
    });
  }

  void OnWriteDone(bool ok) override {
    const auto self = shared_from_this();
    Lock lock(mutex_);
    writing_ = false;
    // Not taken: the caller is gone, or its deadline has passed.
    if (!ok) End(absl::CancelledError("the stream is gone"));
    Pump(lock, /*on_pool=*/false);
  }

  void OnCancel() override {
    const auto self = shared_from_this();
    Lock lock(mutex_);
    End(absl::CancelledError("the caller has cancelled the stream"));
    Pump(lock, /*on_pool=*/false);
  }

  void OnDone() override { calls_.Remove(this); }

 private:
  // Parses the request that was read and gives it to the session.
  void TakeIn(bool on_pool) {
    absl::StatusOr<ParsedRequest<pb::ScanRequest>> parsed =
        ParseRequest<pb::ScanRequest>(FromByteBuffer(request_), limits_.max_message_fields);
    // Else the blocks of the message would stay until the next one.
    request_.Clear();
    Lock lock(mutex_);
    reading_ = false;
    absl::Status status = parsed.status();
    if (status.ok()) {
      status = session_.Handle(std::move(parsed->message), std::move(parsed->payloads),
                               parsed->in_place);
    }
    if (!status.ok()) End(status);
    Pump(lock, on_pool);
  }

  // Does all that can be done now. A thread that finds another one at it leaves the work to that
  // one, which looks again before it goes.
  void Pump(Lock& lock, bool on_pool) {
    if (pumping_) return;
    pumping_ = true;
    uint64_t spent = 0;
    while (!ending_) {
      ReadMore();
      // Long work, in one piece or in many, is for the pool.
      if (spent > kInlineCost) return PumpOnPool();
      if (DecodeNext(lock, spent)) continue;
      if (writing_) break;
      if (std::optional<std::string> control = session_.TakeControl(); control.has_value()) {
        Write(bytes::Chain::Own(*std::move(control)));
        continue;
      }
      const uint64_t cost = session_.NextStepCost();
      if (cost > kInlineCost && !on_pool) return PumpOnPool();
      ScanSession::Query* const query = session_.TakeQuery();
      if (query == nullptr) break;
      lock.unlock();
      bytes::Chain part = query->Step();
      lock.lock();
      spent += cost + kStepOverhead;
      if (auto taken = session_.FinishQuery(query, std::move(part)); taken.has_value()) {
        Write(*std::move(taken));
      }
    }
    pumping_ = false;
    if (session_.Done()) {
      End(absl::OkStatus());
    } else if (draining_ && session_.WaitsForClient()) {
      End(Error(absl::StatusCode::kUnavailable, reason::kShuttingDown,
                "the server is stopping; open the stream again, another replica can answer"));
    }
    MaybeFinish();
  }

  // Lets the pool go on. `pumping_` stays set.
  void PumpOnPool() {
    pool_.Schedule([self = shared_from_this()] {
      Lock lock(self->mutex_);
      self->pumping_ = false;
      self->Pump(lock, /*on_pool=*/true);
    });
  }

  // Starts or does the next decode and returns true, or returns false without one.
  bool DecodeNext(Lock& lock, uint64_t& spent) {
    std::unique_ptr<ScanSession::DecodeJob> job = session_.TakeDecode();
    if (job == nullptr) return false;
    if (job->bytes() > kInlineCost) {
      ++jobs_;
      // A task of the pool can be copied, a job cannot.
      const std::shared_ptr<ScanSession::DecodeJob> shared = std::move(job);
      pool_.Schedule([self = shared_from_this(), shared] {
        Lock task_lock(self->mutex_);
        if (!self->ending_) {
          task_lock.unlock();
          shared->Run();
          task_lock.lock();
        }
        self->session_.FinishDecode(*shared);
        --self->jobs_;
        self->Pump(task_lock, /*on_pool=*/true);
      });
      return true;
    }
    spent += job->bytes() + kStepOverhead;
    lock.unlock();
    job->Run();
    lock.lock();
    session_.FinishDecode(*job);
    return true;
  }

  void ReadMore() {
    if (reading_ || !session_.WantsRead()) return;
    reading_ = true;
    StartRead(&request_);
  }

  void Write(bytes::Chain message) {
    writing_ = true;
    response_ = ToByteBuffer(std::move(message));
    StartWrite(&response_);
  }

  // Notes how the stream ends. The first word counts.
  void End(const absl::Status& status) {
    if (ending_) return;
    ending_ = true;
    status_ = status;
  }

  void MaybeFinish() {
    if (!ending_ || finished_ || writing_ || pumping_ || jobs_ != 0) return;
    finished_ = true;
    Finish(ToGrpcStatus(status_));
  }

  ScanCalls& calls_;
  const Limits& limits_;
  WorkerPool& pool_;

  std::mutex mutex_;
  ScanSession session_;
  bool draining_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool pumping_ = false;
  // Tasks of the pool beside the pump.
  int jobs_ = 0;
  bool ending_ = false;
  bool finished_ = false;
  absl::Status status_;

  // Belongs to the read under way, then to TakeIn().
  grpc::ByteBuffer request_;
  // Belongs to the write under way.
  grpc::ByteBuffer response_;
};

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ScanCalls::Start(
    grpc::CallbackServerContext*) {
  auto call = std::make_shared<ScanCall>(*this, limits_, pool_);
  bool draining = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.insert(call);
    draining = draining_;
  }
  if (draining) {
    call->Drain();
  } else {
    call->Start();
  }
  return call.get();
}

void ScanCalls::Drain() {
  std::vector<std::shared_ptr<ScanCall>> calls;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    draining_ = true;
    calls.assign(calls_.begin(), calls_.end());
  }
  for (const std::shared_ptr<ScanCall>& call : calls) call->Drain();
}

void ScanCalls::Remove(ScanCall* call) {
  // The last reference may go here; not while the mutex is held.
  std::shared_ptr<ScanCall> keep = call->shared_from_this();
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(keep);
}

}  // namespace dv::rpc
