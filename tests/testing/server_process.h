// A server that a test runs as a process of its own.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dv::testing {

// ServerProcess
//
// A running dv-server that listens on a free port of the loopback interface. It is stopped, and its
// files are removed, with this object.
class ServerProcess {
 public:
  // Starts `binary` with `arguments`, besides those that say where to listen, and waits until it
  // does. UNAVAILABLE when it does not start, with what it wrote.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(
      const std::string& binary, const std::vector<std::string>& arguments = {});

  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Where it listens, such as "127.0.0.1:4711".
  const std::string& address() const { return address_; }

  // Its process id.
  pid_t pid() const { return pid_; }

  // Whether the process is still there.
  bool Running() const;

  // What it wrote so far, output and errors together.
  std::string Output() const;

 private:
  ServerProcess() = default;

  std::string folder_;
  std::string address_;
  pid_t pid_ = -1;
};

}  // namespace dv::testing
