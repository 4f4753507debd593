// The program from outside: what it says and how it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/testing/server_process.h"
#include "tests/testing/status_matchers.h"

namespace dv::ops {
namespace {

using ::testing::HasSubstr;

// How the program ended and what it wrote, output and errors apart.
struct Ended {
  int status = -1;
  std::string text;
};

Ended RunServer(const std::string& arguments) {
  Ended ended;
  const std::string command = std::string(DV_SERVER_BINARY) + " " + arguments;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ended;
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof(buffer), pipe))
    ended.text.append(buffer, size);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

TEST(CommandLine, Help) {
  const Ended help = RunServer("--help 2>&1");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.text, HasSubstr("usage: dv-server"));
  for (const char* flag :
       {"--listen=127.0.0.1:50051", "--address_file", "--socket_mode",
        "--max_message_bytes=67108864", "--max_message_fields", "--max_vector_bytes",
        "--max_open_vectors", "--max_open_bytes", "--max_pending_queries", "--max_pending_bytes",
        "--max_concurrent_streams", "--worker_threads", "--log_level=info",
        "--shutdown_grace=10s"}) {
    EXPECT_THAT(help.text, HasSubstr(flag));
  }
  size_t column = 0;
  for (const char c : help.text) {
    column = c == '\n' ? 0 : column + 1;
    ASSERT_LE(column, 100u) << help.text;
  }
  EXPECT_THAT(RunServer("--version").text, HasSubstr("dv-server "));
}

TEST(CommandLine, WrongUsageIsToldOnStandardError) {
  struct Case {
    std::string arguments;
    std::string said;
  };
  for (const Case& c : {
           Case{"--no_such_flag", "no_such_flag"},
           Case{"argument", "argument"},
           Case{"--listen=nowhere", "--listen"},
           Case{"--listen=", "--listen"},
           Case{"--listen=unix:/", "unix:/"},
           Case{"--max_message_bytes=0", "--max_message_bytes"},
           Case{"--max_message_bytes=4294967296", "--max_message_bytes"},
           Case{"--max_message_bytes=many", "max_message_bytes"},
           Case{"--max_open_bytes=-1", "max_open_bytes"},
           Case{"--max_open_vectors=0", "--max_open_vectors"},
           Case{"--max_concurrent_streams=0", "--max_concurrent_streams"},
           Case{"--worker_threads=-1", "--worker_threads"},
           Case{"--shutdown_grace=-1s", "--shutdown_grace"},
           Case{"--socket_mode=8", "--socket_mode"},
           Case{"--socket_mode=1777", "--socket_mode"},
           Case{"--log_level=loud", "loud"},
           Case{"--listen=127.0.0.1:0 --address_file=/no/such/folder/file", "/no/such/folder"},
       }) {
    const Ended ended = RunServer(c.arguments + " 2>&1 >/dev/null");
    EXPECT_EQ(ended.status, 1) << c.arguments;
    EXPECT_THAT(ended.text, HasSubstr(c.said)) << c.arguments;
  }
}

TEST(CommandLine, StopsOnSignals) {
  for (const int signal : {SIGTERM, SIGINT}) {
    auto server = dv::testing::ServerProcess::Start(DV_SERVER_BINARY);
    ASSERT_THAT(server, dv::testing::IsOk());
    EXPECT_THAT((*server)->Output(), HasSubstr("serves " + (*server)->address()));
    ASSERT_EQ(kill((*server)->pid(), signal), 0);
    for (int i = 0; i < 500 && (*server)->Running(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_FALSE((*server)->Running());
    EXPECT_THAT((*server)->Output(), HasSubstr("stopped"));
  }
}

}  // namespace
}  // namespace dv::ops
