#include "client/call_options.h"

#include <chrono>

namespace dv::client {

std::unique_ptr<grpc::ClientContext> MakeContext(const CallOptions& options) {
  auto context = std::make_unique<grpc::ClientContext>();
  // A time beyond what the clock can hold is as good as none.
  if (options.timeout < absl::Hours(24 * 365)) {
    context->set_deadline(std::chrono::system_clock::now() +
                          absl::ToChronoMicroseconds(options.timeout));
  }
  context->set_wait_for_ready(options.wait_for_ready);
  return context;
}

}  // namespace dv::client
