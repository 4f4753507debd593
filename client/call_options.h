// What a caller may set for one call.
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "grpcpp/client_context.h"

namespace dv::client {

// CallOptions of a unary call or a stream.
struct CallOptions {
  // The time that the call may take, to its last message. absl::InfiniteDuration(): no end.
  absl::Duration timeout = absl::Seconds(30);
  // Whether to wait for a server that cannot be reached, as long as `timeout` lasts, instead of
  // failing at once.
  bool wait_for_ready = false;
};

// Returns the context of a call with these options.
std::unique_ptr<grpc::ClientContext> MakeContext(const CallOptions& options);

}  // namespace dv::client
