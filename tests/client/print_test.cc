#include "client/cli/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "client/cli/numbers.h"
#include "server/bytes/error.h"

namespace dv::cli {
namespace {

TEST(PrintTest, Positions) {
  pb::AnswerPart part;
  part.mutable_positions()->add_values(1);
  part.mutable_positions()->add_values(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(PartText(part), "1\n18446744073709551615\n");
  EXPECT_EQ(PartText(part, "a.bin: ", true),
            "a.bin: position 1\na.bin: position 18446744073709551615\n");
}

TEST(PrintTest, Runs) {
  pb::AnswerPart part;
  part.mutable_runs()->add_starts(5);
  part.mutable_runs()->add_lengths(2);
  part.mutable_runs()->add_starts(100);
  part.mutable_runs()->add_lengths(1);
  EXPECT_EQ(PartText(part), "5 2\n100 1\n");
  EXPECT_EQ(PartText(part, "a: ", true), "a: run 5 2\na: run 100 1\n");
}

TEST(PrintTest, AMaskHasSixtyFourRowsALine) {
  pb::AnswerPart part;
  part.set_start(1000);
  part.set_row_count(70);
  part.mutable_mask()->set_bits(std::string("\x2A\0\0\0\0\0\0\x80\x21", 9));
  EXPECT_EQ(PartText(part),
            "1000 0101010000000000000000000000000000000000000000000000000000000001\n"
            "1064 100001\n");
  part.set_row_count(0);
  part.mutable_mask()->clear_bits();
  EXPECT_EQ(PartText(part), "");
  // A row count that the bits do not bear out.
  part.set_row_count(9);
  part.mutable_mask()->set_bits("\x01");
  EXPECT_EQ(PartText(part), "1000 10000000\n");
}

TEST(PrintTest, RoaringIsNoText) {
  pb::AnswerPart part;
  part.set_roaring("xyz");
  EXPECT_EQ(PartText(part), "");
}

TEST(PrintTest, Checks) {
  pb::CheckAnswer answer;
  answer.set_deleted("\x05");
  const std::vector<uint64_t> positions = {30, 10, 20};
  EXPECT_EQ(CheckText(answer, positions, false), "30\n20\n");
  EXPECT_EQ(CheckText(answer, positions, true, "a: "),
            "a: 30 deleted\na: 10 live\na: 20 deleted\n");
}

TEST(PrintTest, Counts) {
  pb::CountAnswer answer;
  answer.add_counts(3);
  answer.add_counts(0);
  const std::vector<pb::PositionRange> ranges = {*ParseRange("0:10"), *ParseRange("10:")};
  EXPECT_EQ(CountText(answer, ranges), "0:10 3\n10: 0\n");
}

TEST(PrintTest, AHistogramNamesItsBuckets) {
  pb::Histogram histogram;
  histogram.set_row_count(10);
  for (const uint64_t count : {1, 0, 4}) histogram.add_counts(count);
  histogram.set_beyond_count(2);
  // floor(i * 10 / 3): 0, 3, 6, 10.
  EXPECT_EQ(HistogramText(histogram), "rows 0:3 1\nrows 3:6 0\nrows 6:10 4\nrows 10: 2\n");
}

TEST(PrintTest, AHistogramOfManyRowsDoesNotOverflow) {
  pb::Histogram histogram;
  histogram.set_row_count(std::numeric_limits<uint64_t>::max());
  for (int i = 0; i < 4; ++i) histogram.add_counts(0);
  EXPECT_EQ(HistogramText(histogram),
            "rows 0:4611686018427387903 0\n"
            "rows 4611686018427387903:9223372036854775807 0\n"
            "rows 9223372036854775807:13835058055282163711 0\n"
            "rows 13835058055282163711:18446744073709551615 0\n");
}

pb::VectorSummary Summary() {
  pb::VectorSummary summary;
  summary.set_cardinality(3);
  summary.set_first_position(1);
  summary.set_last_position(5);
  summary.set_format(pb::FORMAT_ICEBERG);
  summary.set_layout(pb::LAYOUT_FRAME64);
  summary.set_encoded_size(46);
  summary.set_key_count(1);
  summary.mutable_containers()->set_array(1);
  summary.set_checksum_checked(true);
  return summary;
}

TEST(PrintTest, ASummary) {
  EXPECT_EQ(SummaryText(Summary()),
            "cardinality:     3\n"
            "first position:  1\n"
            "last position:   5\n"
            "format:          iceberg\n"
            "layout:          frame64\n"
            "encoded size:    46 bytes\n"
            "keys:            1, 0 of them empty\n"
            "containers:      1 array, 0 bitset, 0 run\n"
            "bytes copied:    0\n"
            "checksum:        checked\n"
            "data file:       not checked\n");
  EXPECT_EQ(SummaryLine(Summary()), "cardinality 3, first 1, last 5, iceberg, frame64, 46 bytes\n");
}

TEST(PrintTest, AnEmptyVectorHasNoFirstPosition) {
  pb::VectorSummary summary = Summary();
  summary.set_cardinality(0);
  summary.clear_first_position();
  summary.clear_last_position();
  EXPECT_EQ(SummaryLine(summary), "cardinality 0, iceberg, frame64, 46 bytes\n");
  EXPECT_EQ(SummaryText(summary).find("position"), std::string::npos);
}

TEST(PrintTest, JsonIsThatOfProtobufOnOneLine) {
  pb::ReadPositionsResponse response;
  response.mutable_part()->set_position_count(std::numeric_limits<uint64_t>::max());
  response.mutable_part()->mutable_positions()->add_values(1);
  EXPECT_EQ(ToJson(response),
            R"({"part":{"start":"0","rowCount":"0","positionCount":"18446744073709551615",)"
            R"("positions":{"values":["1"]}}})");
}

TEST(PrintTest, JsonStrings) {
  EXPECT_EQ(JsonString("a\"b\\c\n\x7f\x01 \xC3\xA9"),
            "\"a\\\"b\\\\c\\u000a\\u007f\\u0001 \xC3\xA9\"");
  EXPECT_EQ(JsonString("\xFF"), "\"\\ufffd\"");
  EXPECT_EQ(JsonString("\xC3"), "\"\\ufffd\"");
  EXPECT_EQ(JsonString("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
  // A surrogate.
  EXPECT_EQ(JsonString("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST(PrintTest, NothingSteersTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(Printable("\xC2\x9B"), "\\xc2\\x9b");
  EXPECT_EQ(Printable("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC"), "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC");
  EXPECT_EQ(Printable("\xFF\xE2\x82"), "\\xff\\xe2\\x82");
}

TEST(PrintTest, Errors) {
  EXPECT_EQ(ErrorText(Error(absl::StatusCode::kInvalidArgument, "CRC_MISMATCH", "it differs")),
            "INVALID_ARGUMENT (CRC_MISMATCH): it differs");
  EXPECT_EQ(ErrorText(absl::NotFoundError("no")), "NOT_FOUND: no");
}

}  // namespace
}  // namespace dv::cli
