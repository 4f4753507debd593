#include "server/ops/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace dv::ops {
namespace {

constexpr char kForms[] = "expected host:port, [ip]:port or unix:/path";

// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status Invalid(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("address \"", text, "\": ", why, "; ", kForms));
}

absl::Status CheckUnixFree(const Address& address) {
  const std::string& path = address.path;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address.ToString(), ": the path has ", path.size(),
                     " bytes, and a Unix socket takes at most ", sizeof(name.sun_path) - 1));
  }
  std::memcpy(name.sun_path, path.data(), path.size());

  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(errno)));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address.ToString(),
                     ": the path exists and is not a socket; remove it or choose another path "
                     "with --listen"));
  }
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot probe ", address.ToString(), ": ", std::strerror(errno)));
  }
  // Nobody listens on a stale socket. A backlog that is full is a sign of life.
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 &&
      errno == ECONNREFUSED) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      absl::StrCat("cannot listen on ", address.ToString(),
                   ": address already in use; stop the server that listens there or choose "
                   "another path with --listen"));
}

// Binds to one resolved address, and lets go again. Returns 0 or what errno says.
int TryBind(const addrinfo& info) {
  const Descriptor probe(socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe.get() < 0) return errno;
  const int on = 1;
  // Connections of a server before, waiting for their end, do not matter; a listener does.
  setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind(probe.get(), info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
}

absl::Status CheckTcpFree(const Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int result =
      getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (result != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", gai_strerror(result)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, &freeaddrinfo);
  int last_error = 0;
  bool any = false;
  for (const addrinfo* info = list.get(); info != nullptr; info = info->ai_next) {
    const int error = TryBind(*info);
    if (error == EADDRINUSE) {
      return absl::AlreadyExistsError(
          absl::StrCat("cannot listen on ", address.ToString(),
                       ": address already in use; stop the server that listens there or choose "
                       "another port with --listen"));
    }
    if (error == 0) any = true;
    if (error != 0) last_error = error;
  }
  // A name may have addresses of a kind that this machine lacks, such as IPv6.
  if (any) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(last_error)));
}

}  // namespace

std::string Address::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", path);
  if (host.find(':') != std::string::npos) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<Address> ParseAddress(absl::string_view text) {
  Address address;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "unix:")) {
    if (rest.empty()) return Invalid(text, "the path is missing");
    if (rest.find('\0') != absl::string_view::npos) return Invalid(text, "a zero byte in the path");
    address.path = std::string(rest);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return Invalid(text, "the port is missing");
  absl::string_view host = text.substr(0, colon);
  const absl::string_view port = text.substr(colon + 1);
  if (absl::ConsumePrefix(&host, "[")) {
    if (!absl::ConsumeSuffix(&host, "]")) return Invalid(text, "a bracket is not closed");
  } else if (host.find(':') != absl::string_view::npos) {
    return Invalid(text, "an IPv6 address needs brackets");
  }
  if (host.empty()) return Invalid(text, "the host is missing");
  uint32_t number = 0;
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(port, &number) || number > 65535) {
    return Invalid(text, "the port is not a number from 0 to 65535");
  }
  address.host = std::string(host);
  address.port = static_cast<uint16_t>(number);
  return address;
}

absl::StatusOr<std::vector<Address>> ParseAddressList(absl::string_view text) {
  std::vector<Address> addresses;
  std::set<std::string> seen;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    absl::StatusOr<Address> address = ParseAddress(part);
    if (!address.ok()) return address.status();
    const bool chosen_by_system = !address->is_unix() && address->port == 0;
    if (!seen.insert(address->ToString()).second && !chosen_by_system) {
      return absl::InvalidArgumentError(absl::StrCat("address \"", part, "\" is listed twice"));
    }
    addresses.push_back(*std::move(address));
  }
  return addresses;
}

absl::Status CheckFree(const Address& address) {
  return address.is_unix() ? CheckUnixFree(address) : CheckTcpFree(address);
}

}  // namespace dv::ops
