// The commands of `dv`.
#pragma once

#include <ostream>

#include "client/cli/options.h"
#include "client/cli/output.h"

namespace dv::cli {

// Runs the command of `options`: asks the server, writes the answer to `output` as it comes, and
// what is wrong to `errors`. Returns the exit status. Nothing is written to `errors` when all is
// well, or when the reader of `output` is gone, which is no failure.
int Run(const Options& options, Output& output, std::ostream& errors);

}  // namespace dv::cli
