// Drives a server of its own, over gRPC.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/bytes/error.h"
#include "tests/conformance/driver.h"
#include "tests/testing/server_process.h"
#include "tests/testing/sha256.h"

namespace dv::conformance {
namespace {

namespace v1 = ::deletionvector::v1;

constexpr char kErrorDomain[] = "deletionvector.v1";
constexpr std::chrono::seconds kCallTimeout{300};

// Vectors of one Scan that are under way at a time, and their bytes.
constexpr size_t kMaxUnderWay = 64;
constexpr uint64_t kMaxBytesUnderWay = 16 << 20;

absl::Status MakeStatus(int code, const std::string& message, const std::string& reason) {
  if (code == 0) return absl::OkStatus();
  return Error(static_cast<absl::StatusCode>(code), reason, message);
}

// The status of a call, with the reason of its details.
absl::Status FromCall(const grpc::Status& status) {
  google::rpc::Status details;
  std::string reason = "(no ErrorInfo)";
  if (details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& any : details.details()) {
      google::rpc::ErrorInfo info;
      if (!any.UnpackTo(&info)) continue;
      reason = info.domain() == kErrorDomain
                   ? info.reason()
                   : absl::StrCat("(reason ", info.reason(), " of domain ", info.domain(), ")");
    }
    if (details.code() != status.error_code()) {
      reason = absl::StrCat("(code ", details.code(), " in the details)");
    }
  }
  return MakeStatus(status.error_code(), status.error_message(), reason);
}

absl::Status FromItem(const v1::ItemStatus& status) {
  if (status.code() == 0 && !(status.message().empty() && status.reason().empty())) {
    return absl::InternalError("an OK item has a message or a reason");
  }
  return MakeStatus(status.code(), status.message(), status.reason());
}

v1::DeletionVector Vector(const Case& tested) {
  v1::DeletionVector vector;
  vector.set_format(tested.options.format == format::Format::kRoaring64 ? v1::FORMAT_ROARING64
                                                                        : v1::FORMAT_ICEBERG);
  if (tested.options.expected_cardinality.has_value()) {
    vector.set_expected_cardinality(*tested.options.expected_cardinality);
  }
  if (tested.options.row_count.has_value()) vector.set_row_count(*tested.options.row_count);
  return vector;
}

v1::DeletionVector InlineVector(const Case& tested) {
  v1::DeletionVector vector = Vector(tested);
  vector.set_inline_(tested.bytes);
  return vector;
}

void SetSummary(const v1::VectorSummary& summary, Outcome& outcome) {
  outcome.cardinality = summary.cardinality();
  if (summary.has_first_position()) outcome.first = summary.first_position();
  if (summary.has_last_position()) outcome.last = summary.last_position();
}

// Collects the parts of an answer, in positions or in runs.
class Collector {
 public:
  // Returns what is wrong with the part, or an empty text.
  std::string Add(const v1::AnswerPart& part) {
    if (part.start() != next_) return "a part does not start at the last next_start";
    if (part.has_next_start() != (part.start() + part.row_count() != 0)) return "next_start";
    next_.reset();
    if (part.has_next_start()) {
      next_ = part.next_start();
      if (part.start() + part.row_count() != *next_) return "next_start is not start + row_count";
    }
    uint64_t count = 0;
    if (part.has_positions()) {
      for (const uint64_t position : part.positions().values()) {
        digest_.UpdateLe64(position);
        if (first_positions_.size() < 8) first_positions_.push_back(position);
        ++count;
      }
    } else if (part.has_runs()) {
      if (part.runs().starts_size() != part.runs().lengths_size()) return "lengths of the arrays";
      for (int i = 0; i < part.runs().starts_size(); ++i) {
        AddRun(part.runs().starts(i), part.runs().lengths(i));
        count += part.runs().lengths(i);
      }
    } else {
      return "a part without positions or runs";
    }
    if (count != part.position_count()) return "position_count of a part";
    total_ += count;
    ++parts_;
    return "";
  }

  // Takes the end of the answer. Returns what is wrong with it, or an empty text.
  std::string End(const v1::AnswerEnd& end) {
    FlushRun();
    if (end.position_count() != total_) return "position_count at the end";
    if (end.part_count() != parts_) return "part_count";
    if (end.limit_reached() || end.has_next_start()) return "limit_reached without a limit";
    return "";
  }

  void SetPositions(Outcome& outcome) {
    outcome.first_positions = first_positions_;
    outcome.positions_digest = digest_.Finish();
  }

  void SetRuns(Outcome& outcome) { outcome.runs_digest = digest_.Finish(); }

 private:
  // Runs are as long as they can be, but a part may end in the middle of one: those are joined.
  void AddRun(uint64_t start, uint64_t length) {
    if (run_length_ > 0 && run_start_ + run_length_ == start) {
      run_length_ += length;
      return;
    }
    FlushRun();
    run_start_ = start;
    run_length_ = length;
  }

  void FlushRun() {
    if (run_length_ == 0) return;
    digest_.UpdateLe64(run_start_);
    digest_.UpdateLe64(run_length_);
    run_length_ = 0;
  }

  testing::Sha256 digest_;
  std::vector<uint64_t> first_positions_;
  // Where the next part must start; nothing after a part that reached the last row.
  std::optional<uint64_t> next_ = 0;
  uint64_t run_start_ = 0;
  uint64_t run_length_ = 0;
  uint64_t total_ = 0;
  uint64_t parts_ = 0;
};

// One vector of a Scan: how it is sent, and what came back.
struct Item {
  // Absent: in one piece, in the open itself.
  std::optional<testing::Cuts> cuts;

  Outcome outcome;
  Collector collector;
  bool opened = false;
  bool done = false;
  // What was wrong with the answers, besides what they say.
  std::string complaint;
};

// Opens the vector of a case once for each of some items, on one stream, and asks each for all its
// runs.
class ScanRun {
 public:
  ScanRun(v1::DeletionVectorService::Stub& stub, const Case& tested, std::vector<Item>& items)
      : tested_(tested), items_(items) {
    context_.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    stream_ = stub.Scan(&context_);
  }

  // Returns the status with which the stream ended.
  absl::Status Run() {
    std::thread reader([this] { ReadAll(); });
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!WaitForRoom() || !CloseFinished() || !Send(i)) break;
    }
    stream_->WritesDone();
    reader.join();
    return FromCall(stream_->Finish());
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Ids are not the index, so that nothing takes one for the other.
  static uint64_t VectorId(size_t i) { return 1000 + i; }
  static uint64_t QueryId(size_t i) { return ~uint64_t{0} - i; }

  // Waits until another vector may be opened. Returns false when the stream is broken.
  bool WaitForRoom() {
    Lock lock(mutex_);
    const uint64_t size = std::max<uint64_t>(1, tested_.bytes.size());
    const size_t most =
        std::min<size_t>(kMaxUnderWay, std::max<uint64_t>(1, kMaxBytesUnderWay / size));
    changed_.wait(lock, [&] { return under_way_ < most || ended_; });
    if (ended_) return false;
    ++under_way_;
    return true;
  }

  bool CloseFinished() {
    std::vector<size_t> finished;
    {
      Lock lock(mutex_);
      finished.swap(finished_);
    }
    for (const size_t i : finished) {
      v1::ScanRequest request;
      request.mutable_close_vector()->set_vector_id(VectorId(i));
      if (!stream_->Write(request, Buffered())) return false;
    }
    return true;
  }

  bool Send(size_t i) {
    const Item& item = items_[i];
    v1::ScanRequest request;
    v1::OpenVector* open = request.mutable_open()->add_vectors();
    open->set_vector_id(VectorId(i));
    if (item.cuts.has_value()) {
      *open->mutable_vector() = Vector(tested_);
      open->mutable_vector()->mutable_chunked()->set_total_size(tested_.bytes.size());
    } else {
      *open->mutable_vector() = InlineVector(tested_);
    }
    if (!stream_->Write(request, Buffered())) return false;
    if (item.cuts.has_value()) {
      uint64_t offset = 0;
      for (const std::string_view piece : testing::Pieces(tested_.bytes, *item.cuts)) {
        v1::ScanRequest chunk;
        chunk.mutable_chunk()->set_vector_id(VectorId(i));
        chunk.mutable_chunk()->set_offset(offset);
        chunk.mutable_chunk()->set_data(piece.data(), piece.size());
        if (!stream_->Write(chunk, Buffered())) return false;
        offset += piece.size();
      }
    }
    v1::ScanRequest query;
    query.mutable_query()->set_query_id(QueryId(i));
    query.mutable_query()->set_vector_id(VectorId(i));
    query.mutable_query()->mutable_read()->set_encoding(v1::ENCODING_RUNS);
    return stream_->Write(query);
  }

  static grpc::WriteOptions Buffered() { return grpc::WriteOptions().set_buffer_hint(); }

  void ReadAll() {
    v1::ScanResponse response;
    while (stream_->Read(&response)) {
      Lock lock(mutex_);
      Take(response);
    }
    Lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void Take(const v1::ScanResponse& response) {
    switch (response.response_case()) {
      case v1::ScanResponse::kOpened: {
        const size_t i = response.opened().vector_id() - VectorId(0);
        if (i >= items_.size()) return Complain("an unknown vector was opened");
        Item& item = items_[i];
        if (item.opened) return Complain(item, "opened twice");
        item.opened = true;
        item.outcome.status = FromItem(response.opened().status());
        if (response.opened().has_summary()) SetSummary(response.opened().summary(), item.outcome);
        return FinishIfComplete(i);
      }
      case v1::ScanResponse::kPart: {
        const size_t i = QueryId(0) - response.part().query_id();
        if (i >= items_.size()) return Complain("a part of an unknown query");
        Item& item = items_[i];
        if (item.done) return Complain(item, "a part after done");
        const std::string wrong = item.collector.Add(response.part().read());
        if (!wrong.empty()) Complain(item, wrong);
        item.outcome.runs_digest = "incomplete";
        return;
      }
      case v1::ScanResponse::kDone: {
        const size_t i = QueryId(0) - response.done().query_id();
        if (i >= items_.size()) return Complain("an unknown query is done");
        Item& item = items_[i];
        if (item.done) return Complain(item, "done twice");
        item.done = true;
        query_statuses_.resize(items_.size());
        query_statuses_[i] = FromItem(response.done().status());
        if (response.done().status().code() == 0) {
          const std::string wrong = item.collector.End(response.done().read_end());
          if (!wrong.empty()) Complain(item, wrong);
          item.collector.SetRuns(item.outcome);
        }
        return FinishIfComplete(i);
      }
      default:
        return Complain("a message without content");
    }
  }

  void FinishIfComplete(size_t i) {
    Item& item = items_[i];
    if (!item.opened || !item.done) return;
    // A query on a failed vector fails as the vector did.
    if (query_statuses_[i].code() != item.outcome.status.code() ||
        ReasonOf(query_statuses_[i]) != ReasonOf(item.outcome.status)) {
      Complain(item, absl::StrCat("opened with ", item.outcome.status.ToString(),
                                  ", but the query ended with ", query_statuses_[i].ToString()));
    }
    finished_.push_back(i);
    --under_way_;
    changed_.notify_all();
  }

  void Complain(Item& item, const std::string& what) {
    if (item.complaint.empty()) item.complaint = what;
  }

  void Complain(const std::string& what) {
    if (!items_.empty()) Complain(items_.front(), what);
  }

  const Case& tested_;
  std::vector<Item>& items_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ScanRequest, v1::ScanResponse>> stream_;

  // Guards what follows, and the items once the reader runs.
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t under_way_ = 0;
  bool ended_ = false;
  std::vector<size_t> finished_;
  std::vector<absl::Status> query_statuses_;
};

class ServerDriver : public Driver {
 public:
  explicit ServerDriver(std::unique_ptr<testing::ServerProcess> server)
      : server_(std::move(server)),
        stub_(v1::DeletionVectorService::NewStub(
            grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()))) {}

  std::vector<Outcome> ReadWhole(const Case& tested) override {
    std::vector<Outcome> outcomes;
    outcomes.push_back(Describe(tested));
    outcomes.push_back(Read(tested, v1::ENCODING_RUNS));
    if (!tested.valid() || tested.cardinality <= kMaxListedPositions) {
      outcomes.push_back(Read(tested, v1::ENCODING_POSITIONS));
    }
    std::vector<Item> items(1);
    outcomes.push_back(std::move(Scan(tested, items, "Scan, inline").front()));
    return outcomes;
  }

  std::vector<Outcome> ReadCut(const Case& tested,
                               const std::vector<testing::Cuts>& cuts) override {
    std::vector<Item> items(cuts.size());
    for (size_t i = 0; i < cuts.size(); ++i) items[i].cuts = cuts[i];
    return Scan(tested, items, "Scan, chunked");
  }

  uint64_t MaxBytesOneByOne() const override { return 65536; }

  absl::StatusCode CodeOf(const std::string& reason) const override {
    return testing::ServerCode(reason);
  }

 private:
  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
  }

  Outcome Describe(const Case& tested) {
    Outcome outcome;
    outcome.way = "Describe";
    v1::DescribeRequest request;
    *request.mutable_vector() = InlineVector(tested);
    v1::DescribeResponse response;
    grpc::ClientContext context;
    SetDeadline(context);
    outcome.status = FromCall(stub_->Describe(&context, request, &response));
    if (!outcome.status.ok()) return outcome;
    const v1::VectorSummary& summary = response.summary();
    SetSummary(summary, outcome);
    const bool bare = tested.options.format == format::Format::kRoaring64;
    if (summary.encoded_size() != tested.bytes.size() || summary.checksum_checked() == bare ||
        summary.format() != (bare ? v1::FORMAT_ROARING64 : v1::FORMAT_ICEBERG) ||
        summary.layout() != (bare ? v1::LAYOUT_ROARING64 : v1::LAYOUT_FRAME64)) {
      outcome.status = absl::InternalError(absl::StrCat("summary: ", summary.ShortDebugString()));
    }
    return outcome;
  }

  Outcome Read(const Case& tested, v1::Encoding encoding) {
    Outcome outcome;
    outcome.way = absl::StrCat("ReadPositions, ", v1::Encoding_Name(encoding));
    v1::ReadPositionsRequest request;
    *request.mutable_vector() = InlineVector(tested);
    request.mutable_query()->set_encoding(encoding);
    grpc::ClientContext context;
    SetDeadline(context);
    const auto stream = stub_->ReadPositions(&context, request);
    Collector collector;
    std::string complaint;
    bool any_part = false;
    bool ended = false;
    v1::ReadPositionsResponse response;
    while (stream->Read(&response)) {
      std::string wrong;
      if (ended) {
        wrong = "a message after the end";
      } else if (response.has_part()) {
        any_part = true;
        wrong = collector.Add(response.part());
      } else {
        ended = true;
        wrong = collector.End(response.end());
      }
      if (complaint.empty()) complaint = wrong;
    }
    outcome.status = FromCall(stream->Finish());
    if (outcome.status.ok() && !ended) complaint = "no end";
    if (!complaint.empty()) outcome.status = absl::InternalError(complaint);
    if (encoding == v1::ENCODING_RUNS) {
      if (ended || any_part) collector.SetRuns(outcome);
    } else if (ended || any_part) {
      collector.SetPositions(outcome);
    }
    return outcome;
  }

  std::vector<Outcome> Scan(const Case& tested, std::vector<Item>& items, const char* way) {
    const absl::Status stream_status = ScanRun(*stub_, tested, items).Run();
    std::vector<Outcome> outcomes;
    for (Item& item : items) {
      if (!item.complaint.empty()) item.outcome.status = absl::InternalError(item.complaint);
      if (!item.opened || !item.done) {
        item.outcome.status = absl::InternalError(
            absl::StrCat("the stream ended before the answer, with ", stream_status.ToString()));
      }
      if (!stream_status.ok()) item.outcome.status = stream_status;
      item.outcome.way = way;
      outcomes.push_back(std::move(item.outcome));
    }
    return outcomes;
  }

  std::unique_ptr<testing::ServerProcess> server_;
  std::unique_ptr<v1::DeletionVectorService::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Driver>> MakeDriver() {
  const char* given = std::getenv("DV_SERVER");
  const std::string binary = given != nullptr && *given != '\0' ? given : DV_SERVER_BINARY;
  auto server = testing::ServerProcess::Start(binary);
  if (!server.ok()) return server.status();
  return std::make_unique<ServerDriver>(*std::move(server));
}

}  // namespace dv::conformance
