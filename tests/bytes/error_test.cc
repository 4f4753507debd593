#include "server/bytes/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/bytes/reason.h"
#include "tests/testing/status_matchers.h"

namespace dv {
namespace {

using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

TEST(ErrorTest, CarriesCodeMessageReasonAndDetails) {
  const absl::Status status =
      Error(absl::StatusCode::kDataLoss, reason::kCookieInvalid, "cookie 0x1 at offset 20",
            {{"offset", uint64_t{20}}, {"found", "0x1"}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("at offset 20")));
  EXPECT_THAT(status, HasReason("COOKIE_INVALID"));
  EXPECT_THAT(DetailsOf(status), ElementsAre(Pair("found", "0x1"), Pair("offset", "20")));
  EXPECT_THAT(status, HasDetail("offset", uint64_t{20}));
}

TEST(ErrorTest, WithoutDetails) {
  const absl::Status status =
      Error(absl::StatusCode::kInvalidArgument, reason::kFieldRequired, "field a is required");
  EXPECT_THAT(status, HasReason(reason::kFieldRequired));
  EXPECT_THAT(DetailsOf(status), IsEmpty());
}

TEST(ErrorTest, LargestNumberAsDetail) {
  const absl::Status status =
      Error(absl::StatusCode::kDataLoss, reason::kTruncated, "x", {{"found", ~uint64_t{0}}});
  EXPECT_THAT(DetailsOf(status), ElementsAre(Pair("found", "18446744073709551615")));
}

TEST(ErrorTest, EmptyDetailIsKept) {
  const absl::Status status =
      Error(absl::StatusCode::kDataLoss, reason::kTruncated, "x", {{"found", ""}});
  EXPECT_THAT(DetailsOf(status), ElementsAre(Pair("found", "")));
}

TEST(ErrorTest, OtherStatusesCarryNothing) {
  EXPECT_EQ(ReasonOf(absl::OkStatus()), "");
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), "");
  EXPECT_THAT(DetailsOf(absl::OkStatus()), IsEmpty());
  EXPECT_THAT(DetailsOf(absl::InternalError("x")), IsEmpty());
}

TEST(ErrorTest, WithCodeKeepsEverythingElse) {
  const absl::Status status = Error(absl::StatusCode::kDataLoss, reason::kTruncated, "the message",
                                    {{"offset", uint64_t{7}}, {"part", "key"}});
  const absl::Status other = WithCode(status, absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(other, StatusIs(absl::StatusCode::kInvalidArgument, "the message"));
  EXPECT_THAT(other, HasReason(reason::kTruncated));
  EXPECT_EQ(DetailsOf(other), DetailsOf(status));
}

TEST(ErrorTest, WithCodeLeavesOkAlone) {
  EXPECT_THAT(WithCode(absl::OkStatus(), absl::StatusCode::kInvalidArgument), IsOk());
  EXPECT_THAT(absl::Status(absl::InternalError("x")), Not(IsOk()));
}

}  // namespace
}  // namespace dv
