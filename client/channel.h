// Channels to a server, with settings that suit a sidecar.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/credentials.h"

namespace dv::client {

// How to reach a server. The defaults are right for a server of this project on the same machine.
struct ChannelOptions {
  // Largest message to take from the server, in bytes. The server sends none above 1 MiB.
  int max_receive_bytes = 4 << 20;
  // How long a connection on which a call waits may be silent before the client asks whether the
  // other side is still there. Servers end connections that ask more often than every 5 minutes,
  // their default.
  absl::Duration keepalive_time = absl::Minutes(10);
  // How long the other side has to answer that.
  absl::Duration keepalive_timeout = absl::Seconds(20);
  // Null: the connection is neither encrypted nor authenticated.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
};

// Returns OK if `target` is one that OpenChannel takes: `host:port`, `[ipv6]:port`, or a URI of a
// scheme that gRPC resolves, such as `unix:/run/dv.sock` or `dns:///dv.example:50051`. Otherwise
// INVALID_ARGUMENT, and what is wrong.
absl::Status CheckTarget(absl::string_view target);

// Returns whether `target` is on this machine by its spelling alone: a Unix socket, `localhost`, or
// a loopback address. Such a target is never reached through a proxy.
bool IsLocalTarget(absl::string_view target);

// OpenChannel()
//
// Returns a channel to `target`. It connects when the first call is made, so a server that is not
// there is told by that call, as UNAVAILABLE. The proxy that the environment names (`grpc_proxy`,
// `https_proxy`, `http_proxy`) is used for all targets but local ones.
//
// Errors: INVALID_ARGUMENT, as CheckTarget.
//
// Example:
//
//   absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = OpenChannel("127.0.0.1:50051");
//   if (!channel.ok()) return channel.status();
//   Client client(*channel);
absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const std::string& target,
                                                           const ChannelOptions& options = {});

}  // namespace dv::client
