// The command line of `dv`, read and checked. Nothing here opens a file or a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "deletionvector/v1/query.pb.h"
#include "deletionvector/v1/vector.pb.h"

namespace dv::cli {

namespace pb = ::deletionvector::v1;

// Exit statuses of `dv`.
inline constexpr int kExitOk = 0;
// Something failed: the server, a file, the answer.
inline constexpr int kExitFailure = 1;
// The command line, or a list that it names, makes no sense.
inline constexpr int kExitUsage = 2;

enum class Command { kDescribe, kRead, kCheck, kCount, kScan, kHealth };

enum class OutputFormat {
  // For people.
  kText,
  // For programs: the messages of the contract in protobuf's JSON, one a line.
  kJson,
};

// What the command line says.
struct Options {
  Command command = Command::kHealth;

  // Where the server is, a target of OpenChannel.
  std::string server;
  // absl::InfiniteDuration(): no limit.
  absl::Duration timeout;
  OutputFormat output = OutputFormat::kText;

  // The vectors: files, `-` for standard input, or URIs. One for each command but scan, which takes
  // any number above 0, and health, which takes none.
  std::vector<std::string> sources;
  // Bytes of the source to take: from `offset`, `length` of them. With a URI both or neither.
  std::optional<uint64_t> offset;
  std::optional<uint64_t> length;
  pb::Format format = pb::FORMAT_UNSPECIFIED;
  std::optional<uint64_t> expected_cardinality;
  std::optional<uint64_t> row_count;

  // read, and scan where it reads. The range is always set.
  bool read = false;
  pb::ReadQuery read_query;
  // read: a file to write to. Empty: standard output.
  std::string output_file;

  // check, and scan: positions of the command line.
  std::vector<uint64_t> positions;
  // check: a file with more positions, `-` for standard input. Empty: none.
  std::string positions_from;
  // check: print live positions too.
  bool all = false;

  // count, and scan: the ranges. Empty with count: all positions, as one range.
  std::vector<pb::PositionRange> ranges;

  // describe, and scan: number of buckets.
  std::optional<uint32_t> histogram;
  // scan: say what each vector is.
  bool describe = false;

  // health: full name of a service. Empty: the whole server.
  std::string service;
};

// What ParseOptions found.
struct ParsedOptions {
  // Absent: there is nothing to do but to print the texts below and to exit.
  std::optional<Options> options;
  int exit_status = kExitOk;
  // For standard output: help or version.
  std::string output;
  // For standard error: what is wrong with the command line.
  std::string error;
};

// Reads a command line; argv[0] is the program. Takes the server from the environment variable
// DV_SERVER if the command line names none.
ParsedOptions ParseOptions(int argc, const char* const* argv);

// Returns whether a source is a URI, which the server reads: a scheme and `://`.
bool IsUri(const std::string& source);

}  // namespace dv::cli
