// File: scan_session.h
//
// The stream of a scan worker: opens many vectors and asks any number of queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/call_options.h"
#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "grpcpp/client_context.h"

namespace dv::client {

namespace pb = ::deletionvector::v1;

// ScanSession
//
// One Scan stream. Ids of vectors and of queries are chosen by the caller. Nothing waits for an
// acknowledgement: a query may be sent right after the open of its vector. Each open is answered by
// one `opened`, each query by zero or more `part` and one `done`; between queries there is no
// order.
//
// Read while you write. The server stops reading while too much is unanswered, and then a call that
// writes waits until Next() has taken answers. So a session that sends more than a few queries
// calls Next() in another thread than the one that writes. Calls that write may come from several
// threads, Next() and Finish() from one at a time. No call starts a thread, and nothing is queued
// here.
//
// Calls that write return FAILED_PRECONDITION once the stream has ended or was half-closed: nothing
// was sent, and Finish() says why the stream ended. They never tell the outcome of an item: that
// comes from Next(), as a status in the item's answer (StatusFromItem turns it into an
// absl::Status).
//
// Destroying a session that was not finished cancels it.
//
// Example:
//
//   std::unique_ptr<ScanSession> session = client.Scan();
//   std::thread writer([&session, &blobs] {
//     for (uint64_t id = 0; id < blobs.size(); ++id) {
//       if (!session->OpenChunked(id, blobs[id]).ok()) return;
//       if (!session->Count(id, id, AllPositions()).ok()) return;
//     }
//     session->HalfClose().IgnoreError();
//   });
//   pb::ScanResponse response;
//   while (session->Next(&response)) Use(response);
//   writer.join();
//   absl::Status status = session->Finish();
class ScanSession {
 public:
  // Bytes of a vector that go into one message.
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  // Returns the next bytes of a vector, at least one and at most `max_bytes`, or why there are
  // none.
  using ChunkSource = std::function<absl::StatusOr<std::string>(size_t max_bytes)>;

  // Starts the stream. Client::Scan is the usual way here.
  ScanSession(std::shared_ptr<pb::DeletionVectorService::Stub> service, const CallOptions& options);
  ~ScanSession();
  ScanSession(const ScanSession&) = delete;
  ScanSession& operator=(const ScanSession&) = delete;

  // Opens vectors, from any source. References in one call are planned together by the server.
  absl::Status Open(pb::OpenVectors vectors);

  // Opens one vector whose bytes travel in this very message. `about` says what is known of the
  // vector, its format, cardinality and row count; its source is replaced.
  absl::Status OpenInline(uint64_t vector_id, std::string bytes, pb::DeletionVector about = {});

  // Opens one vector and sends its bytes in chunks. An empty vector goes inline: an upload of no
  // byte is none.
  absl::Status OpenChunked(uint64_t vector_id, absl::string_view bytes,
                           pb::DeletionVector about = {});

  // The same for `total_size` bytes that come from `source`, chunk by chunk, so that they never lie
  // in memory all at once. `source` is called until it has given them all. If it fails, the vector
  // is closed, which answers queries on it with CANCELLED, and its error is returned; the session
  // goes on.
  absl::Status OpenChunked(uint64_t vector_id, uint64_t total_size, const ChunkSource& source,
                           pb::DeletionVector about = {});

  // Ask something of a vector.
  absl::Status Read(uint64_t query_id, uint64_t vector_id, pb::ReadQuery query);
  absl::Status Check(uint64_t query_id, uint64_t vector_id, pb::CheckQuery query);
  absl::Status Count(uint64_t query_id, uint64_t vector_id, pb::CountQuery query);
  absl::Status Histogram(uint64_t query_id, uint64_t vector_id, pb::HistogramQuery query);

  // Gives up a query: its `done` follows, with CANCELLED unless it was on its way already.
  absl::Status CancelQuery(uint64_t query_id);

  // Forgets a vector and frees its id. Queries sent before are still answered, unless they wait for
  // a vector that is still loading.
  absl::Status CloseVector(uint64_t vector_id);

  // Says that nothing more will be sent. The server answers what is pending and then ends the
  // stream.
  absl::Status HalfClose();

  // Waits for the next message and writes it to `response`. Returns false when none follows.
  bool Next(pb::ScanResponse* response);

  // Returns how the stream ended. Half-closes it if that was not done, and drops answers that
  // Next() has not taken. REQUIRES: no other call is going on.
  absl::Status Finish();

  // Gives the stream up, from any thread: all that waits returns soon, and Finish() returns
  // CANCELLED.
  void Cancel() { context_->TryCancel(); }

 private:
  absl::Status Write(const pb::ScanRequest& request);

  const std::shared_ptr<pb::DeletionVectorService::Stub> service_;
  // Declared before the stream, which uses it to its last moment.
  const std::unique_ptr<grpc::ClientContext> context_;
  const std::unique_ptr<grpc::ClientReaderWriter<pb::ScanRequest, pb::ScanResponse>> stream_;
  // Held during each write: gRPC takes one at a time.
  absl::Mutex write_mutex_;
  bool half_closed_ ABSL_GUARDED_BY(write_mutex_) = false;
  // Whether no answer follows any more.
  bool drained_ = false;
  bool finished_ = false;
  absl::Status result_;
};

}  // namespace dv::client
