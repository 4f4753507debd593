// File: flags.h
//
// The command line of dv-server.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/ops/server.h"

namespace dv::ops {

// What the command line says.
struct CommandLine {
  ServerOptions server;
  // File that the addresses are written to once they are served; empty: none.
  std::string address_file;
  std::string log_level;
  // How long open calls may take to end when the server stops.
  absl::Duration shutdown_grace;
};

// Returns the text of --help, if that is what the command line asks for, or of --version.
std::optional<std::string> HelpOrVersion(int argc, char** argv);

// Parses and checks the command line. What is wrong with a single flag is told on standard error
// and ends the process with status 1; INVALID_ARGUMENT is returned for the rest. To be called once.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv);

}  // namespace dv::ops
