// The call ReadPositions.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/rpc/limits.h"
#include "server/rpc/worker_pool.h"

namespace dv::rpc {

// Starts a call and returns its reactor, which deletes itself. A part is made only when the
// transport has taken the one before it, so a slow reader costs one part. `limits` and `pool` must
// outlive the server.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartReadPositions(grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request,
                                                               const Limits& limits,
                                                               WorkerPool& pool);

}  // namespace dv::rpc
