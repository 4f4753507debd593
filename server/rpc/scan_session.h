// File: scan_session.h
//
// What a Scan means, without a network: vectors under ids, queries that wait for them, and
// responses one at a time. The stream around it (scan_call.h) reads, writes and finds threads.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "deletionvector/v1/scan.pb.h"
#include "server/bytes/chain.h"
#include "server/format/decode.h"
#include "server/rpc/answer.h"
#include "server/rpc/limits.h"
#include "server/rpc/request.h"
#include "server/rpc/upload.h"

namespace dv::rpc {

// ScanSession
//
// One Scan. Not safe for use by several threads at once: the stream holds a lock around every call.
// The two that take time, DecodeJob::Run() and Query::Step(), are meant to be called without it,
// while the session goes on.
//
// Example, for a caller that does everything in turn:
//
//   absl::Status status = session.Handle(std::move(request), std::move(payloads), in_place);
//   while (auto job = session.TakeDecode()) {
//     job->Run();
//     session.FinishDecode(*job);
//   }
//   while (true) {
//     if (auto message = session.TakeControl()) { Send(*message); continue; }
//     ScanSession::Query* query = session.TakeQuery();
//     if (query == nullptr) break;
//     auto part = session.FinishQuery(query, query->Step());
//     if (part.has_value()) Send(*part);
//   }
class ScanSession {
 public:
  struct Vector;
  class DecodeJob;
  class Query;

  explicit ScanSession(const Limits& limits);
  ~ScanSession();

  ScanSession(const ScanSession&) = delete;
  ScanSession& operator=(const ScanSession&) = delete;

  // Takes in one request with the bytes of its vectors, and whether these lie where they were
  // received. What is wrong with one item is told in its answer; an error ends the stream.
  absl::Status Handle(deletionvector::v1::ScanRequest request, std::vector<bytes::Chain> payloads,
                      bool in_place);

  // Takes in that no more requests come: uploads that are not complete fail.
  void HalfClose();

  // Returns a vector to decode, if there is one. Each must come back to FinishDecode(), decoded or
  // not.
  std::unique_ptr<DecodeJob> TakeDecode();
  void FinishDecode(DecodeJob& job);

  // Returns the next `opened` or `done`, serialised, if there is one.
  std::optional<std::string> TakeControl();

  // Returns the query whose turn it is, if any: vectors take turns, and so do the queries of one
  // vector. It must come back to FinishQuery() after one Step(), and stays valid until then.
  Query* TakeQuery();

  // Takes in a part that Step() made, and returns it if it is to be sent: it may be empty, and the
  // query may have been cancelled meanwhile.
  std::optional<bytes::Chain> FinishQuery(Query* query, bytes::Chain part);

  // Work units of the step of the query whose turn it is; 0 without one.
  uint64_t NextStepCost() const;

  // Whether there is room for another request. It is there again once answers were taken, whatever
  // the client does.
  bool WantsRead() const;

  // Whether nothing is under way: no query, no vector that is loading, nothing to send.
  bool Idle() const;

  // Whether nothing can go on before the client sends more: idle, or uploads are all that is under
  // way.
  bool WaitsForClient() const;

  // Whether the stream is at its end: half-closed and idle.
  bool Done() const { return half_closed_ && Idle(); }

 private:
  void Open(const deletionvector::v1::OpenVectors& open, std::vector<bytes::Chain> payloads,
            bool in_place);
  void OpenOne(const deletionvector::v1::OpenVector& open, size_t index, bytes::Chain payload,
               bool in_place);
  absl::Status Admit(Vector& vector, uint64_t bytes);
  void Chunk(const deletionvector::v1::VectorChunk& chunk, const bytes::Chain& data, bool in_place);
  void Ask(deletionvector::v1::Query query);
  void Cancel(uint64_t query_id);
  void Close(uint64_t vector_id);

  void ScheduleDecode(const std::shared_ptr<Vector>& vector, bytes::Chain chain);
  void Fail(Vector& vector, const absl::Status& status);
  void MakeReady(const std::shared_ptr<Vector>& vector);
  void PushOpened(uint64_t vector_id, const absl::Status& status, const Vector* vector);
  void PushDone(uint64_t query_id, const absl::Status& status,
                const deletionvector::v1::AnswerEnd* end);
  void Push(const deletionvector::v1::ScanResponse& response);
  // Ends a query that is in no list and under no step.
  void End(Query* query, const absl::Status& status);
  // Takes a query out of the list that it waits in.
  void Unlist(Query* query);
  void CountWaiting(const Query& query, bool add);
  // Whether one more query may wait for an upload.
  absl::Status CheckWaiting() const;

  const Limits limits_;
  bool half_closed_ = false;

  // Vectors that exist, open or not, until the last query about them is done; and the bytes that
  // they hold.
  uint64_t vector_count_ = 0;
  uint64_t vector_bytes_ = 0;
  uint64_t uploading_ = 0;

  // Queries that are not done, by what they wait for: the client's chunks, or this server.
  uint64_t waiting_queries_ = 0;
  uint64_t waiting_bytes_ = 0;
  uint64_t active_queries_ = 0;
  uint64_t active_bytes_ = 0;

  absl::flat_hash_map<uint64_t, std::shared_ptr<Vector>> vectors_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Query>> queries_;
  // Ids that were closed before their `opened` was made. In use until then, lest it be taken for
  // that of the next vector.
  absl::flat_hash_set<uint64_t> closed_early_;
  // Vectors with queries that can go on, in the order of their turns.
  std::list<std::shared_ptr<Vector>> ready_;
  std::deque<std::unique_ptr<DecodeJob>> decodes_;
  uint64_t decodes_taken_ = 0;
  std::deque<std::string> control_;
};

// A vector to decode.
class ScanSession::DecodeJob {
 public:
  DecodeJob(std::shared_ptr<Vector> vector, bytes::Chain chain,
            const format::DecodeOptions& options);

  uint64_t bytes() const { return bytes_; }

  // Decodes. Needs no lock.
  void Run();

 private:
  friend class ScanSession;

  std::shared_ptr<Vector> vector_;
  bytes::Chain chain_;
  const format::DecodeOptions options_;
  const uint64_t bytes_;
  absl::StatusOr<format::DecodedVector> result_;
};

// A query.
class ScanSession::Query {
 public:
  // Makes the next part, or an empty chain when there is none. Needs no lock.
  bytes::Chain Step();

  // About how many bytes of a vector a step looks at.
  uint64_t StepCost() const;

 private:
  friend class ScanSession;

  deletionvector::v1::Query request_;
  // Size of the request.
  uint64_t bytes_ = 0;
  ReadSpec read_;
  HistogramSpec histogram_;
  std::shared_ptr<Vector> vector_;
  // Set at the first step of a ReadQuery.
  std::unique_ptr<Answer> answer_;
  // Items of the request that were answered.
  int next_item_ = 0;
  bool finished_ = false;

  // Where it waits: at its vector, unless under a step.
  bool listed_ = false;
  std::list<Query*>::iterator place_;
  bool waiting_ = false;
  bool cancelled_ = false;
};

}  // namespace dv::rpc
