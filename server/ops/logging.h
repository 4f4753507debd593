// Where log lines go: all to standard error, those of gRPC and Protocol Buffers among them.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dv::ops {

// Names of the log levels, for messages.
inline constexpr char kLogLevels[] = "debug, info, warn, error, off";

// Sets up logging at `level`, one of kLogLevels. To be called once, before gRPC is used.
// INVALID_ARGUMENT for another name.
absl::Status StartLogging(absl::string_view level);

}  // namespace dv::ops
