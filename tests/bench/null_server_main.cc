// dv-bench-null-server: a gRPC server that does nothing, as fast as gRPC lets it: the ceiling that
// dv-server is measured against.
//
// It takes the calls of the service as raw bytes, as dv-server does, never looks at a message, and
// answers with messages that were made when it started. The client says how long they are to be,
// after it has asked dv-server. Allocator and transport are set as in dv-server.

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <malloc.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"

ABSL_FLAG(std::string, listen, "127.0.0.1:0", "Addresses to serve, with commas between");
ABSL_FLAG(std::string, address_file, "", "File to write the addresses to, one a line");
ABSL_FLAG(uint64_t, describe_reply, 0, "Bytes of the answer to Describe");
ABSL_FLAG(uint64_t, scan_opened, 0, "Bytes of the answer to the first message of a Scan");
ABSL_FLAG(std::vector<std::string>, scan_replies, {},
          "Bytes of each answer to every further message of a Scan");
ABSL_FLAG(std::vector<std::string>, read_replies, {},
          "Messages of ReadPositions, as bytes x count, such as 262183x305,17x1");

namespace dv::bench {
namespace {

using deletionvector::v1::DeletionVectorService;
using grpc::ByteBuffer;

// As in dv-server.
constexpr int kMaxMessageBytes = 64 << 20;
constexpr int kMaxFrameBytes = (1 << 24) - 1;
constexpr int kReadChunkBytes = 64 << 10;
constexpr int kTrimThreshold = 256 << 20;
constexpr int kMmapThreshold = 32 << 20;

// The messages that the server sends.
struct Replies {
  ByteBuffer describe;
  ByteBuffer scan_opened;
  std::vector<ByteBuffer> scan;
  std::vector<ByteBuffer> read;
};

ByteBuffer Message(uint64_t bytes) {
  const grpc::Slice slice(std::string(bytes, '\0'));
  return ByteBuffer(&slice, 1);
}

class ReadCall final : public grpc::ServerWriteReactor<ByteBuffer> {
 public:
  explicit ReadCall(const std::vector<ByteBuffer>& replies) : replies_(replies) { Next(); }

  void OnWriteDone(bool ok) override {
    if (ok) {
      Next();
    } else {
      Finish(grpc::Status::CANCELLED);
    }
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (next_ == replies_.size()) {
      Finish(grpc::Status::OK);
    } else {
      StartWrite(&replies_[next_++]);
    }
  }

  const std::vector<ByteBuffer>& replies_;
  size_t next_ = 0;
};

// Reads the next message while it answers the one before.
class ScanCall final : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  explicit ScanCall(const Replies& replies) : replies_(replies) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ok) {
        ++unanswered_;
      } else {
        reading_ = false;
      }
    }
    if (ok) StartRead(&request_);
    Next(false);
  }

  void OnWriteDone(bool) override { Next(true); }
  void OnDone() override { delete this; }

 private:
  // Starts the next write, or ends the call.
  void Next(bool written) {
    const ByteBuffer* reply = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (written) writing_ = false;
      if (writing_ || finished_) return;
      if (unanswered_ == 0) {
        finished_ = !reading_;
        if (!finished_) return;
      } else {
        writing_ = true;
        if (!opened_) {
          opened_ = true;
          --unanswered_;
          reply = &replies_.scan_opened;
        } else {
          reply = &replies_.scan[next_++];
          if (next_ == replies_.scan.size()) {
            next_ = 0;
            --unanswered_;
          }
        }
      }
    }
    if (reply != nullptr) {
      StartWrite(reply);
    } else {
      Finish(grpc::Status::OK);
    }
  }

  const Replies& replies_;
  ByteBuffer request_;
  std::mutex mutex_;
  // Messages that have not been answered in full.
  uint64_t unanswered_ = 0;
  // Index of the next reply to the message at hand.
  size_t next_ = 0;
  bool opened_ = false;
  bool reading_ = true;
  bool writing_ = false;
  bool finished_ = false;
};

using RawService = DeletionVectorService::WithRawCallbackMethod_Describe<
    DeletionVectorService::WithRawCallbackMethod_ReadPositions<
        DeletionVectorService::WithRawCallbackMethod_Scan<DeletionVectorService::Service>>>;

class NullService final : public RawService {
 public:
  explicit NullService(const Replies& replies) : replies_(replies) {}

  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context, const ByteBuffer*,
                                     ByteBuffer* response) override {
    *response = replies_.describe;
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerWriteReactor<ByteBuffer>* ReadPositions(grpc::CallbackServerContext*,
                                                      const ByteBuffer*) override {
    return new ReadCall(replies_.read);
  }
  grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* Scan(grpc::CallbackServerContext*) override {
    return new ScanCall(replies_);
  }

 private:
  const Replies& replies_;
};

bool MakeReplies(Replies& replies) {
  replies.describe = Message(absl::GetFlag(FLAGS_describe_reply));
  replies.scan_opened = Message(absl::GetFlag(FLAGS_scan_opened));
  for (const std::string& text : absl::GetFlag(FLAGS_scan_replies)) {
    uint64_t bytes = 0;
    if (!absl::SimpleAtoi(text, &bytes)) return false;
    replies.scan.push_back(Message(bytes));
  }
  for (const std::string& text : absl::GetFlag(FLAGS_read_replies)) {
    const std::vector<std::string> parts = absl::StrSplit(text, 'x');
    uint64_t bytes = 0;
    uint64_t count = 0;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &bytes) ||
        !absl::SimpleAtoi(parts[1], &count)) {
      return false;
    }
    // The same memory each time.
    replies.read.insert(replies.read.end(), count, Message(bytes));
  }
  return !replies.scan.empty();
}

int Main() {
  Replies replies;
  if (!MakeReplies(replies)) {
    std::fprintf(stderr, "dv-bench-null-server: wrong or missing sizes of replies; see --help\n");
    return 1;
  }
  NullService service(replies);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrameBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  builder.RegisterService(&service);
  const std::vector<std::string> addresses = absl::StrSplit(absl::GetFlag(FLAGS_listen), ',');
  std::vector<int> ports(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    builder.AddListeningPort(addresses[i], grpc::InsecureServerCredentials(), &ports[i]);
  }
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "dv-bench-null-server: cannot listen\n");
    return 1;
  }
  const std::string path = absl::GetFlag(FLAGS_address_file);
  {
    std::ofstream file(path + ".tmp");
    for (size_t i = 0; i < addresses.size(); ++i) {
      const std::string& address = addresses[i];
      const bool any_port = address.size() > 2 && address.substr(address.size() - 2) == ":0";
      file << (any_port ? address.substr(0, address.size() - 1) + std::to_string(ports[i])
                        : address)
           << '\n';
    }
  }
  if (!path.empty() && std::rename((path + ".tmp").c_str(), path.c_str()) != 0) {
    std::fprintf(stderr, "dv-bench-null-server: cannot write %s\n", path.c_str());
    return 1;
  }
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace dv::bench

int main(int argc, char** argv) {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, dv::bench::kTrimThreshold);
  mallopt(M_MMAP_THRESHOLD, dv::bench::kMmapThreshold);
#endif
  absl::SetProgramUsageMessage("answers the calls of the service without looking at them");
  absl::ParseCommandLine(argc, argv);
  return dv::bench::Main();
}
