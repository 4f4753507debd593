// The call Scan: the stream around a ScanSession.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <mutex>
#include <set>

#include "server/rpc/limits.h"
#include "server/rpc/worker_pool.h"

namespace dv::rpc {

class ScanCall;

// ScanCalls
//
// The Scans that are open. Safe for use by several threads.
class ScanCalls {
 public:
  // `limits` and `pool` must outlive the server.
  ScanCalls(const Limits& limits, WorkerPool& pool) : limits_(limits), pool_(pool) {}

  // Starts a call and returns its reactor, which lives until the call is over.
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(
      grpc::CallbackServerContext* context);

  // Makes each Scan, those that start later too, end with UNAVAILABLE (SHUTTING_DOWN) as soon as
  // nothing is under way in it.
  void Drain();

 private:
  friend class ScanCall;

  void Remove(ScanCall* call);

  const Limits& limits_;
  WorkerPool& pool_;
  std::mutex mutex_;
  bool draining_ = false;
  std::set<std::shared_ptr<ScanCall>> calls_;
};

}  // namespace dv::rpc
