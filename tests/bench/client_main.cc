// dv-bench-client: measures dv-server beside dv-bench-null-server, over the same transport, with
// the same requests, by turns. end_to_end.sh starts the servers and makes the table.

#include <grpcpp/create_channel.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "tests/bench/load.h"
#include "tests/bench/payloads.h"

ABSL_FLAG(bool, probe, false,
          "Only check the answers of --ours and print the flags of a dv-bench-null-server whose "
          "answers have the same sizes");
ABSL_FLAG(std::string, transport, "", "Name of the transport, for the output");
ABSL_FLAG(std::string, ours, "", "Address of dv-server");
ABSL_FLAG(int, ours_pid, 0, "Its process");
ABSL_FLAG(std::string, null, "", "Address of dv-bench-null-server");
ABSL_FLAG(int, null_pid, 0, "Its process");
ABSL_FLAG(int, pairs, 5, "Times that each of the two is measured, by turns");
ABSL_FLAG(double, seconds, 2, "Of one measurement");
ABSL_FLAG(double, warmup, 0.3, "Seconds before it");
ABSL_FLAG(std::vector<std::string>, cases, {}, "Only these");

namespace dv::bench {
namespace {

namespace pb = ::deletionvector::v1;

using grpc::ByteBuffer;

constexpr int kTrimThreshold = 256 << 20;
constexpr int kMmapThreshold = 32 << 20;
constexpr int kDescribeInFlight = 4;
constexpr int kScanStreams = 8;
constexpr uint64_t kVectorId = 1;
// What ReadPositions is asked for.
constexpr uint64_t kReadCount = 10'000'000;
// Rows of a query of a Scan, in the middle of its vector, and how many of them are deleted: the
// even ones.
constexpr uint64_t kQueryStart = 30'000;
constexpr uint64_t kQueryRows = 4'096;

// The requests of all cases, encoded.
struct Requests {
  ByteBuffer describe;
  ByteBuffer scan_open;
  ByteBuffer scan_query;
  ByteBuffer read;
};

template <typename Message>
ByteBuffer Encode(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return ByteBuffer(&slice, 1);
}

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "dv-bench-client: %s\n", why.c_str());
  std::exit(1);
}

void SetIceberg(const std::string& payload, pb::DeletionVector* vector) {
  vector->set_inline_(IcebergFrame(MakePayload(payload).bytes));
  vector->set_format(pb::FORMAT_ICEBERG);
}

pb::DescribeRequest DescribeRequest() {
  pb::DescribeRequest request;
  SetIceberg("large_dense", request.mutable_vector());
  return request;
}

pb::ScanRequest OpenRequest() {
  pb::ScanRequest request;
  pb::OpenVector* const open = request.mutable_open()->add_vectors();
  open->set_vector_id(kVectorId);
  SetIceberg("medium_typical", open->mutable_vector());
  return request;
}

pb::ScanRequest QueryRequest() {
  pb::ScanRequest request;
  pb::Query* const query = request.mutable_query();
  query->set_query_id(1);
  query->set_vector_id(kVectorId);
  pb::PositionRange* const range = query->mutable_count()->add_ranges();
  range->set_start(kQueryStart);
  range->set_end(kQueryStart + kQueryRows);
  return request;
}

pb::ReadPositionsRequest ReadRequest() {
  pb::ReadPositionsRequest request;
  SetIceberg("10m_of_20m", request.mutable_vector());
  request.mutable_query()->set_encoding(pb::ENCODING_POSITIONS);
  return request;
}

Requests MakeRequests() {
  return {Encode(DescribeRequest()), Encode(OpenRequest()), Encode(QueryRequest()),
          Encode(ReadRequest())};
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20))) {
    Fail("cannot connect to " + address);
  }
  return channel;
}

// --- The probe
// -------------------------------------------------------------------------------------

uint64_t ProbeDescribe(pb::DeletionVectorService::Stub& stub) {
  grpc::ClientContext context;
  pb::DescribeResponse response;
  const grpc::Status status = stub.Describe(&context, DescribeRequest(), &response);
  if (!status.ok()) Fail("Describe: " + status.error_message());
  if (response.summary().cardinality() != 200 * 50'000) Fail("Describe: wrong cardinality");
  return response.ByteSizeLong();
}

// Prints the sizes of the answers of a Scan as flags.
std::string ProbeScan(pb::DeletionVectorService::Stub& stub) {
  grpc::ClientContext context;
  const auto stream = stub.Scan(&context);
  pb::ScanResponse response;
  if (!stream->Write(OpenRequest()) || !stream->Read(&response)) Fail("Scan: no answer");
  if (!response.has_opened() || response.opened().status().code() != 0) {
    Fail("Scan: the vector was not opened: " + response.opened().status().message());
  }
  const std::string opened = absl::StrCat("--scan_opened=", response.ByteSizeLong());
  stream->Write(QueryRequest());
  stream->WritesDone();
  std::vector<size_t> sizes;
  uint64_t count = 0;
  while (stream->Read(&response)) {
    sizes.push_back(response.ByteSizeLong());
    if (response.has_part()) count += response.part().count().counts(0);
  }
  const grpc::Status status = stream->Finish();
  if (!status.ok()) Fail("Scan: " + status.error_message());
  if (!response.has_done() || response.done().status().code() != 0 || count != kQueryRows / 2) {
    Fail("Scan: wrong answer");
  }
  return absl::StrCat(opened, " --scan_replies=", absl::StrJoin(sizes, ","));
}

std::string ProbeRead(pb::DeletionVectorService::Stub& stub) {
  grpc::ClientContext context;
  const auto reader = stub.ReadPositions(&context, ReadRequest());
  pb::ReadPositionsResponse response;
  // Messages of the same size in a row.
  std::vector<std::pair<size_t, size_t>> sizes;
  uint64_t positions = 0;
  while (reader->Read(&response)) {
    const size_t size = response.ByteSizeLong();
    if (sizes.empty() || sizes.back().first != size) sizes.emplace_back(size, 0);
    ++sizes.back().second;
    positions += static_cast<uint64_t>(response.part().positions().values_size());
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) Fail("ReadPositions: " + status.error_message());
  if (positions != kReadCount) Fail(absl::StrCat("ReadPositions: ", positions, " positions"));
  return absl::StrCat("--read_replies=", absl::StrJoin(sizes, ",", absl::PairFormatter("x")));
}

int Probe() {
  const auto stub = pb::DeletionVectorService::NewStub(Connect(absl::GetFlag(FLAGS_ours)));
  std::printf("--describe_reply=%llu %s %s\n",
              static_cast<unsigned long long>(ProbeDescribe(*stub)), ProbeScan(*stub).c_str(),
              ProbeRead(*stub).c_str());
  return 0;
}

// --- The measurements
// --------------------------------------------------------------------------

// One of the two servers.
struct Target {
  std::string name;
  int pid;
  std::unique_ptr<grpc::GenericStub> stub;
};

// Returns the CPU time that a process has taken, in microseconds; 0 if that cannot be had.
double CpuMicroseconds(int pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  // Behind the name, which may hold blanks: state is field 3, user and system time 14 and 15.
  const size_t end = line.rfind(") ");
  if (end == std::string::npos) return 0;
  const std::vector<std::string> fields = absl::StrSplit(line.substr(end + 2), ' ');
  if (fields.size() < 13) return 0;
  const double ticks =
      std::strtod(fields[11].c_str(), nullptr) + std::strtod(fields[12].c_str(), nullptr);
  return ticks * 1e6 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Measures `load` against `target` and prints one line of JSON.
void Measure(const std::string& name, int pair, const Target& target, Load& load) {
  using Clock = std::chrono::steady_clock;
  load.Start();
  Sleep(absl::GetFlag(FLAGS_warmup));
  const auto start = Clock::now();
  const uint64_t calls = load.calls();
  const uint64_t bytes = load.bytes();
  const double cpu = CpuMicroseconds(target.pid);
  Sleep(absl::GetFlag(FLAGS_seconds));
  const std::chrono::duration<double> seconds = Clock::now() - start;
  const uint64_t more_calls = load.calls() - calls;
  const uint64_t more_bytes = load.bytes() - bytes;
  const double more_cpu = CpuMicroseconds(target.pid) - cpu;
  load.Stop();
  std::printf(
      "{\"transport\": \"%s\", \"case\": \"%s\", \"server\": \"%s\", \"pair\": %d, "
      "\"seconds\": %.6f, \"calls\": %llu, \"bytes\": %llu, \"cpu_us\": %.0f}\n",
      absl::GetFlag(FLAGS_transport).c_str(), name.c_str(), target.name.c_str(), pair,
      seconds.count(), static_cast<unsigned long long>(more_calls),
      static_cast<unsigned long long>(more_bytes), more_cpu);
  std::fflush(stdout);
}

int MeasureAll() {
  const Requests requests = MakeRequests();
  using MakeLoad = std::function<std::unique_ptr<Load>(grpc::GenericStub&)>;
  const auto scan = [&](int streams) -> MakeLoad {
    return [&requests, streams](grpc::GenericStub& stub) {
      // Each query is answered by one part and its end.
      return ScanLoad(stub, requests.scan_open, requests.scan_query, 2, streams);
    };
  };
  const std::vector<std::pair<std::string, MakeLoad>> cases = {
      {"describe",
       [&](grpc::GenericStub& stub) {
         return DescribeLoad(stub, requests.describe, kDescribeInFlight);
       }},
      {"scan_1", scan(1)},
      {"scan_8", scan(kScanStreams)},
      {"read", [&](grpc::GenericStub& stub) { return ReadLoad(stub, requests.read); }},
  };
  std::vector<Target> targets(2);
  targets[0] = {"ours", absl::GetFlag(FLAGS_ours_pid),
                std::make_unique<grpc::GenericStub>(Connect(absl::GetFlag(FLAGS_ours)))};
  targets[1] = {"null", absl::GetFlag(FLAGS_null_pid),
                std::make_unique<grpc::GenericStub>(Connect(absl::GetFlag(FLAGS_null)))};
  const std::vector<std::string> wanted = absl::GetFlag(FLAGS_cases);
  for (const auto& [name, make] : cases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    for (int pair = 0; pair < absl::GetFlag(FLAGS_pairs); ++pair) {
      // Neither is always the first.
      for (int i = 0; i < 2; ++i) {
        const Target& target = targets[static_cast<size_t>(i ^ (pair & 1))];
        Measure(name, pair, target, *make(*target.stub));
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace dv::bench

int main(int argc, char** argv) {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, dv::bench::kTrimThreshold);
  mallopt(M_MMAP_THRESHOLD, dv::bench::kMmapThreshold);
#endif
  absl::SetProgramUsageMessage("measures dv-server beside a server that does nothing");
  absl::ParseCommandLine(argc, argv);
  return absl::GetFlag(FLAGS_probe) ? dv::bench::Probe() : dv::bench::MeasureAll();
}
