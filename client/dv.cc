// The command-line client: asks a deletion vector server which rows are deleted.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "client/cli/options.h"
#include "client/cli/output.h"
#include "client/cli/run.h"

namespace {

// Opens /dev/null where a standard descriptor is closed, lest a connection take its number and
// answers be written into it.
void KeepStandardDescriptors() {
  while (true) {
    const int descriptor = open("/dev/null", O_RDWR);
    if (descriptor < 0) return;
    if (descriptor > STDERR_FILENO) {
      close(descriptor);
      return;
    }
  }
}

int Main(int argc, char** argv) {
  KeepStandardDescriptors();
  // A reader that is gone is seen when writing to it.
  signal(SIGPIPE, SIG_IGN);
  // What goes wrong is told by the status of the call; gRPC's own log would tell it a second time.
  setenv("GRPC_VERBOSITY", "NONE", 0);

  const dv::cli::ParsedOptions parsed = dv::cli::ParseOptions(argc, argv);
  dv::cli::Output output(STDOUT_FILENO, "standard output");
  std::cerr << parsed.error;
  if (parsed.options) return dv::cli::Run(*parsed.options, output, std::cerr);
  output.Write(parsed.output);
  output.Flush();
  if (!output.failed() || output.reader_gone()) return parsed.exit_status;
  std::cerr << "dv: " << output.ErrorMessage() << '\n';
  return dv::cli::kExitFailure;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "dv: " << error.what() << '\n';
    return dv::cli::kExitFailure;
  }
}
