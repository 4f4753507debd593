#include "client/cli/position_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/client/temporary_file.h"
#include "tests/testing/status_matchers.h"

namespace dv::cli {
namespace {

using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::dv::testing::TemporaryFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(PositionListTest, OfTheCommandLine) {
  absl::StatusOr<PositionList> list = PositionList::Open({3, 1, 2}, "");
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(list->Next(2).value(), ElementsAre(3, 1));
  EXPECT_THAT(list->Next(2).value(), ElementsAre(2));
  EXPECT_THAT(list->Next(2).value(), IsEmpty());
}

TEST(PositionListTest, OfAFile) {
  const TemporaryFile file("  1\n\n2 3\t18446744073709551615\r\n4");
  absl::StatusOr<PositionList> list = PositionList::Open({9}, file.path());
  ASSERT_THAT(list, IsOk());
  EXPECT_THAT(list->Next(3).value(), ElementsAre(9, 1, 2));
  EXPECT_THAT(list->Next(10).value(), ElementsAre(3, ~uint64_t{0}, 4));
  EXPECT_THAT(list->Next(10).value(), IsEmpty());
}

TEST(PositionListTest, AnEmptyFile) {
  const TemporaryFile file(" \n");
  EXPECT_THAT(PositionList::Open({}, file.path())->Next(10).value(), IsEmpty());
}

TEST(PositionListTest, SaysInWhichLineAPositionIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"1\n2\nthree\n", "line 3: \"three\" is not a number"},
      {"1\n-2", "line 2: \"-2\" is negative"},
      {"18446744073709551616", "line 1: \"18446744073709551616\" is too large"},
      {"1,2", "line 1: \"1,2\" is not a number"},
  };
  for (const auto& c : cases) {
    const TemporaryFile file(c.text);
    EXPECT_THAT(PositionList::Open({}, file.path())->Next(10),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)))
        << c.text;
  }
}

TEST(PositionListTest, AWordWithoutEndIsNotReadToItsEnd) {
  const TemporaryFile file(std::string(1 << 20, '1'));
  const auto positions = PositionList::Open({}, file.path())->Next(10);
  EXPECT_THAT(positions, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is too large")));
  EXPECT_LT(positions.status().message().size(), 300);
}

TEST(PositionListTest, AFileThatIsNotThere) {
  EXPECT_THAT(PositionList::Open({}, "/no/such/file"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/no/such/file")));
}

}  // namespace
}  // namespace dv::cli
