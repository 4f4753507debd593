#include "server/ops/flags.h"

#include <array>
#include <climits>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "server/ops/logging.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:50051",
          "Addresses to serve, with commas between: host:port, [ip]:port or unix:/path. Port 0 "
          "lets the system choose. "
          "There is no encryption and no authentication: listen beyond this machine only behind "
          "something that has both");
ABSL_FLAG(std::string, address_file, "",
          "File to write the addresses to, one a line, once they are served");
ABSL_FLAG(std::string, socket_mode, "0600",
          "Permissions of Unix sockets, in octal. A client needs the right to write: 0660 lets the "
          "group of the server "
          "connect, 0666 everybody on this machine");
ABSL_FLAG(int64_t, max_message_bytes, 64 << 20,
          "Largest request in bytes. Clients have a limit of their own for what they send");
ABSL_FLAG(uint64_t, max_message_fields, dv::rpc::Limits().max_message_fields,
          "Most fields that one request may have, nested ones included");
ABSL_FLAG(uint64_t, max_vector_bytes, dv::rpc::Limits().max_vector_bytes,
          "Largest deletion vector in bytes, as it is sent");
ABSL_FLAG(uint64_t, max_open_vectors, dv::rpc::Limits().max_open_vectors,
          "Most deletion vectors that one Scan may have open, loading or failed");
ABSL_FLAG(uint64_t, max_open_bytes, dv::rpc::Limits().max_open_bytes,
          "Most bytes that the deletion vectors of one Scan may hold");
ABSL_FLAG(uint64_t, max_pending_queries, dv::rpc::Limits().max_pending_queries,
          "Queries of one Scan that may be pending; at this number the server stops reading");
ABSL_FLAG(
    uint64_t, max_pending_bytes, dv::rpc::Limits().max_pending_bytes,
    "Bytes that the pending queries of one Scan may hold; at this number the server stops reading");
ABSL_FLAG(int32_t, max_concurrent_streams, 1000,
          "Calls that one connection may have at a time; further ones wait at the client");
ABSL_FLAG(int32_t, worker_threads, 0, "Threads for long work; 0 takes one for each processor");
ABSL_FLAG(std::string, log_level, "info",
          "How much to log to standard error: debug, info, warn, error or off");
ABSL_FLAG(absl::Duration, shutdown_grace, absl::Seconds(10),
          "How long calls may take to end after SIGTERM or SIGINT; then they are cancelled. A "
          "second signal ends the "
          "server at once");

namespace dv::ops {
namespace {

// The flags in the order in which --help shows them.
constexpr std::array<absl::string_view, 14> kFlags = {
    "listen",
    "address_file",
    "socket_mode",
    "max_message_bytes",
    "max_message_fields",
    "max_vector_bytes",
    "max_open_vectors",
    "max_open_bytes",
    "max_pending_queries",
    "max_pending_bytes",
    "max_concurrent_streams",
    "worker_threads",
    "log_level",
    "shutdown_grace",
};

// Columns of the text of --help.
constexpr size_t kHelpWidth = 100;
constexpr absl::string_view kIndent = "      ";

// Returns `text` in lines of at most kHelpWidth columns, indented.
std::string Wrap(absl::string_view text) {
  std::string result;
  std::string line;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (!line.empty() && kIndent.size() + line.size() + 1 + word.size() > kHelpWidth) {
      absl::StrAppend(&result, kIndent, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  if (!line.empty()) absl::StrAppend(&result, kIndent, line, "\n");
  return result;
}

std::string HelpText() {
  std::string text =
      "usage: dv-server [--FLAG=VALUE]...\n\n"
      "Serves the deletion vector service (deletionvector.v1.DeletionVectorService) over gRPC.\n\n"
      "flags:\n";
  for (const absl::string_view name : kFlags) {
    const absl::CommandLineFlag* const flag = absl::FindCommandLineFlag(name);
    if (flag == nullptr) continue;
    const std::string value = flag->DefaultValue();
    absl::StrAppend(&text, "  --", name, "=", value.empty() ? "\"\"" : value, "\n",
                    Wrap(flag->Help()));
  }
  absl::StrAppend(&text, "  --version\n", kIndent, "Print the version.\n", "  --help\n", kIndent,
                  "Print this text.\n\n",
                  "exit status: 0 stopped by SIGTERM or SIGINT; 1 wrong usage, or an address "
                  "cannot be served\n");
  return text;
}

absl::Status Wrong(absl::string_view flag, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", why));
}

// Returns permissions from octal text.
absl::StatusOr<uint32_t> ParseMode(const std::string& text) {
  uint32_t mode = 0;
  if (text.empty() || text.size() > 4)
    return Wrong("socket_mode", "expected up to four octal digits");
  for (const char c : text) {
    if (c < '0' || c > '7') return Wrong("socket_mode", "expected octal digits, such as 0660");
    mode = mode * 8 + static_cast<uint32_t>(c - '0');
  }
  if (mode > 0777) return Wrong("socket_mode", "expected at most 0777");
  return mode;
}

// A limit of 0 would refuse everything.
absl::Status CheckPositive(absl::string_view flag, uint64_t value) {
  if (value > 0) return absl::OkStatus();
  return Wrong(flag, "expected at least 1");
}

absl::Status CheckNumbers(const CommandLine& line) {
  const rpc::Limits& limits = line.server.limits;
  const std::array<std::pair<absl::string_view, uint64_t>, 6> positive = {{
      {"max_message_fields", limits.max_message_fields},
      {"max_vector_bytes", limits.max_vector_bytes},
      {"max_open_vectors", limits.max_open_vectors},
      {"max_open_bytes", limits.max_open_bytes},
      {"max_pending_queries", limits.max_pending_queries},
      {"max_pending_bytes", limits.max_pending_bytes},
  }};
  for (const auto& [flag, value] : positive) {
    absl::Status status = CheckPositive(flag, value);
    if (!status.ok()) return status;
  }
  if (line.server.max_concurrent_streams < 1) {
    return Wrong("max_concurrent_streams", "expected at least 1");
  }
  if (line.server.worker_threads < 0 || line.server.worker_threads > 1024) {
    return Wrong("worker_threads", "expected 0 to 1024");
  }
  if (line.shutdown_grace < absl::ZeroDuration() || line.shutdown_grace > absl::Hours(24)) {
    return Wrong("shutdown_grace", "expected a time from 0 to 24h, such as 10s");
  }
  return absl::OkStatus();
}

std::string VersionText() { return absl::StrCat("dv-server ", DV_VERSION, "\n"); }

}  // namespace

std::optional<std::string> HelpOrVersion(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h" || argument == "-help") return HelpText();
    if (argument == "--version") return VersionText();
  }
  return std::nullopt;
}

absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv) {
  absl::FlagsUsageConfig config;
  config.version_string = [] { return VersionText(); };
  absl::SetFlagsUsageConfig(config);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  if (rest.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown argument \"", rest[1], "\"; see --help"));
  }

  CommandLine line;
  absl::StatusOr<std::vector<Address>> addresses = ParseAddressList(absl::GetFlag(FLAGS_listen));
  if (!addresses.ok()) return Wrong("listen", addresses.status().message());
  line.server.listen = *std::move(addresses);
  absl::StatusOr<uint32_t> mode = ParseMode(absl::GetFlag(FLAGS_socket_mode));
  if (!mode.ok()) return mode.status();
  line.server.socket_mode = *mode;
  const int64_t message_bytes = absl::GetFlag(FLAGS_max_message_bytes);
  if (message_bytes < 1 || message_bytes > INT_MAX) {
    return Wrong("max_message_bytes", absl::StrCat("expected 1 to ", INT_MAX));
  }
  line.server.max_message_bytes = static_cast<int>(message_bytes);
  line.server.max_concurrent_streams = absl::GetFlag(FLAGS_max_concurrent_streams);
  line.server.worker_threads = absl::GetFlag(FLAGS_worker_threads);
  rpc::Limits& limits = line.server.limits;
  limits.max_message_fields = absl::GetFlag(FLAGS_max_message_fields);
  limits.max_vector_bytes = absl::GetFlag(FLAGS_max_vector_bytes);
  limits.max_open_vectors = absl::GetFlag(FLAGS_max_open_vectors);
  limits.max_open_bytes = absl::GetFlag(FLAGS_max_open_bytes);
  limits.max_pending_queries = absl::GetFlag(FLAGS_max_pending_queries);
  limits.max_pending_bytes = absl::GetFlag(FLAGS_max_pending_bytes);
  line.address_file = absl::GetFlag(FLAGS_address_file);
  line.log_level = absl::GetFlag(FLAGS_log_level);
  line.shutdown_grace = absl::GetFlag(FLAGS_shutdown_grace);
  const absl::Status status = CheckNumbers(line);
  if (!status.ok()) return status;
  return line;
}

}  // namespace dv::ops
