#include "client/cli/input.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tests/client/temporary_file.h"
#include "tests/testing/status_matchers.h"

namespace dv::cli {
namespace {

using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::dv::testing::TemporaryFile;
using ::testing::HasSubstr;

constexpr absl::StatusCode kFailed = absl::StatusCode::kFailedPrecondition;

TEST(InputTest, AWholeFile) {
  const TemporaryFile file("0123456789");
  absl::StatusOr<Input> input = Input::Open(file.path());
  ASSERT_THAT(input, IsOk());
  EXPECT_EQ(input->size(), 10);
  EXPECT_EQ(input->ReadAll().value(), "0123456789");
}

TEST(InputTest, ARange) {
  const TemporaryFile file("0123456789");
  EXPECT_EQ(Input::Open(file.path(), 3)->ReadAll().value(), "3456789");
  EXPECT_EQ(Input::Open(file.path(), 3, 4)->ReadAll().value(), "3456");
  EXPECT_EQ(Input::Open(file.path(), std::nullopt, 4)->ReadAll().value(), "0123");
  EXPECT_EQ(Input::Open(file.path(), 10)->ReadAll().value(), "");
  EXPECT_EQ(Input::Open(file.path(), 10, 0)->ReadAll().value(), "");
}

TEST(InputTest, PieceByPiece) {
  const TemporaryFile file("0123456789");
  absl::StatusOr<Input> input = Input::Open(file.path(), 1, 8);
  ASSERT_THAT(input, IsOk());
  EXPECT_EQ(input->Read(3).value(), "123");
  EXPECT_EQ(input->Read(3).value(), "456");
  EXPECT_EQ(input->Read(3).value(), "78");
  EXPECT_EQ(input->Read(3).value(), "");
}

TEST(InputTest, ARangePastTheEnd) {
  const TemporaryFile file("0123456789");
  EXPECT_THAT(Input::Open(file.path(), 11), StatusIs(kFailed, HasSubstr("--offset 11 goes past")));
  EXPECT_THAT(Input::Open(file.path(), 3, 8),
              StatusIs(kFailed, HasSubstr("--offset 3 with --length 8 goes past the end: it has "
                                          "10 bytes")));
  EXPECT_THAT(Input::Open(file.path(), 1, ~uint64_t{0}), StatusIs(kFailed, HasSubstr("10 bytes")));
  EXPECT_THAT(Input::Open(file.path(), ~uint64_t{0}, 1), StatusIs(kFailed, HasSubstr("10 bytes")));
}

TEST(InputTest, WhatCannotBeRead) {
  EXPECT_THAT(Input::Open("/no/such/file"),
              StatusIs(kFailed, HasSubstr("/no/such/file: No such file or directory")));
  EXPECT_THAT(Input::Open("/"), StatusIs(kFailed, HasSubstr("directory")));
}

TEST(InputTest, AFileThatBecomesShorter) {
  const TemporaryFile file("0123456789");
  absl::StatusOr<Input> input = Input::Open(file.path());
  ASSERT_THAT(input, IsOk());
  ASSERT_EQ(truncate(file.path().c_str(), 4), 0);
  EXPECT_THAT(input->ReadAll(), StatusIs(kFailed, HasSubstr("shorter")));
}

// Opens a pipe that somebody writes `text` to.
class PipeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(unlink(file_.path().c_str()), 0);
    ASSERT_EQ(mkfifo(file_.path().c_str(), 0600), 0);
  }
  absl::StatusOr<Input> Open(const std::string& text, std::optional<uint64_t> offset = {},
                             std::optional<uint64_t> length = {}) {
    std::thread writer([this, &text] {
      const int descriptor = open(file_.path().c_str(), O_WRONLY);
      EXPECT_EQ(write(descriptor, text.data(), text.size()), text.size());
      close(descriptor);
    });
    absl::StatusOr<Input> input = Input::Open(file_.path(), offset, length);
    writer.join();
    return input;
  }

  TemporaryFile file_{""};
};

TEST_F(PipeTest, IsReadToItsEnd) {
  EXPECT_EQ(Open("0123456789")->ReadAll().value(), "0123456789");
  EXPECT_EQ(Open("0123456789", 2, 5)->ReadAll().value(), "23456");
  EXPECT_EQ(Open("0123456789", 2)->Read(3).value(), "234");
  EXPECT_THAT(Open("0123456789", 2, 9), StatusIs(kFailed, HasSubstr("10 bytes")));
  EXPECT_EQ(Open("")->ReadAll().value(), "");
}

}  // namespace
}  // namespace dv::cli
