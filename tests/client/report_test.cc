#include "client/cli/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "server/bytes/error.h"

namespace dv::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Options SomeOptions() {
  Options options;
  options.server = "127.0.0.1:1";
  options.timeout = absl::Seconds(5);
  return options;
}

TEST(ReportTest, AServerThatCannotBeReachedIsNamed) {
  const std::string text = CallErrorText(SomeOptions(), absl::UnavailableError("refused"));
  EXPECT_THAT(text, HasSubstr("UNAVAILABLE"));
  EXPECT_THAT(text, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(text, HasSubstr("is dv-server running there?"));
}

TEST(ReportTest, AServerThatSaysWhyItIsUnavailableWasReached) {
  const std::string text =
      CallErrorText(SomeOptions(), Error(absl::StatusCode::kUnavailable, "SHUTTING_DOWN", "bye"));
  EXPECT_EQ(text, "UNAVAILABLE (SHUTTING_DOWN): bye");
}

TEST(ReportTest, ATimeThatWasTooShortIsNamed) {
  EXPECT_THAT(CallErrorText(SomeOptions(), absl::DeadlineExceededError("late")),
              HasSubstr("after 5s; --timeout"));
}

TEST(ReportTest, ALineAnError) {
  std::ostringstream stream;
  Reporter reporter(stream);
  reporter.Local("a\nb");
  reporter.Source("f.bin", Error(absl::StatusCode::kDataLoss, "TRUNCATED", "short"));
  EXPECT_EQ(stream.str(), "dv: a\\x0ab\ndv: f.bin: DATA_LOSS (TRUNCATED): short\n");
}

}  // namespace
}  // namespace dv::cli
