#include "client/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace dv::client {
namespace {

using ::dv::testing::HasCode;
using ::dv::testing::IsOk;

TEST(CheckTargetTest, TakesWhatGrpcResolves) {
  for (const char* target :
       {"127.0.0.1:50051", "localhost:1", "dv.example:65535", "[::1]:50051", "unix:/run/dv.sock",
        "unix:///run/dv.sock", "unix-abstract:dv", "dns:///dv.example:50051", "ipv4:10.0.0.1:1"}) {
    EXPECT_THAT(CheckTarget(target), IsOk()) << target;
  }
}

TEST(CheckTargetTest, RefusesTheRest) {
  for (const char* target :
       {"", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:http", ":50051",
        "::1", "::1:50051", "[::1]", "unix:", "http://localhost:50051", "localhost:50051/path"}) {
    EXPECT_THAT(CheckTarget(target), HasCode(absl::StatusCode::kInvalidArgument)) << target;
    EXPECT_THAT(OpenChannel(target), HasCode(absl::StatusCode::kInvalidArgument)) << target;
  }
}

TEST(IsLocalTargetTest, LoopbackAndUnixSockets) {
  for (const char* target :
       {"127.0.0.1:50051", "127.1.2.3:1", "localhost:1", "LOCALHOST:1", "[::1]:50051",
        "unix:/run/dv.sock", "unix-abstract:dv", "dns:///localhost:1", "dns:localhost:1",
        "ipv4:127.0.0.1:1", "ipv6:[::1]:1", "dns://8.8.8.8/localhost:1"}) {
    EXPECT_TRUE(IsLocalTarget(target)) << target;
  }
  for (const char* target :
       {"dv.example:1", "10.0.0.1:1", "127.example.org:1", "localhost.example:1",
        "dns:///dv.example:1", "[2001:db8::1]:1", "ipv4:10.0.0.1:1"}) {
    EXPECT_FALSE(IsLocalTarget(target)) << target;
  }
}

}  // namespace
}  // namespace dv::client
