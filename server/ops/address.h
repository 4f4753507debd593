// File: address.h
//
// The addresses that the server listens on: parsed, and looked at before gRPC takes them, which
// would silently share a port or take over a socket that is in use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dv::ops {

// Address
//
// A TCP address or the path of a Unix socket.
struct Address {
  // Host and port of TCP: a name, or an IP address without brackets. Port 0: the system chooses.
  std::string host;
  uint16_t port = 0;
  // Path of a Unix socket; empty: TCP.
  std::string path;

  bool is_unix() const { return !path.empty(); }
  // As gRPC takes it, and as it is shown: "127.0.0.1:50051", "[::1]:50051" or "unix:/run/dv.sock".
  std::string ToString() const;
};

// Parses one address: "host:port", "[ip]:port" or "unix:/path". INVALID_ARGUMENT says what is wrong
// with it.
absl::StatusOr<Address> ParseAddress(absl::string_view text);

// Parses a list of addresses with commas between. At least one, and none twice.
absl::StatusOr<std::vector<Address>> ParseAddressList(absl::string_view text);

// CheckFree()
//
// Says whether the server may listen on `address`, by binding to it for a moment, or by connecting
// to the socket. A stale Unix socket, which nobody listens on, is fine. Nothing is deleted. Errors
// say what to do:
//
//   ALREADY_EXISTS       something listens there.
//   FAILED_PRECONDITION  the path is there and is not a socket, is too long, or may not be used.
//   INVALID_ARGUMENT     the host is not known or not of this machine.
absl::Status CheckFree(const Address& address);

}  // namespace dv::ops
