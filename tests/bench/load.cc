#include "tests/bench/load.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

namespace dv::bench {
namespace {

using grpc::ByteBuffer;

constexpr char kDescribe[] = "/deletionvector.v1.DeletionVectorService/Describe";
constexpr char kScan[] = "/deletionvector.v1.DeletionVectorService/Scan";
constexpr char kReadPositions[] = "/deletionvector.v1.DeletionVectorService/ReadPositions";

void CheckOk(const char* method, const grpc::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s failed with code %d: %s\n", method,
               static_cast<int>(status.error_code()), status.error_message().c_str());
  std::exit(1);
}

// Counts what is under way, and waits for its end.
class Counter {
 public:
  void Add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
  }
  void Remove() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void WaitForNone() {
    std::unique_lock<std::mutex> lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int count_ = 0;
};

class Describe final : public Load {
 public:
  Describe(grpc::GenericStub& stub, const ByteBuffer& request, int in_flight)
      : stub_(stub), request_(request), request_bytes_(request.Length()), in_flight_(in_flight) {}

  void Start() override {
    for (int i = 0; i < in_flight_; ++i) {
      open_.Add();
      Call();
    }
  }
  void Stop() override {
    stop_ = true;
    open_.WaitForNone();
  }

 private:
  struct State {
    grpc::ClientContext context;
    ByteBuffer response;
  };

  void Call() {
    auto* const state = new State;
    stub_.UnaryCall(&state->context, kDescribe, grpc::StubOptions(), &request_, &state->response,
                    [this, state](const grpc::Status& status) {
                      CheckOk(kDescribe, status);
                      delete state;
                      ++calls_;
                      bytes_ += request_bytes_;
                      if (stop_) {
                        open_.Remove();
                      } else {
                        Call();
                      }
                    });
  }

  grpc::GenericStub& stub_;
  const ByteBuffer& request_;
  const uint64_t request_bytes_;
  const int in_flight_;
  Counter open_;
};

class Scan final : public Load {
 public:
  Scan(grpc::GenericStub& stub, const ByteBuffer& open, const ByteBuffer& query, int replies,
       int streams)
      : stub_(stub), open_request_(open), query_(query), replies_(replies), streams_(streams) {}

  void Start() override {
    for (int i = 0; i < streams_; ++i) {
      open_.Add();
      calls_at_hand_.push_back(std::make_unique<Stream>(*this));
    }
    for (const std::unique_ptr<Stream>& stream : calls_at_hand_) stream->Start();
  }
  void Stop() override {
    stop_ = true;
    open_.WaitForNone();
  }

 private:
  // One call. The next message is sent when the one before is written and has all its answers.
  class Stream final : public grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
   public:
    explicit Stream(Scan& load) : load_(load) {}

    void Start() {
      load_.stub_.PrepareBidiStreamingCall(&context_, kScan, grpc::StubOptions(), this);
      Send(load_.open_request_, 1);
      StartRead(&response_);
      StartCall();
    }

    void OnReadDone(bool ok) override {
      // Else the call is over, and OnDone() says how.
      if (!ok) return;
      load_.bytes_ += response_.Length();
      // First, so that it is under way when the next message is sent.
      StartRead(&response_);
      EventDone();
    }
    void OnWriteDone(bool ok) override {
      if (ok) EventDone();
    }
    void OnDone(const grpc::Status& status) override {
      CheckOk(kScan, status);
      load_.open_.Remove();
    }

   private:
    void Send(const ByteBuffer& message, int replies) {
      events_ = 1 + replies;
      StartWrite(&message);
    }

    void EventDone() {
      if (events_.fetch_sub(1) != 1) return;
      if (opened_) ++load_.calls_;
      opened_ = true;
      if (load_.stop_) {
        StartWritesDone();
      } else {
        Send(load_.query_, load_.replies_);
      }
    }

    Scan& load_;
    grpc::ClientContext context_;
    ByteBuffer response_;
    // Ends of writes and answers that are still to come before the next message.
    std::atomic<int> events_{0};
    // Only touched by who saw the last event.
    bool opened_ = false;
  };

  grpc::GenericStub& stub_;
  const ByteBuffer& open_request_;
  const ByteBuffer& query_;
  const int replies_;
  const int streams_;
  Counter open_;
  std::vector<std::unique_ptr<Stream>> calls_at_hand_;
};

class Read final : public Load {
 public:
  Read(grpc::GenericStub& stub, const ByteBuffer& request) : stub_(stub), request_(request) {}

  void Start() override {
    open_.Add();
    Call();
  }
  void Stop() override {
    stop_ = true;
    open_.WaitForNone();
  }

 private:
  class Stream final : public grpc::ClientBidiReactor<ByteBuffer, ByteBuffer> {
   public:
    explicit Stream(Read& load) : load_(load) {
      load_.stub_.PrepareBidiStreamingCall(&context_, kReadPositions, grpc::StubOptions(), this);
      StartWriteLast(&load_.request_, grpc::WriteOptions());
      StartRead(&response_);
      StartCall();
    }

    void OnReadDone(bool ok) override {
      if (!ok) return;
      load_.bytes_ += response_.Length();
      StartRead(&response_);
    }
    void OnDone(const grpc::Status& status) override {
      CheckOk(kReadPositions, status);
      Read& load = load_;
      delete this;
      ++load.calls_;
      if (load.stop_) {
        load.open_.Remove();
      } else {
        load.Call();
      }
    }

   private:
    Read& load_;
    grpc::ClientContext context_;
    ByteBuffer response_;
  };

  // The call deletes itself.
  void Call() { new Stream(*this); }

  grpc::GenericStub& stub_;
  const ByteBuffer& request_;
  Counter open_;
};

}  // namespace

std::unique_ptr<Load> DescribeLoad(grpc::GenericStub& stub, const ByteBuffer& request,
                                   int in_flight) {
  return std::make_unique<Describe>(stub, request, in_flight);
}

std::unique_ptr<Load> ScanLoad(grpc::GenericStub& stub, const ByteBuffer& open,
                               const ByteBuffer& query, int replies, int streams) {
  return std::make_unique<Scan>(stub, open, query, replies, streams);
}

std::unique_ptr<Load> ReadLoad(grpc::GenericStub& stub, const ByteBuffer& request) {
  return std::make_unique<Read>(stub, request);
}

}  // namespace dv::bench
