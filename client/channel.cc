#include "client/channel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/support/channel_arguments.h"

namespace dv::client {
namespace {

// Schemes that gRPC resolves by itself.
constexpr std::array<absl::string_view, 6> kSchemes = {
    "dns:", "unix:", "unix-abstract:", "ipv4:", "ipv6:", "xds:"};

bool HasScheme(absl::string_view target) {
  return std::any_of(kSchemes.begin(), kSchemes.end(), [target](absl::string_view scheme) {
    return absl::StartsWith(target, scheme);
  });
}

absl::Status InvalidTarget(absl::string_view target, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", target, "\" is not an address: ", what,
                   "; expected host:port, such as 127.0.0.1:50051, or unix:/path/of/socket"));
}

// Returns the part of `target` that names the host, without brackets and port.
absl::string_view HostOf(absl::string_view target) {
  if (absl::ConsumePrefix(&target, "[")) return target.substr(0, target.find(']'));
  return target.substr(0, target.rfind(':'));
}

// Returns a duration in milliseconds as gRPC takes it.
int Milliseconds(absl::Duration duration) {
  return static_cast<int>(
      std::clamp<int64_t>(absl::ToInt64Milliseconds(duration), 0, std::numeric_limits<int>::max()));
}

}  // namespace

absl::Status CheckTarget(absl::string_view target) {
  if (target.empty()) return InvalidTarget(target, "it is empty");
  if (HasScheme(target)) {
    if (target.back() == ':') return InvalidTarget(target, "nothing follows the scheme");
    return absl::OkStatus();
  }
  if (absl::StrContains(target, "/")) return InvalidTarget(target, "gRPC has no such scheme");
  const size_t colon = target.rfind(':');
  if (colon == absl::string_view::npos || absl::EndsWith(target, "]")) {
    return InvalidTarget(target, "it has no port");
  }
  const absl::string_view host = target.substr(0, colon);
  if (host.empty()) return InvalidTarget(target, "it has no host");
  if (absl::StrContains(host, ":") && !(host.front() == '[' && host.back() == ']')) {
    return InvalidTarget(target, "an IPv6 address stands in brackets, as in [::1]:50051");
  }
  uint32_t port = 0;
  if (!absl::SimpleAtoi(target.substr(colon + 1), &port) || port == 0 || port > 65535) {
    return InvalidTarget(target, "its port is not a number from 1 to 65535");
  }
  return absl::OkStatus();
}

bool IsLocalTarget(absl::string_view target) {
  if (absl::StartsWith(target, "unix:") || absl::StartsWith(target, "unix-abstract:")) return true;
  for (const absl::string_view scheme : {"dns:", "ipv4:", "ipv6:"}) {
    if (absl::ConsumePrefix(&target, scheme)) break;
  }
  // `dns://authority/host:port`
  if (absl::ConsumePrefix(&target, "//")) {
    const size_t slash = target.find('/');
    if (slash == absl::string_view::npos) return false;
    target.remove_prefix(slash + 1);
  }
  const absl::string_view host = HostOf(target);
  if (absl::EqualsIgnoreCase(host, "localhost") || host == "::1") return true;
  // 127.0.0.0/8: numbers and dots only, so that a name such as 127.example.org is not taken for
  // one.
  return absl::StartsWith(host, "127.") &&
         host.find_first_not_of("0123456789.") == absl::string_view::npos;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const std::string& target,
                                                           const ChannelOptions& options) {
  const absl::Status checked = CheckTarget(target);
  if (!checked.ok()) return checked;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.max_receive_bytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_time));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.keepalive_timeout));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  if (IsLocalTarget(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      target, options.credentials ? options.credentials : grpc::InsecureChannelCredentials(),
      arguments);
}

}  // namespace dv::client
