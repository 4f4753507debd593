#include "client/scan_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/status.h"

namespace dv::client {

ScanSession::ScanSession(std::shared_ptr<pb::DeletionVectorService::Stub> service,
                         const CallOptions& options)
    : service_(std::move(service)),
      context_(MakeContext(options)),
      stream_(service_->Scan(context_.get())) {}

ScanSession::~ScanSession() {
  if (finished_) return;
  Cancel();
  Finish().IgnoreError();
}

absl::Status ScanSession::Write(const pb::ScanRequest& request) {
  absl::MutexLock lock(&write_mutex_);
  if (half_closed_) {
    return absl::FailedPreconditionError("the session was half-closed: nothing can be sent");
  }
  if (!stream_->Write(request)) {
    return absl::FailedPreconditionError("the stream has ended; Finish() says why");
  }
  return absl::OkStatus();
}

absl::Status ScanSession::Open(pb::OpenVectors vectors) {
  pb::ScanRequest request;
  *request.mutable_open() = std::move(vectors);
  return Write(request);
}

absl::Status ScanSession::OpenInline(uint64_t vector_id, std::string bytes,
                                     pb::DeletionVector about) {
  pb::OpenVectors vectors;
  pb::OpenVector& vector = *vectors.add_vectors();
  vector.set_vector_id(vector_id);
  *vector.mutable_vector() = std::move(about);
  vector.mutable_vector()->set_inline_(std::move(bytes));
  return Open(std::move(vectors));
}

absl::Status ScanSession::OpenChunked(uint64_t vector_id, absl::string_view bytes,
                                      pb::DeletionVector about) {
  if (bytes.empty()) return OpenInline(vector_id, "", std::move(about));
  const auto source = [&bytes](size_t max_bytes) -> absl::StatusOr<std::string> {
    std::string chunk(bytes.substr(0, max_bytes));
    bytes.remove_prefix(chunk.size());
    return chunk;
  };
  return OpenChunked(vector_id, bytes.size(), source, std::move(about));
}

absl::Status ScanSession::OpenChunked(uint64_t vector_id, uint64_t total_size,
                                      const ChunkSource& source, pb::DeletionVector about) {
  if (total_size == 0) return OpenInline(vector_id, "", std::move(about));
  pb::OpenVectors vectors;
  pb::OpenVector& vector = *vectors.add_vectors();
  vector.set_vector_id(vector_id);
  *vector.mutable_vector() = std::move(about);
  vector.mutable_vector()->mutable_chunked()->set_total_size(total_size);
  absl::Status status = Open(std::move(vectors));
  if (!status.ok()) return status;

  pb::ScanRequest request;
  pb::VectorChunk& chunk = *request.mutable_chunk();
  chunk.set_vector_id(vector_id);
  uint64_t sent = 0;
  while (sent < total_size) {
    const size_t wanted = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, total_size - sent));
    absl::StatusOr<std::string> bytes = source(wanted);
    if (bytes.ok() && (bytes->empty() || bytes->size() > wanted)) {
      bytes = absl::InternalError(absl::StrCat("the source gave ", bytes->size(),
                                               " bytes where 1 to ", wanted, " were asked for"));
    }
    if (!bytes.ok()) {
      status = CloseVector(vector_id);
      return status.ok() ? bytes.status() : status;
    }
    chunk.set_offset(sent);
    sent += bytes->size();
    chunk.set_data(*std::move(bytes));
    status = Write(request);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ScanSession::Read(uint64_t query_id, uint64_t vector_id, pb::ReadQuery query) {
  pb::ScanRequest request;
  request.mutable_query()->set_query_id(query_id);
  request.mutable_query()->set_vector_id(vector_id);
  *request.mutable_query()->mutable_read() = std::move(query);
  return Write(request);
}

absl::Status ScanSession::Check(uint64_t query_id, uint64_t vector_id, pb::CheckQuery query) {
  pb::ScanRequest request;
  request.mutable_query()->set_query_id(query_id);
  request.mutable_query()->set_vector_id(vector_id);
  *request.mutable_query()->mutable_check() = std::move(query);
  return Write(request);
}

absl::Status ScanSession::Count(uint64_t query_id, uint64_t vector_id, pb::CountQuery query) {
  pb::ScanRequest request;
  request.mutable_query()->set_query_id(query_id);
  request.mutable_query()->set_vector_id(vector_id);
  *request.mutable_query()->mutable_count() = std::move(query);
  return Write(request);
}

absl::Status ScanSession::Histogram(uint64_t query_id, uint64_t vector_id,
                                    pb::HistogramQuery query) {
  pb::ScanRequest request;
  request.mutable_query()->set_query_id(query_id);
  request.mutable_query()->set_vector_id(vector_id);
  *request.mutable_query()->mutable_histogram() = std::move(query);
  return Write(request);
}

absl::Status ScanSession::CancelQuery(uint64_t query_id) {
  pb::ScanRequest request;
  request.mutable_cancel_query()->set_query_id(query_id);
  return Write(request);
}

absl::Status ScanSession::CloseVector(uint64_t vector_id) {
  pb::ScanRequest request;
  request.mutable_close_vector()->set_vector_id(vector_id);
  return Write(request);
}

absl::Status ScanSession::HalfClose() {
  absl::MutexLock lock(&write_mutex_);
  if (half_closed_) return absl::FailedPreconditionError("the session was half-closed before");
  half_closed_ = true;
  if (!stream_->WritesDone()) {
    return absl::FailedPreconditionError("the stream has ended; Finish() says why");
  }
  return absl::OkStatus();
}

bool ScanSession::Next(pb::ScanResponse* response) {
  if (drained_) return false;
  drained_ = !stream_->Read(response);
  return !drained_;
}

absl::Status ScanSession::Finish() {
  if (finished_) return result_;
  HalfClose().IgnoreError();
  pb::ScanResponse dropped;
  while (Next(&dropped)) {
  }
  finished_ = true;
  result_ = StatusFromGrpc(stream_->Finish());
  return result_;
}

}  // namespace dv::client
