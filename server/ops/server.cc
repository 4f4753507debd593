#include "server/ops/server.h"

#include <grpc/compression.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "deletionvector/v1/reason.pb.h"
#include "grpc/health/v1/health.pb.h"

namespace dv::ops {
namespace {

// Largest HTTP/2 frame that the server takes: the largest there is.
constexpr int kMaxFrameBytes = (1 << 24) - 1;

// What the transport reads at a time from the first message on.
constexpr int kReadChunkBytes = 64 << 10;

// A client may ping this often, with calls or without. Some clients ping every 10 s at most, and
// clocks are not exact.
constexpr int kMinPingIntervalMs = 5'000;

// Health checks, and reflection for clients that ask for the contract. Both are global to gRPC.
void InstallPlugins() {
  grpc::EnableDefaultHealthCheckService(true);
  // Does nothing when called again. Called, although the library does so itself, lest a linker drop
  // it.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  // gRPC serves health without the generated code, and reasons travel as text; naming them keeps
  // their descriptions in the program, for reflection.
  grpc::health::v1::HealthCheckRequest::descriptor();
  deletionvector::v1::Reason_descriptor();
}

void AddArguments(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  // Answers have limits of their own.
  builder.SetMaxSendMessageSize(-1);
  // gRPC inflates a message before it looks at its size, so a small request could cost gigabytes.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  // Else a second server on the same port would start, and share its calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  // Clients that keep idle connections alive are welcome.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMs);
}

int WorkerThreads(const ServerOptions& options) {
  if (options.worker_threads > 0) return options.worker_threads;
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  for (const Address& address : options.listen) {
    const absl::Status status = CheckFree(address);
    if (!status.ok()) return status;
  }
  std::unique_ptr<Server> server(new Server(options, WorkerThreads(options)));
  const absl::Status status = server->Listen(options);
  if (!status.ok()) return status;
  return server;
}

Server::Server(const ServerOptions& options, int worker_threads)
    : pool_(worker_threads), service_(options.limits, pool_) {}

Server::~Server() { Stop(absl::ZeroDuration()); }

absl::Status Server::Listen(const ServerOptions& options) {
  InstallPlugins();
  grpc::ServerBuilder builder;
  AddArguments(options, builder);
  builder.RegisterService(&service_);
  // gRPC goes through the addresses in order and stops at the first that fails, with port 0.
  constexpr int kNotTried = -1;
  std::vector<int> ports(options.listen.size(), kNotTried);
  for (size_t i = 0; i < options.listen.size(); ++i) {
    builder.AddListeningPort(options.listen[i].ToString(), grpc::InsecureServerCredentials(),
                             &ports[i]);
  }
  // Nobody connects to a socket before it has the permissions that it is to have.
  const mode_t old_mask = umask(0177);
  server_ = builder.BuildAndStart();
  umask(old_mask);
  if (server_ == nullptr) {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i] > 0) continue;
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", options.listen[i].ToString(),
                       "; the log says why. Choose another address with --listen"));
    }
    return absl::UnavailableError("gRPC cannot start; the log says why");
  }
  addresses_ = options.listen;
  for (size_t i = 0; i < addresses_.size(); ++i) {
    if (!addresses_[i].is_unix()) {
      addresses_[i].port = static_cast<uint16_t>(ports[i]);
    } else if (chmod(addresses_[i].path.c_str(), options.socket_mode) != 0) {
      return absl::UnavailableError(absl::StrCat("cannot set the permissions of ",
                                                 addresses_[i].path, ": ", std::strerror(errno)));
    }
  }
  server_->GetHealthCheckService()->SetServingStatus(kServiceName, true);
  return absl::OkStatus();
}

void Server::Stop(absl::Duration grace) {
  if (stopped_) return;
  stopped_ = true;
  if (server_ == nullptr) return;
  // Says NOT_SERVING, now and for ever.
  server_->GetHealthCheckService()->Shutdown();
  service_.Drain();
  server_->Shutdown(absl::ToChronoTime(absl::Now() + grace));
}

absl::Status WriteAddressFile(const std::string& path, const std::vector<Address>& addresses) {
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  {
    std::ofstream file(temporary, std::ios::trunc);
    for (const Address& address : addresses) file << address.ToString() << '\n';
    file.flush();
    if (!file) {
      return absl::UnavailableError(
          absl::StrCat("cannot write ", temporary, ": ", std::strerror(errno)));
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    return absl::UnavailableError(absl::StrCat("cannot write ", path, ": ", std::strerror(error)));
  }
  return absl::OkStatus();
}

}  // namespace dv::ops
