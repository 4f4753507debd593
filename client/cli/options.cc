#include "client/cli/options.h"

#include <limits>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/channel.h"
#include "client/cli/numbers.h"

namespace dv::cli {
namespace {

// A name of the command line and what it stands for.
template <typename Value>
struct Name {
  const char* name;
  Value value;
};

constexpr Name<pb::Format> kFormats[] = {
    {"auto", pb::FORMAT_UNSPECIFIED},    {"iceberg", pb::FORMAT_ICEBERG},
    {"puffin", pb::FORMAT_PUFFIN},       {"delta", pb::FORMAT_DELTA},
    {"paimon", pb::FORMAT_PAIMON},       {"lance", pb::FORMAT_LANCE},
    {"roaring64", pb::FORMAT_ROARING64}, {"roaring32", pb::FORMAT_ROARING32},
};
constexpr Name<pb::Encoding> kEncodings[] = {
    {"positions", pb::ENCODING_POSITIONS},
    {"runs", pb::ENCODING_RUNS},
    {"mask", pb::ENCODING_MASK},
    {"roaring", pb::ENCODING_ROARING},
};
constexpr Name<pb::MaskPolarity> kPolarities[] = {
    {"deleted", pb::MASK_POLARITY_DELETED},
    {"live", pb::MASK_POLARITY_LIVE},
};
constexpr Name<OutputFormat> kOutputs[] = {
    {"text", OutputFormat::kText},
    {"json", OutputFormat::kJson},
};

constexpr uint32_t kMaxBuckets = 4096;

// Adds an option that `parse`, a function from text to absl::StatusOr<Value>, reads into `store`.
// What is wrong with the text is told with the name of the option.
template <typename Parse, typename Store>
CLI::Option* AddParsed(CLI::App* app, const std::string& flag, const std::string& type,
                       const std::string& help, Parse parse, Store store) {
  const auto callback = [flag, parse, store](const CLI::results_t& texts) {
    for (const std::string& text : texts) {
      auto value = parse(text);
      if (!value.ok()) throw CLI::ValidationError(flag, std::string(value.status().message()));
      store(*std::move(value));
    }
    return true;
  };
  return app->add_option(flag, callback, help)->type_name(type);
}

CLI::Option* AddNumber(CLI::App* app, const std::string& flag, std::optional<uint64_t>* target,
                       const std::string& help) {
  return AddParsed(app, flag, "N", help, ParseUint64,
                   [target](uint64_t number) { *target = number; });
}

template <typename Value, size_t kCount>
CLI::Option* AddName(CLI::App* app, const std::string& flag, const Name<Value> (&names)[kCount],
                     Value* target, const std::string& help) {
  std::vector<std::string> known;
  for (const Name<Value>& name : names) known.emplace_back(name.name);
  const auto parse = [&names, known](const std::string& text) -> absl::StatusOr<Value> {
    for (const Name<Value>& name : names) {
      if (text == name.name) return name.value;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not known; expected one of ", absl::StrJoin(known, ", ")));
  };
  return AddParsed(app, flag, absl::StrJoin(known, "|"), help, parse,
                   [target](Value value) { *target = value; });
}

CLI::Option* AddHistogram(CLI::App* app, Options* options) {
  const auto parse = [](const std::string& text) -> absl::StatusOr<uint32_t> {
    const absl::StatusOr<uint64_t> number = ParseUint64(text);
    if (!number.ok()) return number.status();
    if (*number < 1 || *number > kMaxBuckets) {
      return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" is not a number of buckets; ",
                                                     "expected 1 to ", kMaxBuckets));
    }
    return static_cast<uint32_t>(*number);
  };
  return AddParsed(app, "--histogram", "N",
                   "Count deleted rows in N stretches of the file; needs --row-count", parse,
                   [options](uint32_t buckets) { options->histogram = buckets; });
}

// The options that say what a source is.
void AddVectorOptions(CLI::App* app, Options* options) {
  AddNumber(app, "--offset", &options->offset, "First byte of the vector in its source");
  AddNumber(app, "--length", &options->length,
            "Bytes of the vector, as its format counts them (for a file: bytes to send)");
  AddName(app, "--format", kFormats, &options->format,
          "What the bytes are; auto goes by the magic number, which bare Roaring does not have");
  AddNumber(app, "--expected-cardinality", &options->expected_cardinality,
            "Fail unless the vector holds this many positions");
  AddNumber(app, "--row-count", &options->row_count,
            "Rows of the data file: fail if one past them is deleted");
}

void AddSource(CLI::App* app, Options* options) {
  app->add_option_function<std::string>(
         "SOURCE", [options](const std::string& source) { options->sources.push_back(source); },
         "A file, - for standard input, or a URI that the server reads")
      ->type_name("")
      ->required();
  AddVectorOptions(app, options);
}

// What a reading command may say besides its range.
struct ReadOptions {
  std::optional<uint64_t> start;
  std::optional<uint64_t> end;
  std::optional<uint64_t> limit;
  pb::Encoding encoding = pb::ENCODING_POSITIONS;
  pb::MaskPolarity polarity = pb::MASK_POLARITY_UNSPECIFIED;
};

void AddReadOptions(CLI::App* app, ReadOptions* read) {
  AddNumber(app, "--start", &read->start, "First row of the range (default: 0)");
  AddNumber(app, "--end", &read->end,
            "One past the last row of the range (default: through the last possible one)");
  AddNumber(app, "--limit", &read->limit, "At most N positions, lowest first");
  AddName(app, "--encoding", kEncodings, &read->encoding,
          "How positions are written (default: positions)");
  AddName(app, "--mask", kPolarities, &read->polarity,
          "What a 1 of the mask marks; implies --encoding=mask");
}

// The whole command line, while it is read.
struct CommandLine {
  Options options;
  ReadOptions read;
  // scan: --read was given.
  bool read_flag = false;
};

constexpr char kSourceFooter[] =
    R"(
Global options such as --server go before or after the command; see dv --help.
)";

void AddDescribe(CLI::App* app, CommandLine* line) {
  CLI::App* command = app->add_subcommand("describe", "Say what a deletion vector is");
  AddSource(command, &line->options);
  AddHistogram(command, &line->options);
  command->callback([line] { line->options.command = Command::kDescribe; });
  command->footer(absl::StrCat(
      R"(Prints cardinality, first and last position, layout, containers, and what was checked.
Every vector is checked in full before anything is printed.

Examples:
  dv describe vector.bin
  dv describe data.puffin --offset=4 --length=50 --expected-cardinality=5
  dv describe vector.bin --row-count=1000000 --histogram=10
  dv describe s3://bucket/table/data.puffin --offset=4 --length=50
)",
      kSourceFooter));
}

void AddRead(CLI::App* app, CommandLine* line) {
  CLI::App* command = app->add_subcommand("read", "Print the deleted positions of a range");
  AddSource(command, &line->options);
  AddReadOptions(command, &line->read);
  command
      ->add_option("-o,--output-file", line->options.output_file,
                   "Write to this file instead of standard output")
      ->type_name("FILE");
  command->callback([line] { line->options.command = Command::kRead; });
  command->footer(absl::StrCat(R"(Text by encoding:
  positions  a position a line
  runs       START LENGTH
  mask       FIRST_ROW BITS, up to 64 rows a line, lowest row first; needs --mask and --end
  roaring    not text: one bitmap in the portable 64-bit format, written when it is complete
With --output=json: one ReadPositionsResponse a line, the last one with "end".

Examples:
  dv read vector.bin
  dv read vector.bin --start=1000 --end=2000 --encoding=runs
  dv read vector.bin --end=256 --mask=live
  dv read vector.bin --encoding=roaring -o deleted.roaring
  base64 -d vector.txt | dv read -
)",
                               kSourceFooter));
}

void AddCheck(CLI::App* app, CommandLine* line) {
  CLI::App* command = app->add_subcommand("check", "Say which of some positions are deleted");
  AddSource(command, &line->options);
  Options* options = &line->options;
  AddParsed(command, "POSITION", "", "Positions to check, in any order", ParseUint64,
            [options](uint64_t position) { options->positions.push_back(position); })
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args();
  command
      ->add_option("--positions-from", options->positions_from,
                   "Read positions, separated by white space, from this file; - for standard "
                   "input")
      ->type_name("FILE");
  command->add_flag("--all", options->all, "Print live positions too, each with its state");
  command->callback([line] { line->options.command = Command::kCheck; });
  command->footer(absl::StrCat(
      R"(Prints the deleted ones, one a line, in the order in which they were given; with --all each
position and `deleted` or `live`.
With --output=json: CheckPositionsResponse, one for each 100,000 positions.

Examples:
  dv check vector.bin 1 2 3
  dv check vector.bin 1 2 3 --all
  dv check vector.bin --positions-from=rows.txt
)",
      kSourceFooter));
}

void AddCount(CLI::App* app, CommandLine* line) {
  CLI::App* command = app->add_subcommand("count", "Count the deleted positions of ranges");
  AddSource(command, &line->options);
  Options* options = &line->options;
  AddParsed(command, "RANGE", "",
            "Ranges START:END, END exclusive; START: to the end. Default: all positions",
            ParseRange,
            [options](const pb::PositionRange& range) { options->ranges.push_back(range); })
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args();
  command->callback([line] { line->options.command = Command::kCount; });
  command->footer(absl::StrCat(
      R"(Prints RANGE COUNT, a line for each range, in the order in which they were given.
With --output=json: one CountPositionsResponse.

Examples:
  dv count vector.bin
  dv count vector.bin 0:1000 1000:
)",
      kSourceFooter));
}

void AddScan(CLI::App* app, CommandLine* line) {
  CLI::App* command =
      app->add_subcommand("scan", "Ask several things of several vectors, in one stream");
  Options* options = &line->options;
  command
      ->add_option("SOURCE", options->sources,
                   "Files, - for standard input, or URIs that the server reads")
      ->type_name("")
      ->required();
  AddVectorOptions(command, options);
  command->add_flag("--describe", options->describe,
                    "Say what each vector is (default, if nothing else is asked)");
  command->add_flag("--read", line->read_flag,
                    "Print positions; --start, --end, --limit, --encoding and --mask imply it");
  AddReadOptions(command, &line->read);
  AddParsed(command, "--count", "RANGE", "Count a range; may be given several times", ParseRange,
            [options](const pb::PositionRange& range) { options->ranges.push_back(range); })
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddParsed(command, "--check", "POSITION", "Check a position; may be given several times",
            ParseUint64, [options](uint64_t position) { options->positions.push_back(position); })
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddHistogram(command, options);
  command->callback([line] { line->options.command = Command::kScan; });
  command->footer(absl::StrCat(
      R"(All is asked of every vector. Each line starts with its source and a colon, as with grep; lines of
different vectors come as the answers come:
  a.bin: cardinality 3, first 1, last 5, iceberg, frame64, 46 bytes
  a.bin: position 1
  a.bin: run 1 3
  a.bin: mask 0 0101
  a.bin: count 0:1000 3
  a.bin: check 5 deleted
  a.bin: rows 0:100 3                    (of --histogram)
With --output=json: one ScanResponse a line, with "source" and, for queries, "query" added.
A vector that fails is told on standard error; the others are answered all the same, and the exit
status is 1. Files above 1 MiB are sent in pieces and are never wholly in memory. --offset and
--length go with a single source only.

Examples:
  dv scan a.bin b.bin
  dv scan a.bin b.bin --count=0:1000 --count=1000: --check=5
  dv scan *.bin --read --limit=10
)",
      kSourceFooter));
}

void AddHealth(CLI::App* app, CommandLine* line) {
  CLI::App* command = app->add_subcommand("health", "Say whether the server takes calls");
  command
      ->add_option("--service", line->options.service,
                   "Full name of a service (default: the whole server)")
      ->type_name("NAME");
  command->callback([line] { line->options.command = Command::kHealth; });
  command->footer(absl::StrCat(R"(Prints the state; the exit status is 0 only if it is SERVING.

Examples:
  dv health
  dv health --service=deletionvector.v1.DeletionVectorService
)",
                               kSourceFooter));
}

// Checks what no single option can, and fills in what follows from others.
absl::Status Complete(const CLI::App& command, CommandLine* line) {
  Options& options = line->options;
  ReadOptions& read = line->read;
  const auto given = [&command](const std::string& flag) {
    const CLI::Option* option = command.get_option_no_throw(flag);
    return option != nullptr && option->count() > 0;
  };
  size_t standard_inputs = options.positions_from == "-" ? 1 : 0;
  for (const std::string& source : options.sources) {
    if (source.empty()) return absl::InvalidArgumentError("SOURCE: it is empty");
    if (source == "-") ++standard_inputs;
    if (IsUri(source) && options.offset.has_value() != options.length.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.offset ? "--offset" : "--length",
                       ": with a URI, --offset and --length go together"));
    }
    constexpr uint64_t kMaxSigned = std::numeric_limits<int64_t>::max();
    if (IsUri(source) &&
        (options.offset.value_or(0) > kMaxSigned || options.length.value_or(0) > kMaxSigned ||
         options.expected_cardinality.value_or(0) > kMaxSigned)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "with a URI, --offset, --length and --expected-cardinality are at most ", kMaxSigned));
    }
  }
  if (standard_inputs > 1) {
    return absl::InvalidArgumentError("standard input, -, can be read only once");
  }
  if (options.sources.size() > 1 && (options.offset || options.length)) {
    return absl::InvalidArgumentError("--offset and --length go with a single source");
  }
  if (options.histogram && !options.row_count) {
    return absl::InvalidArgumentError(
        "--histogram: it needs --row-count, the rows of the data file");
  }
  if (options.command == Command::kCheck && options.positions.empty() &&
      options.positions_from.empty()) {
    return absl::InvalidArgumentError("POSITION: none was given, nor --positions-from");
  }
  if (options.command == Command::kCount && options.ranges.empty()) {
    options.ranges.emplace_back();
  }

  options.read = options.command == Command::kRead || line->read_flag || given("--start") ||
                 given("--end") || given("--limit") || given("--encoding") || given("--mask");
  if (given("--mask") && given("--encoding") && read.encoding != pb::ENCODING_MASK) {
    return absl::InvalidArgumentError("--mask: it goes with --encoding=mask only");
  }
  if (given("--mask")) read.encoding = pb::ENCODING_MASK;
  if (read.encoding == pb::ENCODING_MASK) {
    if (!given("--mask")) {
      return absl::InvalidArgumentError(
          "--encoding: a mask needs --mask=deleted or --mask=live, what a 1 marks");
    }
    if (!read.end) {
      return absl::InvalidArgumentError("--mask: it needs --end, since it has a bit for every row");
    }
    if (read.limit) return absl::InvalidArgumentError("--limit: not with a mask");
  }
  const uint64_t start = read.start.value_or(0);
  if (read.end && start > *read.end) {
    return absl::InvalidArgumentError(
        absl::StrCat("--start: ", start, " is past --end, ", *read.end));
  }
  if (options.command == Command::kScan && read.encoding == pb::ENCODING_ROARING &&
      options.output == OutputFormat::kText) {
    return absl::InvalidArgumentError(
        "--encoding: roaring is no text; use dv read, or --output=json");
  }
  options.read_query.mutable_range()->set_start(start);
  if (read.end) options.read_query.mutable_range()->set_end(*read.end);
  if (read.limit) options.read_query.set_limit(*read.limit);
  options.read_query.set_encoding(read.encoding);
  options.read_query.set_mask_polarity(read.polarity);

  if (options.command == Command::kScan && !options.read && options.ranges.empty() &&
      options.positions.empty() && !options.histogram) {
    options.describe = true;
  }
  return absl::OkStatus();
}

ParsedOptions Usage(const CLI::App& app, absl::string_view what) {
  std::string command = "dv";
  for (const CLI::App* subcommand : app.get_subcommands()) {
    absl::StrAppend(&command, " ", subcommand->get_name());
  }
  ParsedOptions result;
  result.exit_status = kExitUsage;
  result.error = absl::StrCat(command, ": ", what, "\nRun ", command, " --help for help.\n");
  return result;
}

}  // namespace

bool IsUri(const std::string& source) {
  const size_t end = source.find("://");
  if (end == std::string::npos || end == 0) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_letter(source[0])) return false;
  for (size_t i = 1; i < end; ++i) {
    const char c = source[i];
    if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  CommandLine line;
  Options& options = line.options;
  options.timeout = absl::Seconds(30);
  options.server = "127.0.0.1:50051";

  CLI::App app("Asks a deletion vector server which rows are deleted.", "dv");
  app.set_version_flag("--version", "dv " DV_VERSION, "Print the version and exit");
  // Global options may follow the command.
  app.fallthrough();
  app.require_subcommand(1);
  app.add_option("--server", options.server, "Address of the server: host:port or unix:/path")
      ->envname("DV_SERVER")
      ->type_name("ADDRESS")
      ->capture_default_str();
  AddParsed(&app, "--timeout", "TIME",
            "Time that the whole call may take, such as 30, 1.5s, 200ms or 2m; 0 is no limit "
            "(default: 30)",
            ParseTimeout, [&options](absl::Duration timeout) { options.timeout = timeout; });
  AddName(&app, "--output", kOutputs, &options.output,
          "For people or for programs (default: text)");
  AddDescribe(&app, &line);
  AddRead(&app, &line);
  AddCheck(&app, &line);
  AddCount(&app, &line);
  AddScan(&app, &line);
  AddHealth(&app, &line);
  app.footer(
      R"(A source is a file, - for standard input, or a URI such as s3://bucket/key, which the server reads.
JSON is that of protobuf for the messages of the contract: names in camelCase, 64-bit numbers as strings,
bytes are base64. Fields that are 0 or empty are there too. One object a line.
Errors go to standard error with the status code and the reason.

Exit status: 0 all is well, 1 something failed, 2 wrong usage.

Examples:
  dv describe vector.bin
  dv read vector.bin --start=0 --end=1000
  dv check vector.bin 1 2 3
  dv count vector.bin 0:1000 1000:
  dv scan a.bin b.bin --count=0:1000
  dv --server=unix:/run/dv.sock health
)");

  ParsedOptions result;
  try {
    app.parse(argc, argv);
    const absl::Status target = client::CheckTarget(options.server);
    if (!target.ok()) return Usage(app, absl::StrCat("--server: ", target.message()));
    const absl::Status complete = Complete(*app.get_subcommands().front(), &line);
    if (!complete.ok()) return Usage(app, complete.message());
    result.options = std::move(line.options);
  } catch (const CLI::CallForHelp&) {
    result.output = app.help();
  } catch (const CLI::CallForVersion& version) {
    result.output = absl::StrCat(version.what(), "\n");
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> rest = app.remaining();
    if (app.get_subcommands().empty() && !rest.empty()) {
      return Usage(app, absl::StrCat("\"", rest.front(), "\" is neither a command nor an option"));
    }
    return Usage(app, error.what());
  }
  return result;
}

}  // namespace dv::cli
