// dv-server: the deletion vector service as a process.

#include <grpc/grpc.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/strings/str_join.h"
#include "server/ops/flags.h"
#include "server/ops/logging.h"
#include "server/ops/server.h"

namespace dv::ops {
namespace {

// Exit statuses.
constexpr int kOk = 0;
constexpr int kFailed = 1;

// glibc would give the memory of a large message back after each, and the page faults cost half the
// throughput. Setting the one fixes the other at 128 KiB, so both are set.
void KeepFreedMemory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

// The signals that stop the server. Blocked in all threads, and waited for in one.
sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

int WaitForStopSignal(const sigset_t& signals) {
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "dv-server: %s\n", std::string(status.message()).c_str());
  return kFailed;
}

int Main(int argc, char** argv) {
  if (const std::optional<std::string> text = HelpOrVersion(argc, argv); text.has_value()) {
    std::fputs(text->c_str(), stdout);
    return kOk;
  }
  absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv);
  if (!line.ok()) return Fail(line.status());
  absl::Status status = StartLogging(line->log_level);
  if (!status.ok()) return Fail(status);

  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // Held to the end of the process: who lets go of gRPC last may wait 10 s for its poller.
  grpc_init();
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(line->server);
  if (!server.ok()) return Fail(server.status());
  if (!line->address_file.empty()) {
    status = WriteAddressFile(line->address_file, (*server)->addresses());
    if (!status.ok()) return Fail(status);
  }
  spdlog::info(
      "dv-server {} serves {}", DV_VERSION,
      absl::StrJoin((*server)->addresses(), ", ", [](std::string* out, const Address& address) {
        out->append(address.ToString());
      }));

  const int signal = WaitForStopSignal(signals);
  spdlog::info("signal {}: stopping, calls may take {} to end", signal,
               absl::FormatDuration(line->shutdown_grace));
  std::thread second([&signals] {
    const int again = WaitForStopSignal(signals);
    spdlog::warn("signal {} again: ending at once", again);
    _exit(kFailed);
  });
  second.detach();
  (*server)->Stop(line->shutdown_grace);
  spdlog::info("stopped");
  return kOk;
}

}  // namespace
}  // namespace dv::ops

int main(int argc, char** argv) {
  dv::ops::KeepFreedMemory();
  return dv::ops::Main(argc, argv);
}
