#include "server/ops/address.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/status_matchers.h"

namespace dv::ops {
namespace {

using dv::testing::HasCode;
using dv::testing::IsOk;
using dv::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ParseAddress, TakesTheThreeForms) {
  for (const std::string text : {"127.0.0.1:0", "localhost:65535", "[::1]:50051", "[::]:1",
                                 "unix:/run/dv.sock", "unix:relative.sock"}) {
    const absl::StatusOr<Address> address = ParseAddress(text);
    ASSERT_THAT(address, IsOk());
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseAddress("[::1]:7")->host, "::1");
  EXPECT_EQ(ParseAddress("a:7")->port, 7);
  EXPECT_EQ(ParseAddress("unix:/a")->path, "/a");
}

TEST(ParseAddress, SaysWhatIsWrong) {
  for (const std::string text :
       {"", "localhost", "localhost:", ":5", "localhost:65536", "localhost:-1", "localhost:+1",
        "localhost: 1", "localhost:1x", "localhost:000001", "::1:5", "[::1:5", "[::1]", "unix:"}) {
    EXPECT_THAT(ParseAddress(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)))
        << text;
  }
}

TEST(ParseAddressList, TakesSeveral) {
  const absl::StatusOr<std::vector<Address>> list =
      ParseAddressList("127.0.0.1:0,127.0.0.1:0,unix:/a,[::1]:5");
  ASSERT_THAT(list, IsOk());
  EXPECT_EQ(list->size(), 4u);
  EXPECT_THAT(ParseAddressList(""), HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseAddressList("127.0.0.1:5,"), HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ParseAddressList("unix:/a,unix:/a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
}

class CheckFreeTest : public ::testing::Test {
 protected:
  CheckFreeTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dv-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CheckFreeTest() override {
    if (fd_ >= 0) close(fd_);
    std::filesystem::remove_all(folder_);
  }

  // Binds to a Unix socket, and listens if `alive`.
  Address UnixSocket(bool alive) {
    Address address;
    address.path = folder_ + "/socket";
    fd_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, address.path.c_str());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_TRUE(!alive || listen(fd_, 1) == 0);
    return address;
  }

  std::string folder_;
  int fd_ = -1;
};

TEST_F(CheckFreeTest, TcpPortsInUse) {
  fd_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(listen(fd_, 1), 0);
  socklen_t size = sizeof(name);
  getsockname(fd_, reinterpret_cast<sockaddr*>(&name), &size);
  Address address;
  address.host = "127.0.0.1";
  address.port = ntohs(name.sin_port);
  EXPECT_THAT(CheckFree(address),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("address already in use")));
  // A name that has this address among others.
  address.host = "localhost";
  EXPECT_THAT(CheckFree(address), HasCode(absl::StatusCode::kAlreadyExists));
  close(fd_);
  fd_ = -1;
  EXPECT_THAT(CheckFree(address), IsOk());
  address.port = 0;
  EXPECT_THAT(CheckFree(address), IsOk());
}

TEST_F(CheckFreeTest, HostsOfOthers) {
  Address address;
  address.host = "192.0.2.1";
  EXPECT_THAT(CheckFree(address),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("192.0.2.1")));
}

TEST_F(CheckFreeTest, LiveSocketsAreInUse) {
  const Address address = UnixSocket(/*alive=*/true);
  EXPECT_THAT(CheckFree(address), HasCode(absl::StatusCode::kAlreadyExists));
  EXPECT_TRUE(std::filesystem::exists(address.path));
}

TEST_F(CheckFreeTest, StaleSocketsAreFree) {
  const Address address = UnixSocket(/*alive=*/false);
  EXPECT_THAT(CheckFree(address), IsOk());
}

TEST_F(CheckFreeTest, OtherFilesAreLeftAlone) {
  Address address;
  address.path = folder_ + "/file";
  EXPECT_THAT(CheckFree(address), IsOk()) << "nothing there";
  std::ofstream(address.path) << "content";
  EXPECT_THAT(CheckFree(address),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not a socket")));
  EXPECT_EQ(std::filesystem::file_size(address.path), 7u);
  address.path = folder_;
  EXPECT_THAT(CheckFree(address), HasCode(absl::StatusCode::kFailedPrecondition));
  // A link is not what it points to.
  address.path = folder_ + "/link";
  std::filesystem::create_symlink(folder_ + "/nowhere", address.path);
  EXPECT_THAT(CheckFree(address), HasCode(absl::StatusCode::kFailedPrecondition));
}

TEST_F(CheckFreeTest, LongPaths) {
  Address address;
  address.path = "/" + std::string(107, 'x');
  EXPECT_THAT(CheckFree(address),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("108 bytes")));
}

}  // namespace
}  // namespace dv::ops
