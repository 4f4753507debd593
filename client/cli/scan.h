// The command `scan`: several vectors and several questions in one stream.
#pragma once

#include "client/cli/options.h"
#include "client/cli/output.h"
#include "client/cli/report.h"
#include "client/client.h"

namespace dv::cli {

// Opens all sources of `options` in one stream, asks each what `options` asks, and writes the
// answers as they come, each line with its source. A source that fails is reported and does not
// stop the others. Returns the exit status. Only a few vectors are open at a time, and of a large
// file only a piece is in memory.
int Scan(const Options& options, const client::Client& client, const client::CallOptions& call,
         Output& output, Reporter& reporter);

}  // namespace dv::cli
