#include "client/cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/client/temporary_file.h"

namespace dv::cli {
namespace {

using ::dv::testing::TemporaryFile;
using ::testing::HasSubstr;

TEST(OutputTest, AFileIsNotTouchedBeforeTheFirstByte) {
  const TemporaryFile file("old");
  {
    Output output(file.path());
    output.Write("new");
    EXPECT_EQ(file.Content(), "old");
  }
  EXPECT_EQ(file.Content(), "old");
  Output output(file.path());
  output.Write("new");
  output.Close();
  EXPECT_FALSE(output.failed());
  EXPECT_EQ(file.Content(), "new");
}

TEST(OutputTest, AnEmptyAnswerMakesAnEmptyFile) {
  const TemporaryFile file("old");
  Output output(file.path());
  output.Close();
  EXPECT_EQ(file.Content(), "");
}

TEST(OutputTest, ALargeAnswerIsWrittenOnItsWay) {
  const TemporaryFile file("");
  Output output(file.path());
  output.Write(std::string(1 << 20, 'x'));
  EXPECT_EQ(file.Content().size(), 1 << 20);
}

TEST(OutputTest, TheFirstErrorSticks) {
  Output output("/dev/full");
  output.Write("x");
  output.Flush();
  EXPECT_TRUE(output.failed());
  EXPECT_FALSE(output.reader_gone());
  EXPECT_THAT(output.ErrorMessage(), HasSubstr("cannot write to /dev/full: No space left"));
  Output missing("/no/such/folder/file");
  missing.Close();
  EXPECT_TRUE(missing.failed());
}

TEST(OutputTest, AReaderThatIsGone) {
  signal(SIGPIPE, SIG_IGN);
  int descriptors[2];
  ASSERT_EQ(pipe(descriptors), 0);
  close(descriptors[0]);
  Output output(descriptors[1], "standard output");
  output.Write("x");
  output.Flush();
  EXPECT_TRUE(output.failed());
  EXPECT_TRUE(output.reader_gone());
  close(descriptors[1]);
}

}  // namespace
}  // namespace dv::cli
