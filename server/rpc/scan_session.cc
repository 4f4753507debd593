#include "server/rpc/scan_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/rpc/evaluate.h"
#include "server/rpc/status.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// Items of one part of an answer: less than 256 KiB, and a few milliseconds of work.
constexpr int kPositionsPerCheck = 65'536;
constexpr int kRangesPerCount = 16'384;

// About how many bytes are looked at for one position, range or boundary.
constexpr uint64_t kBytesPerItem = 128;

// Answers that may wait to be taken before no more requests are read.
constexpr size_t kMaxControl = 1'024;

// What a vector or query takes beside its bytes, for the budget of bytes.
constexpr uint64_t kItemOverhead = 256;

absl::Status UploadIncomplete(uint64_t vector_id, const Upload& upload, absl::string_view why) {
  return Error(
      absl::StatusCode::kCancelled, reason::kUploadIncomplete,
      absl::StrCat("vector ", vector_id, " has ", upload.received(), " of its ",
                   upload.total_size(), " bytes, and ", why),
      {{"vector_id", vector_id}, {"found", upload.received()}, {"expected", upload.total_size()}});
}

uint64_t IndexBytes(const roaring::Index& index) {
  return index.size() * sizeof(roaring::ContainerEntry);
}

uint64_t ItemsLeft(int size, int next, int per_step) {
  return static_cast<uint64_t>(std::min(size - next, per_step));
}

}  // namespace

// A vector: loading, open or failed.
struct ScanSession::Vector {
  enum class State { kUploading, kDecoding, kOpen, kFailed };

  Vector(ScanSession* owner, uint64_t vector_id) : session(owner), id(vector_id) {
    ++session->vector_count_;
  }
  ~Vector() {
    --session->vector_count_;
    session->vector_bytes_ -= reserved_bytes;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  // Gives back what the vector holds of the budget.
  void ReleaseBytes() {
    session->vector_bytes_ -= reserved_bytes;
    reserved_bytes = 0;
  }

  ScanSession* const session;
  const uint64_t id;
  State state = State::kDecoding;
  format::DecodeOptions options;
  uint64_t reserved_bytes = 0;
  uint64_t bytes_copied = 0;
  // While uploading.
  std::optional<Upload> upload;
  // When open.
  format::DecodedVector decoded;
  // When failed.
  absl::Status failure;
  // Queries that wait for the vector or for their turn.
  std::list<Query*> queries;
  // Whether it is in `ready_`.
  bool ready = false;
};

ScanSession::ScanSession(const Limits& limits) : limits_(limits) {}

ScanSession::~ScanSession() = default;

absl::Status ScanSession::Handle(pb::ScanRequest request, std::vector<bytes::Chain> payloads,
                                 bool in_place) {
  switch (request.request_case()) {
    case pb::ScanRequest::kOpen:
      // Each is answered, so that many would cost much memory before the first answer is taken.
      if (static_cast<uint64_t>(request.open().vectors_size()) > limits_.max_open_vectors) {
        return Error(absl::StatusCode::kResourceExhausted, reason::kTooManyVectors,
                     absl::StrCat("one message opens ", request.open().vectors_size(),
                                  " vectors; a stream may have ", limits_.max_open_vectors,
                                  ", the limit of --max_open_vectors"),
                     {{"limit", "--max_open_vectors"},
                      {"found", static_cast<uint64_t>(request.open().vectors_size())},
                      {"allowed", limits_.max_open_vectors}});
      }
      Open(request.open(), std::move(payloads), in_place);
      return absl::OkStatus();
    case pb::ScanRequest::kChunk:
      Chunk(request.chunk(), payloads.empty() ? bytes::Chain() : std::move(payloads.front()),
            in_place);
      return absl::OkStatus();
    case pb::ScanRequest::kQuery:
      Ask(std::move(*request.mutable_query()));
      return absl::OkStatus();
    case pb::ScanRequest::kCancelQuery:
      Cancel(request.cancel_query().query_id());
      return absl::OkStatus();
    case pb::ScanRequest::kCloseVector:
      Close(request.close_vector().vector_id());
      return absl::OkStatus();
    case pb::ScanRequest::REQUEST_NOT_SET:
      break;
  }
  return Error(absl::StatusCode::kInvalidArgument, reason::kRequestMalformed,
               "a message of the stream sets none of open, chunk, query, cancel_query and "
               "close_vector");
}

void ScanSession::HalfClose() {
  if (half_closed_) return;
  half_closed_ = true;
  if (uploading_ == 0) return;
  std::vector<std::shared_ptr<Vector>> incomplete;
  for (const auto& [id, vector] : vectors_) {
    if (vector->state == Vector::State::kUploading) incomplete.push_back(vector);
  }
  for (const std::shared_ptr<Vector>& vector : incomplete) {
    Fail(*vector, UploadIncomplete(vector->id, *vector->upload,
                                   "the client has ended its side of the stream"));
  }
}

void ScanSession::Open(const pb::OpenVectors& open, std::vector<bytes::Chain> payloads,
                       bool in_place) {
  size_t next_payload = 0;
  for (int i = 0; i < open.vectors_size(); ++i) {
    const pb::OpenVector& item = open.vectors(i);
    bytes::Chain payload;
    if (item.vector().has_inline_()) payload = std::move(payloads[next_payload++]);
    OpenOne(item, static_cast<size_t>(i), std::move(payload), in_place);
  }
}

void ScanSession::OpenOne(const pb::OpenVector& open, size_t index, bytes::Chain payload,
                          bool in_place) {
  const uint64_t id = open.vector_id();
  if (vectors_.contains(id) || closed_early_.contains(id)) {
    PushOpened(id,
               Error(absl::StatusCode::kAlreadyExists, reason::kVectorIdInUse,
                     absl::StrCat("vector id ", id,
                                  " is in use on this stream; close it first or take another"),
                     {{"vector_id", id}}),
               nullptr);
    return;
  }
  // Failed vectors count too: their ids and failures are remembered.
  if (vector_count_ >= limits_.max_open_vectors) {
    PushOpened(id,
               Error(absl::StatusCode::kResourceExhausted, reason::kTooManyVectors,
                     absl::StrCat("the stream has ", vector_count_,
                                  " vectors, the limit of --max_open_vectors; close some first. "
                                  "Vector id ",
                                  id, " is not in use"),
                     {{"limit", "--max_open_vectors"},
                      {"found", vector_count_ + 1},
                      {"allowed", limits_.max_open_vectors}}),
               nullptr);
    return;
  }
  const auto vector = std::make_shared<Vector>(this, id);
  vectors_.emplace(id, vector);

  const std::string path = absl::StrCat("open.vectors[", index, "].vector");
  const absl::StatusOr<VectorSpec> spec =
      CheckVector(open.vector(), open.has_vector(), path, CallKind::kStream);
  if (!spec.ok()) return Fail(*vector, spec.status());
  vector->options = spec->options;
  const uint64_t bytes = spec->chunked_size.value_or(payload.size());
  absl::Status status = CheckVectorSize(bytes, limits_.max_vector_bytes);
  if (status.ok()) status = Admit(*vector, bytes);
  if (!status.ok()) return Fail(*vector, status);

  if (spec->chunked_size.has_value()) {
    vector->state = Vector::State::kUploading;
    vector->upload.emplace(bytes);
    ++uploading_;
    return;
  }
  if (!in_place) vector->bytes_copied += payload.size();
  if (in_place && payload.size() < kCopyBelowBytes) {
    vector->bytes_copied += payload.size();
    payload = CopyOf(payload);
  }
  ScheduleDecode(vector, std::move(payload));
}

absl::Status ScanSession::Admit(Vector& vector, uint64_t bytes) {
  const uint64_t left = limits_.max_open_bytes - std::min(limits_.max_open_bytes, vector_bytes_);
  if (bytes > left) {
    return Error(
        absl::StatusCode::kResourceExhausted, reason::kTooManyOpenBytes,
        absl::StrCat("the stream's vectors hold ", vector_bytes_, " bytes, and ", bytes,
                     " more of this one or its index would take them past ", limits_.max_open_bytes,
                     ", the limit of --max_open_bytes; close some first"),
        {{"limit", "--max_open_bytes"},
         {"found", vector_bytes_ + bytes},
         {"allowed", limits_.max_open_bytes}});
  }
  vector.reserved_bytes += bytes;
  vector_bytes_ += bytes;
  return absl::OkStatus();
}

void ScanSession::Chunk(const pb::VectorChunk& chunk, const bytes::Chain& data, bool in_place) {
  const auto found = vectors_.find(chunk.vector_id());
  if (found == vectors_.end() || found->second->state != Vector::State::kUploading) return;
  const std::shared_ptr<Vector> vector = found->second;
  Upload& upload = *vector->upload;
  if (chunk.offset() != upload.received()) {
    return Fail(*vector, Error(absl::StatusCode::kInvalidArgument, reason::kChunkOutOfOrder,
                               absl::StrCat("a chunk of vector ", vector->id, " starts at byte ",
                                            chunk.offset(), "; expected byte ", upload.received(),
                                            ", where the one before it ended"),
                               {{"vector_id", vector->id},
                                {"found", chunk.offset()},
                                {"expected", upload.received()}}));
  }
  if (data.size() > upload.total_size() - upload.received()) {
    return Fail(*vector, Error(absl::StatusCode::kInvalidArgument, reason::kChunkPastTotalSize,
                               absl::StrCat("the chunks of vector ", vector->id, " hold at least ",
                                            upload.received() + data.size(),
                                            " bytes; its open declared ", upload.total_size()),
                               {{"vector_id", vector->id},
                                {"found", upload.received() + data.size()},
                                {"expected", upload.total_size()}}));
  }
  // What the generic parser copied counts too.
  if (!in_place) vector->bytes_copied += data.size();
  upload.Add(data);
  if (!upload.complete()) return;

  vector->bytes_copied += upload.bytes_copied();
  bytes::Chain chain = upload.Take();
  vector->upload.reset();
  --uploading_;
  // Its queries wait for this server now.
  for (Query* const query : vector->queries) {
    CountWaiting(*query, /*add=*/false);
    query->waiting_ = false;
    CountWaiting(*query, /*add=*/true);
  }
  ScheduleDecode(vector, std::move(chain));
}

void ScanSession::ScheduleDecode(const std::shared_ptr<Vector>& vector, bytes::Chain chain) {
  vector->state = Vector::State::kDecoding;
  decodes_.push_back(std::make_unique<DecodeJob>(vector, std::move(chain), vector->options));
}

std::unique_ptr<ScanSession::DecodeJob> ScanSession::TakeDecode() {
  if (decodes_.empty()) return nullptr;
  std::unique_ptr<DecodeJob> job = std::move(decodes_.front());
  decodes_.pop_front();
  ++decodes_taken_;
  return job;
}

void ScanSession::FinishDecode(DecodeJob& job) {
  --decodes_taken_;
  const std::shared_ptr<Vector> vector = std::move(job.vector_);
  closed_early_.erase(vector->id);
  if (!job.result_.ok()) return Fail(*vector, ForBytesOfCaller(job.result_.status()));
  // The index counts too: of many small containers it is larger than the vector itself.
  const absl::Status status = Admit(*vector, IndexBytes(job.result_->view.index()));
  if (!status.ok()) return Fail(*vector, status);
  vector->decoded = *std::move(job.result_);
  vector->state = Vector::State::kOpen;
  PushOpened(vector->id, absl::OkStatus(), vector.get());
  MakeReady(vector);
}

void ScanSession::Fail(Vector& vector, const absl::Status& status) {
  if (vector.state == Vector::State::kUploading) --uploading_;
  vector.state = Vector::State::kFailed;
  vector.failure = status;
  vector.upload.reset();
  vector.ReleaseBytes();
  PushOpened(vector.id, status, nullptr);
  while (!vector.queries.empty()) {
    Query* const query = vector.queries.front();
    Unlist(query);
    // The vector stays: the caller holds it.
    End(query, status);
  }
}

void ScanSession::MakeReady(const std::shared_ptr<Vector>& vector) {
  if (vector->ready || vector->queries.empty()) return;
  vector->ready = true;
  ready_.push_back(vector);
}

void ScanSession::Ask(pb::Query request) {
  const uint64_t id = request.query_id();
  if (queries_.contains(id)) {
    return PushDone(id,
                    Error(absl::StatusCode::kAlreadyExists, reason::kQueryIdInUse,
                          absl::StrCat("query id ", id, " is in use: that query is not done yet"),
                          {{"query_id", id}}),
                    nullptr);
  }
  const auto found = vectors_.find(request.vector_id());
  if (found == vectors_.end()) {
    return PushDone(id,
                    Error(absl::StatusCode::kNotFound, reason::kVectorNotOpen,
                          absl::StrCat("no vector ", request.vector_id(),
                                       " was opened on this stream, or it was closed"),
                          {{"vector_id", request.vector_id()}}),
                    nullptr);
  }
  const std::shared_ptr<Vector>& vector = found->second;

  auto query = std::make_unique<Query>();
  absl::Status status;
  switch (request.kind_case()) {
    case pb::Query::kRead: {
      const absl::StatusOr<ReadSpec> spec = CheckRead(request.read(), "query.read");
      status = spec.status();
      if (spec.ok()) query->read_ = *spec;
      break;
    }
    case pb::Query::kCheck:
      break;
    case pb::Query::kCount:
      status = CheckRanges(request.count().ranges(), "query.count.ranges");
      break;
    case pb::Query::kHistogram: {
      const absl::StatusOr<HistogramSpec> spec =
          CheckHistogram(request.histogram(), vector->options.row_count, "query.histogram");
      status = spec.status();
      if (spec.ok()) query->histogram_ = *spec;
      break;
    }
    case pb::Query::KIND_NOT_SET:
      status = FieldRequired("query.kind", "set one of read, check, count and histogram");
      break;
  }
  if (status.ok() && vector->state == Vector::State::kFailed) status = vector->failure;
  if (!status.ok()) return PushDone(id, status, nullptr);

  query->waiting_ = vector->state == Vector::State::kUploading;
  query->bytes_ = kItemOverhead + request.SpaceUsedLong();
  // The server goes on reading for the chunks that these wait for, so they have a limit of their
  // own.
  if (query->waiting_) {
    if (const absl::Status full = CheckWaiting(); !full.ok()) return PushDone(id, full, nullptr);
  }
  query->request_ = std::move(request);
  query->vector_ = vector;
  CountWaiting(*query, /*add=*/true);
  query->place_ = vector->queries.insert(vector->queries.end(), query.get());
  query->listed_ = true;
  queries_.emplace(id, std::move(query));
  if (vector->state == Vector::State::kOpen) MakeReady(vector);
}

absl::Status ScanSession::CheckWaiting() const {
  const auto full = [](absl::string_view flag, absl::string_view what, uint64_t found,
                       uint64_t allowed) {
    return Error(
        absl::StatusCode::kResourceExhausted, reason::kTooManyPending,
        absl::StrCat(found, " ", what, " wait for vectors that are not uploaded yet; at most ",
                     allowed, " may (", flag, "). Ask again when the vector is open"),
        {{"limit", flag}, {"found", found}, {"allowed", allowed}});
  };
  if (waiting_queries_ >= limits_.max_pending_queries) {
    return full("--max_pending_queries", "queries", waiting_queries_, limits_.max_pending_queries);
  }
  if (waiting_bytes_ >= limits_.max_pending_bytes) {
    return full("--max_pending_bytes", "bytes of queries", waiting_bytes_,
                limits_.max_pending_bytes);
  }
  return absl::OkStatus();
}

void ScanSession::CountWaiting(const Query& query, bool add) {
  uint64_t& count = query.waiting_ ? waiting_queries_ : active_queries_;
  uint64_t& bytes = query.waiting_ ? waiting_bytes_ : active_bytes_;
  if (add) {
    ++count;
    bytes += query.bytes_;
  } else {
    --count;
    bytes -= query.bytes_;
  }
}

void ScanSession::Cancel(uint64_t query_id) {
  const auto found = queries_.find(query_id);
  if (found == queries_.end()) return;
  Query* const query = found->second.get();
  if (!query->listed_) {
    query->cancelled_ = true;
    return;
  }
  Unlist(query);
  End(query, Error(absl::StatusCode::kCancelled, reason::kQueryCancelled,
                   absl::StrCat("query ", query_id, " was cancelled by the caller"),
                   {{"query_id", query_id}}));
}

void ScanSession::Close(uint64_t vector_id) {
  const auto found = vectors_.find(vector_id);
  if (found == vectors_.end()) return;
  const std::shared_ptr<Vector> vector = std::move(found->second);
  vectors_.erase(found);
  // One whose bytes are all there is still opened, and its queries answered.
  if (vector->state == Vector::State::kDecoding) closed_early_.insert(vector_id);
  if (vector->state == Vector::State::kUploading) {
    Fail(*vector, UploadIncomplete(vector_id, *vector->upload, "the client has closed it"));
  }
}

void ScanSession::Unlist(Query* query) {
  query->vector_->queries.erase(query->place_);
  query->listed_ = false;
}

void ScanSession::End(Query* query, const absl::Status& status) {
  const uint64_t id = query->request_.query_id();
  std::optional<pb::AnswerEnd> end;
  if (status.ok() && query->answer_ != nullptr) end = query->answer_->End();
  PushDone(id, status, end.has_value() ? &*end : nullptr);
  CountWaiting(*query, /*add=*/false);
  queries_.erase(id);
}

ScanSession::Query* ScanSession::TakeQuery() {
  while (!ready_.empty()) {
    const std::shared_ptr<Vector> vector = std::move(ready_.front());
    ready_.pop_front();
    vector->ready = false;
    if (vector->queries.empty()) continue;
    Query* const query = vector->queries.front();
    Unlist(query);
    MakeReady(vector);
    return query;
  }
  return nullptr;
}

uint64_t ScanSession::NextStepCost() const {
  for (const std::shared_ptr<Vector>& vector : ready_) {
    if (!vector->queries.empty()) return vector->queries.front()->StepCost();
  }
  return 0;
}

std::optional<bytes::Chain> ScanSession::FinishQuery(Query* query, bytes::Chain part) {
  if (query->cancelled_) {
    const uint64_t id = query->request_.query_id();
    End(query,
        Error(absl::StatusCode::kCancelled, reason::kQueryCancelled,
              absl::StrCat("query ", id, " was cancelled by the caller"), {{"query_id", id}}));
    return std::nullopt;
  }
  if (query->finished_) {
    End(query, absl::OkStatus());
  } else {
    const std::shared_ptr<Vector>& vector = query->vector_;
    query->place_ = vector->queries.insert(vector->queries.end(), query);
    query->listed_ = true;
    MakeReady(vector);
  }
  if (part.empty()) return std::nullopt;
  return part;
}

void ScanSession::PushOpened(uint64_t vector_id, const absl::Status& status, const Vector* vector) {
  pb::ScanResponse response;
  pb::VectorOpened& opened = *response.mutable_opened();
  opened.set_vector_id(vector_id);
  *opened.mutable_status() = ToItemStatus(status);
  if (vector != nullptr) {
    *opened.mutable_summary() = Summarize(vector->decoded, vector->bytes_copied);
  }
  Push(response);
}

void ScanSession::PushDone(uint64_t query_id, const absl::Status& status,
                           const pb::AnswerEnd* end) {
  pb::ScanResponse response;
  pb::QueryDone& done = *response.mutable_done();
  done.set_query_id(query_id);
  *done.mutable_status() = ToItemStatus(status);
  if (end != nullptr) *done.mutable_read_end() = *end;
  Push(response);
}

void ScanSession::Push(const pb::ScanResponse& response) {
  control_.push_back(response.SerializeAsString());
}

std::optional<std::string> ScanSession::TakeControl() {
  if (control_.empty()) return std::nullopt;
  std::string message = std::move(control_.front());
  control_.pop_front();
  return message;
}

bool ScanSession::WantsRead() const {
  return !half_closed_ && active_queries_ < limits_.max_pending_queries &&
         active_bytes_ < limits_.max_pending_bytes && control_.size() < kMaxControl &&
         decodes_.size() + decodes_taken_ < limits_.max_pending_queries;
}

bool ScanSession::WaitsForClient() const {
  return active_queries_ == 0 && decodes_.empty() && decodes_taken_ == 0 && control_.empty();
}

bool ScanSession::Idle() const {
  return queries_.empty() && decodes_.empty() && decodes_taken_ == 0 && control_.empty() &&
         uploading_ == 0;
}

ScanSession::DecodeJob::DecodeJob(std::shared_ptr<Vector> vector, bytes::Chain chain,
                                  const format::DecodeOptions& options)
    : vector_(std::move(vector)),
      chain_(std::move(chain)),
      options_(options),
      bytes_(chain_.size()),
      result_(absl::CancelledError("the vector was not decoded: the stream ended")) {}

void ScanSession::DecodeJob::Run() { result_ = format::Decode(std::move(chain_), options_); }

uint64_t ScanSession::Query::StepCost() const {
  switch (request_.kind_case()) {
    case pb::Query::kCheck:
      return kBytesPerItem *
             ItemsLeft(request_.check().positions_size(), next_item_, kPositionsPerCheck);
    case pb::Query::kCount:
      return kBytesPerItem * ItemsLeft(request_.count().ranges_size(), next_item_, kRangesPerCount);
    case pb::Query::kHistogram:
      return kBytesPerItem * histogram_.bucket_count;
    default:
      return kRoaringBytesPerPart;
  }
}

bytes::Chain ScanSession::Query::Step() {
  const roaring::View& view = vector_->decoded.view;
  pb::ScanResponse response;
  pb::QueryPart& part = *response.mutable_part();
  part.set_query_id(request_.query_id());
  switch (request_.kind_case()) {
    case pb::Query::kRead: {
      if (answer_ == nullptr) {
        answer_ = std::make_unique<Answer>(view, read_, request_.query_id());
      }
      bytes::Chain chain;
      if (!answer_->Done()) chain = answer_->Next();
      finished_ = answer_->Done();
      return chain;
    }
    case pb::Query::kCheck: {
      const auto& positions = request_.check().positions();
      const int count = std::min(positions.size() - next_item_, kPositionsPerCheck);
      *part.mutable_check() = Check(
          view,
          absl::Span<const uint64_t>(positions.data() + next_item_, static_cast<size_t>(count)),
          static_cast<uint64_t>(next_item_));
      next_item_ += count;
      finished_ = next_item_ == positions.size();
      break;
    }
    case pb::Query::kCount: {
      const auto& ranges = request_.count().ranges();
      const int end = next_item_ + std::min(ranges.size() - next_item_, kRangesPerCount);
      *part.mutable_count() = Count(view, ranges, next_item_, end);
      next_item_ = end;
      finished_ = next_item_ == ranges.size();
      break;
    }
    case pb::Query::kHistogram:
      *part.mutable_histogram() = MakeHistogram(view, histogram_);
      finished_ = true;
      break;
    case pb::Query::KIND_NOT_SET:
      // Was refused.
      finished_ = true;
      return bytes::Chain();
  }
  return bytes::Chain::Own(response.SerializeAsString());
}

}  // namespace dv::rpc
