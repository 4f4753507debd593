// Calls with one request and one small response.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "server/rpc/limits.h"
#include "server/rpc/worker_pool.h"

namespace dv::rpc {

// Each starts a call of one method and returns its reactor, which deletes itself. `limits` and
// `pool` must outlive the server.
grpc::ServerUnaryReactor* StartDescribe(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                        const Limits& limits, WorkerPool& pool);
grpc::ServerUnaryReactor* StartCheckPositions(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response, const Limits& limits,
                                              WorkerPool& pool);
grpc::ServerUnaryReactor* StartCountPositions(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response, const Limits& limits,
                                              WorkerPool& pool);

}  // namespace dv::rpc
