// File: server.h
//
// The running server: from options to a socket that is served, and to a clean stop.
#pragma once

#include <grpcpp/server.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ops/address.h"
#include "server/rpc/limits.h"
#include "server/rpc/service.h"
#include "server/rpc/worker_pool.h"

namespace dv::ops {

// Full name of the service, for health checks.
inline constexpr char kServiceName[] = "deletionvector.v1.DeletionVectorService";

// What the server is to be like.
struct ServerOptions {
  std::vector<Address> listen;
  // Permissions of Unix sockets.
  uint32_t socket_mode = 0600;
  // Bytes of one request.
  int max_message_bytes = 64 << 20;
  // Calls at a time on one connection.
  int max_concurrent_streams = 1000;
  // Threads for long work; 0: one for each processor.
  int worker_threads = 0;
  rpc::Limits limits;
};

// Server
//
// Serves from Start() until Stop(), which may be called from any thread but not from a reaction of
// gRPC.
class Server {
 public:
  // Listens on all addresses and serves. The error, with the address and what to do, is one of
  // CheckFree() or UNAVAILABLE.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);

  // Stops at once if Stop() was not called.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The addresses that are served, with the ports that the system chose.
  const std::vector<Address>& addresses() const { return addresses_; }

  // Stops: health says NOT_SERVING, new calls are refused, open ones may end; those that have not
  // ended after `grace` are cancelled. Returns when all have ended. Further calls do nothing.
  void Stop(absl::Duration grace);

 private:
  Server(const ServerOptions& options, int worker_threads);

  absl::Status Listen(const ServerOptions& options);

  // In the order in which they depend on each other.
  rpc::WorkerPool pool_;
  rpc::Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<Address> addresses_;
  bool stopped_ = false;
};

// Writes the addresses to `path`, one a line, in one step: a reader sees all of them or no file.
absl::Status WriteAddressFile(const std::string& path, const std::vector<Address>& addresses);

}  // namespace dv::ops
