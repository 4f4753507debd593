#include "client/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace dv::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ParsedOptions Parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"dv"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseOptions(static_cast<int>(argv.size()), argv.data());
}

Options MustParse(const std::vector<std::string>& arguments) {
  ParsedOptions parsed = Parse(arguments);
  EXPECT_TRUE(parsed.options.has_value()) << parsed.error;
  return parsed.options.value_or(Options());
}

TEST(OptionsTest, Defaults) {
  unsetenv("DV_SERVER");
  const Options options = MustParse({"describe", "a.bin"});
  EXPECT_EQ(options.command, Command::kDescribe);
  EXPECT_EQ(options.server, "127.0.0.1:50051");
  EXPECT_EQ(options.timeout, absl::Seconds(30));
  EXPECT_EQ(options.output, OutputFormat::kText);
  EXPECT_THAT(options.sources, ElementsAre("a.bin"));
  EXPECT_EQ(options.format, pb::FORMAT_UNSPECIFIED);
  EXPECT_FALSE(options.offset.has_value());
  EXPECT_FALSE(options.row_count.has_value());
}

TEST(OptionsTest, GlobalOptionsGoBeforeAndAfterTheCommand) {
  const std::vector<std::string> globals = {"--server=h:1", "--timeout=5s", "--output=json"};
  for (size_t before = 0; before <= globals.size(); ++before) {
    std::vector<std::string> arguments(globals.begin(), globals.begin() + before);
    arguments.insert(arguments.end(), {"read", "a.bin"});
    arguments.insert(arguments.end(), globals.begin() + before, globals.end());
    const Options options = MustParse(arguments);
    EXPECT_EQ(options.server, "h:1");
    EXPECT_EQ(options.timeout, absl::Seconds(5));
    EXPECT_EQ(options.output, OutputFormat::kJson);
  }
}

TEST(OptionsTest, TheServerComesFromTheEnvironment) {
  setenv("DV_SERVER", "unix:/run/dv.sock", 1);
  EXPECT_EQ(MustParse({"health"}).server, "unix:/run/dv.sock");
  EXPECT_EQ(MustParse({"health", "--server=h:1"}).server, "h:1");
  setenv("DV_SERVER", "nonsense", 1);
  EXPECT_EQ(Parse({"health"}).exit_status, kExitUsage);
  unsetenv("DV_SERVER");
}

TEST(OptionsTest, WhatAVectorIs) {
  const Options options =
      MustParse({"describe", "a.bin", "--offset=4", "--length", "50", "--format=roaring64",
                 "--expected-cardinality=18446744073709551615", "--row-count=7", "--histogram=3"});
  EXPECT_EQ(options.offset, 4);
  EXPECT_EQ(options.length, 50);
  EXPECT_EQ(options.format, pb::FORMAT_ROARING64);
  EXPECT_EQ(options.expected_cardinality, ~uint64_t{0});
  EXPECT_EQ(options.row_count, 7);
  EXPECT_EQ(options.histogram, 3);
}

TEST(OptionsTest, Read) {
  Options options = MustParse({"read", "a.bin"});
  EXPECT_TRUE(options.read);
  EXPECT_EQ(options.read_query.range().start(), 0);
  EXPECT_FALSE(options.read_query.range().has_end());
  EXPECT_FALSE(options.read_query.has_limit());
  EXPECT_EQ(options.read_query.encoding(), pb::ENCODING_POSITIONS);

  options =
      MustParse({"read", "-", "--start=5", "--end=9", "--limit=0", "--encoding=runs", "-o", "f"});
  EXPECT_EQ(options.read_query.range().start(), 5);
  EXPECT_EQ(options.read_query.range().end(), 9);
  EXPECT_TRUE(options.read_query.has_limit());
  EXPECT_EQ(options.read_query.limit(), 0);
  EXPECT_EQ(options.read_query.encoding(), pb::ENCODING_RUNS);
  EXPECT_EQ(options.output_file, "f");

  options = MustParse({"read", "a.bin", "--mask=live", "--end=0"});
  EXPECT_EQ(options.read_query.encoding(), pb::ENCODING_MASK);
  EXPECT_EQ(options.read_query.mask_polarity(), pb::MASK_POLARITY_LIVE);
}

TEST(OptionsTest, CheckAndCount) {
  Options options = MustParse({"check", "a.bin", "3", "1", "3", "--all"});
  EXPECT_THAT(options.positions, ElementsAre(3, 1, 3));
  EXPECT_TRUE(options.all);
  options = MustParse({"check", "a.bin", "--positions-from=-"});
  EXPECT_THAT(options.positions, IsEmpty());
  EXPECT_EQ(options.positions_from, "-");

  options = MustParse({"count", "a.bin", "0:1000", "1000:"});
  ASSERT_EQ(options.ranges.size(), 2);
  EXPECT_EQ(options.ranges[0].end(), 1000);
  EXPECT_FALSE(options.ranges[1].has_end());
  // Nothing asked for is all.
  options = MustParse({"count", "a.bin"});
  ASSERT_EQ(options.ranges.size(), 1);
  EXPECT_EQ(options.ranges[0].start(), 0);
  EXPECT_FALSE(options.ranges[0].has_end());
}

TEST(OptionsTest, Scan) {
  Options options = MustParse({"scan", "a.bin", "b.bin"});
  EXPECT_THAT(options.sources, ElementsAre("a.bin", "b.bin"));
  EXPECT_TRUE(options.describe);
  EXPECT_FALSE(options.read);

  options = MustParse({"scan", "--count=0:5", "a.bin", "--count", "5:", "b.bin", "--check=7",
                       "--check", "8", "--limit=2"});
  EXPECT_THAT(options.sources, ElementsAre("a.bin", "b.bin"));
  EXPECT_EQ(options.ranges.size(), 2);
  EXPECT_THAT(options.positions, ElementsAre(7, 8));
  EXPECT_FALSE(options.describe);
  EXPECT_TRUE(options.read);
  EXPECT_EQ(options.read_query.limit(), 2);
}

TEST(OptionsTest, AFileMayBeCalledAsACommand) {
  EXPECT_THAT(MustParse({"describe", "read"}).sources, ElementsAre("read"));
  EXPECT_THAT(MustParse({"scan", "scan", "health"}).sources, ElementsAre("scan", "health"));
  EXPECT_THAT(MustParse({"describe", "--", "--odd"}).sources, ElementsAre("--odd"));
}

TEST(OptionsTest, WrongUsage) {
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{}, "subcommand"},
      {{"frobnicate"}, "frobnicate"},
      {{"describe"}, "SOURCE"},
      {{"describe", ""}, "SOURCE"},
      {{"describe", "a.bin", "b.bin"}, "b.bin"},
      {{"describe", "a.bin", "--frobnicate"}, "--frobnicate"},
      {{"describe", "a.bin", "--offset=-1"}, "--offset: \"-1\" is negative"},
      {{"describe", "a.bin", "--offset", "-1"}, "--offset: \"-1\" is negative"},
      {{"describe", "a.bin", "--offset=18446744073709551616"}, "is too large"},
      {{"describe", "a.bin", "--length=ten"}, "--length: \"ten\" is not a number"},
      {{"describe", "a.bin", "--format=parquet"}, "expected one of auto, iceberg, puffin"},
      {{"describe", "a.bin", "--histogram=4"}, "--row-count"},
      {{"describe", "a.bin", "--row-count=9", "--histogram=0"}, "1 to 4096"},
      {{"describe", "a.bin", "--row-count=9", "--histogram=4097"}, "1 to 4096"},
      {{"describe", "a.bin", "--output=xml"}, "--output"},
      {{"describe", "a.bin", "--timeout=soon"}, "--timeout"},
      {{"describe", "a.bin", "--server="}, "--server"},
      {{"describe", "a.bin", "--server=localhost"}, "no port"},
      {{"describe", "a.bin", "--server=localhost:99999"}, "1 to 65535"},
      {{"describe", "s3://b/k", "--offset=4"}, "go together"},
      {{"describe", "s3://b/k", "--length=4"}, "go together"},
      {{"describe", "s3://b/k", "--offset=9223372036854775808", "--length=1"}, "at most"},
      {{"describe", "s3://b/k", "--expected-cardinality=9223372036854775808"}, "at most"},
      {{"read", "a.bin", "--encoding=varint"}, "expected one of positions, runs, mask, roaring"},
      {{"read", "a.bin", "--encoding=mask", "--end=5"}, "--mask=deleted"},
      {{"read", "a.bin", "--mask=live"}, "--end"},
      {{"read", "a.bin", "--mask=live", "--end=5", "--limit=1"}, "--limit"},
      {{"read", "a.bin", "--mask=live", "--end=5", "--encoding=runs"}, "--encoding=mask only"},
      {{"read", "a.bin", "--mask=dead", "--end=5"}, "expected one of deleted, live"},
      {{"read", "a.bin", "--start=6", "--end=5"}, "--start"},
      {{"read", "a.bin", "--limit=1", "--limit=2"}, "--limit"},
      {{"check", "a.bin"}, "POSITION"},
      {{"check", "a.bin", "1", "x"}, "POSITION: \"x\" is not a number"},
      {{"check", "a.bin", "1", "-2"}, "-2"},
      {{"check", "-", "--positions-from=-"}, "only once"},
      {{"count", "a.bin", "5"}, "RANGE: \"5\" is not a range"},
      {{"count", "a.bin", "5:4"}, "starts after its end"},
      {{"scan"}, "SOURCE"},
      {{"scan", "-", "-"}, "only once"},
      {{"scan", "a.bin", "b.bin", "--offset=1"}, "single source"},
      {{"scan", "a.bin", "--encoding=roaring"}, "--output=json"},
      {{"health", "a.bin"}, "a.bin"},
  };
  for (const auto& c : cases) {
    const ParsedOptions parsed = Parse(c.arguments);
    const std::string what = ::testing::PrintToString(c.arguments);
    EXPECT_FALSE(parsed.options.has_value()) << what;
    EXPECT_EQ(parsed.exit_status, kExitUsage) << what;
    EXPECT_THAT(parsed.error, HasSubstr(c.message)) << what;
    EXPECT_THAT(parsed.error, HasSubstr("--help")) << what;
    EXPECT_THAT(parsed.output, IsEmpty()) << what;
  }
}

TEST(OptionsTest, HelpAndVersion) {
  for (const char* command : {"describe", "read", "check", "count", "scan", "health"}) {
    const ParsedOptions parsed = Parse({command, "--help"});
    EXPECT_FALSE(parsed.options.has_value());
    EXPECT_EQ(parsed.exit_status, kExitOk);
    EXPECT_THAT(parsed.output, HasSubstr(std::string("dv ") + command));
    EXPECT_THAT(parsed.output, HasSubstr("Examples:"));
    EXPECT_THAT(parsed.error, IsEmpty());
  }
  EXPECT_THAT(Parse({"--help"}).output, HasSubstr("DV_SERVER"));
  EXPECT_THAT(Parse({"--version"}).output,
              ::testing::MatchesRegex("dv [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(Parse({"--version"}).exit_status, kExitOk);
}

TEST(IsUriTest, ASchemeMakesAUri) {
  for (const char* uri :
       {"s3://b/k", "file:///a", "s3a://b/k", "http://example.com/", "abfss://c@a/p"}) {
    EXPECT_TRUE(IsUri(uri)) << uri;
  }
  for (const char* file :
       {"a.bin", "-", "/a/b", "./s3://b", "://x", "3s://x", "a b://c", "s3:/b"}) {
    EXPECT_FALSE(IsUri(file)) << file;
  }
}

}  // namespace
}  // namespace dv::cli
