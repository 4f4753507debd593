#include "server/ops/logging.h"

#include <google/protobuf/stubs/common.h>
#include <grpc/support/log.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace dv::ops {
namespace {

struct Level {
  absl::string_view name;
  spdlog::level::level_enum spdlog;
  gpr_log_severity grpc;
};

// gRPC says much at its level INFO that only its developers need.
constexpr std::array<Level, 5> kLevels = {{
    {"debug", spdlog::level::debug, GPR_LOG_SEVERITY_DEBUG},
    {"info", spdlog::level::info, GPR_LOG_SEVERITY_ERROR},
    {"warn", spdlog::level::warn, GPR_LOG_SEVERITY_ERROR},
    {"error", spdlog::level::err, GPR_LOG_SEVERITY_ERROR},
    {"off", spdlog::level::off, GPR_LOG_SEVERITY_ERROR},
}};

spdlog::level::level_enum LevelOf(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_DEBUG:
      return spdlog::level::debug;
    case GPR_LOG_SEVERITY_INFO:
      return spdlog::level::info;
    case GPR_LOG_SEVERITY_ERROR:
      break;
  }
  return spdlog::level::err;
}

void LogForGrpc(gpr_log_func_args* args) {
  const char* const slash = std::strrchr(args->file, '/');
  spdlog::log(LevelOf(args->severity), "gRPC {}:{}: {}", slash == nullptr ? args->file : slash + 1,
              args->line, args->message);
}

// Newer Protocol Buffers log through Abseil, and less.
#if GOOGLE_PROTOBUF_VERSION < 4022000
// What the parser says of messages is told to the callers who sent them; it must not fill the log.
void LogForProtobuf(google::protobuf::LogLevel, const char* file, int line,
                    const std::string& message) {
  spdlog::debug("protobuf {}:{}: {}", file, line, message);
}
#endif

}  // namespace

absl::Status StartLogging(absl::string_view level) {
  for (const Level& known : kLevels) {
    if (known.name != level) continue;
    auto logger = std::make_shared<spdlog::logger>(
        "dv-server", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
    logger->set_level(known.spdlog);
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
    gpr_set_log_function(LogForGrpc);
    gpr_set_log_verbosity(known.grpc);
#if GOOGLE_PROTOBUF_VERSION < 4022000
    google::protobuf::SetLogHandler(LogForProtobuf);
#endif
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", level, "\" is not a log level; one of ", kLogLevels));
}

}  // namespace dv::ops
