#include "tests/testing/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"

namespace dv::testing {
namespace {

constexpr std::chrono::seconds kStartTimeout{30};
constexpr std::chrono::seconds kStopTimeout{20};
constexpr std::chrono::milliseconds kPollInterval{10};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Becomes the server, in the process that was forked for it.
[[noreturn]] void Exec(const std::vector<std::string>& command, const std::string& output) {
  // The server ends with the test, however that ends.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(
    const std::string& binary, const std::vector<std::string>& arguments) {
  std::string folder = (std::filesystem::temp_directory_path() / "dv-server-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make a folder like ", folder));
  }
  std::unique_ptr<ServerProcess> server(new ServerProcess);
  server->folder_ = folder;
  const std::string address_file = folder + "/address";
  std::vector<std::string> command = {binary, "--listen=127.0.0.1:0",
                                      "--address_file=" + address_file};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const pid_t pid = fork();
  if (pid < 0) return absl::UnavailableError("fork failed");
  if (pid == 0) Exec(command, folder + "/output");
  server->pid_ = pid;

  const auto deadline = std::chrono::steady_clock::now() + kStartTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    std::string address = ReadFile(address_file);
    // The line is complete when its end is there.
    if (!address.empty() && address.back() == '\n') {
      server->address_ = address.substr(0, address.find('\n'));
      return server;
    }
    if (!server->Running()) {
      server->pid_ = -1;
      return absl::UnavailableError(
          absl::StrCat(binary, " ended at its start and wrote: ", server->Output()));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return absl::UnavailableError(absl::StrCat(binary, " wrote no address to ", address_file,
                                             " within ", kStartTimeout.count(),
                                             " s, and wrote: ", server->Output()));
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
    const auto deadline = std::chrono::steady_clock::now() + kStopTimeout;
    while (Running()) {
      if (std::chrono::steady_clock::now() > deadline) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool ServerProcess::Running() const { return pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }

std::string ServerProcess::Output() const { return ReadFile(folder_ + "/output"); }

}  // namespace dv::testing
