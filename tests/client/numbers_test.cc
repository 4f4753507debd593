#include "client/cli/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/testing/status_matchers.h"

namespace dv::cli {
namespace {

using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ParseUint64Test, TakesTheWholeRange) {
  const struct {
    const char* text;
    uint64_t number;
  } cases[] = {
      {"0", 0},
      {"007", 7},
      {"4294967296", uint64_t{1} << 32},
      {"9223372036854775808", uint64_t{1} << 63},
      {"18446744073709551615", std::numeric_limits<uint64_t>::max()},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<uint64_t> number = ParseUint64(c.text);
    ASSERT_THAT(number, IsOk()) << c.text;
    EXPECT_EQ(*number, c.number);
  }
}

TEST(ParseUint64Test, RefusesEverythingElse) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "is empty"},
      {"-1", "is negative"},
      {"+1", "is not a number"},
      {" 1", "is not a number"},
      {"1 ", "is not a number"},
      {"1.0", "is not a number"},
      {"1e3", "is not a number"},
      {"0x10", "is not a number"},
      {"1,000", "is not a number"},
      {"18446744073709551616", "is too large"},
      {"99999999999999999999999999", "is too large"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseUint64(c.text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)))
        << c.text;
    EXPECT_THAT(ParseUint64(c.text), StatusIs(absl::StatusCode::kInvalidArgument,
                                              HasSubstr(std::string("\"") + c.text + "\"")));
  }
}

TEST(ParseRangeTest, TakesOpenEnds) {
  const struct {
    const char* text;
    const char* written;
  } cases[] = {
      {"0:1000", "0:1000"}, {"1000:", "1000:"},
      {":1000", "0:1000"},  {":", "0:"},
      {"5:5", "5:5"},       {"0:18446744073709551615", "0:18446744073709551615"},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<pb::PositionRange> range = ParseRange(c.text);
    ASSERT_THAT(range, IsOk()) << c.text;
    EXPECT_EQ(FormatRange(*range), c.written);
  }
}

TEST(ParseRangeTest, RefusesWhatIsNoRange) {
  for (const char* text :
       {"", "5", "5-6", "a:b", "-1:5", "5:-1", "1:2:3", "1: 2", "0:18446744073709551616", "6:5"}) {
    EXPECT_THAT(ParseRange(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                           HasSubstr(std::string("\"") + text + "\"")))
        << text;
  }
}

TEST(ParseTimeoutTest, TakesSecondsAndUnits) {
  const struct {
    const char* text;
    absl::Duration timeout;
  } cases[] = {
      {"30", absl::Seconds(30)},          {"1.5s", absl::Milliseconds(1500)},
      {"200ms", absl::Milliseconds(200)}, {"2m", absl::Minutes(2)},
      {"1m30s", absl::Seconds(90)},       {"0", absl::InfiniteDuration()},
      {"0s", absl::InfiniteDuration()},   {"inf", absl::InfiniteDuration()},
  };
  for (const auto& c : cases) {
    const absl::StatusOr<absl::Duration> timeout = ParseTimeout(c.text);
    ASSERT_THAT(timeout, IsOk()) << c.text;
    EXPECT_EQ(*timeout, c.timeout) << c.text;
  }
  for (const char* text : {"", "-1", "-1s", "soon", "1x", "1.5"}) {
    EXPECT_THAT(ParseTimeout(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a time to wait")))
        << text;
  }
}

}  // namespace
}  // namespace dv::cli
