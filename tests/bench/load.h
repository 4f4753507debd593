// File: load.h
//
// Calls that go on until they are told to stop, with requests that were encoded before, on raw
// bytes: they cost the client the same whatever the server does.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dv::bench {

// Load
//
// What goes on between Start() and Stop(). A call that fails ends the process.
class Load {
 public:
  virtual ~Load() = default;

  virtual void Start() = 0;

  // Lets the calls at hand end, and waits for them. To be called once, after Start().
  virtual void Stop() = 0;

  // What was done so far: calls or round trips that ended, and bytes of the payload that was moved.
  uint64_t calls() const { return calls_; }
  uint64_t bytes() const { return bytes_; }

 protected:
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<bool> stop_{false};
};

// Unary Describe with `request`, `in_flight` at a time. Bytes are those of requests. `stub` and
// `request` must outlive the load, here and below.
std::unique_ptr<Load> DescribeLoad(grpc::GenericStub& stub, const grpc::ByteBuffer& request,
                                   int in_flight);

// `streams` Scan calls, each of which sends `open`, waits for one answer, and then sends `query`
// and waits for `replies` answers, again and again. Calls are queries; bytes those of answers.
std::unique_ptr<Load> ScanLoad(grpc::GenericStub& stub, const grpc::ByteBuffer& open,
                               const grpc::ByteBuffer& query, int replies, int streams);

// ReadPositions with `request`, one at a time. Bytes are those of answers, counted as they come.
std::unique_ptr<Load> ReadLoad(grpc::GenericStub& stub, const grpc::ByteBuffer& request);

}  // namespace dv::bench
