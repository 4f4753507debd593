#include "server/rpc/scan_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/rpc/wire.h"
#include "tests/rpc/requests.h"
#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/status_matchers.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::HasCode;
using dv::testing::HasReason;
using dv::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A worker at the other end of a session.
class Worker {
 public:
  explicit Worker(const Limits& limits = Limits()) : session_(limits) {}

  ScanSession& session() { return session_; }

  // Sends a request as if it had come over the wire.
  absl::Status Send(const pb::ScanRequest& request) {
    auto parsed = ParseRequest<pb::ScanRequest>(InOnePiece(request.SerializeAsString()), 1'000'000);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return session_.Handle(std::move(parsed->message), std::move(parsed->payloads),
                           parsed->in_place);
  }

  void Open(uint64_t id, const std::string& blob) {
    pb::ScanRequest request;
    pb::OpenVector& open = *request.mutable_open()->add_vectors();
    open.set_vector_id(id);
    open.mutable_vector()->set_inline_(blob);
    EXPECT_THAT(Send(request), IsOk());
  }

  void OpenChunked(uint64_t id, uint64_t total_size) {
    pb::ScanRequest request;
    pb::OpenVector& open = *request.mutable_open()->add_vectors();
    open.set_vector_id(id);
    open.mutable_vector()->mutable_chunked()->set_total_size(total_size);
    EXPECT_THAT(Send(request), IsOk());
  }

  void Chunk(uint64_t id, uint64_t offset, const std::string& data) {
    pb::ScanRequest request;
    request.mutable_chunk()->set_vector_id(id);
    request.mutable_chunk()->set_offset(offset);
    request.mutable_chunk()->set_data(data);
    EXPECT_THAT(Send(request), IsOk());
  }

  // Starts a query; its kind is to be set.
  static pb::ScanRequest Query(uint64_t query_id, uint64_t vector_id) {
    pb::ScanRequest request;
    request.mutable_query()->set_query_id(query_id);
    request.mutable_query()->set_vector_id(vector_id);
    return request;
  }

  void Read(uint64_t query_id, uint64_t vector_id) {
    pb::ScanRequest request = Query(query_id, vector_id);
    request.mutable_query()->mutable_read();
    EXPECT_THAT(Send(request), IsOk());
  }

  void Check(uint64_t query_id, uint64_t vector_id, const std::vector<uint64_t>& positions) {
    pb::ScanRequest request = Query(query_id, vector_id);
    request.mutable_query()->mutable_check()->mutable_positions()->Add(positions.begin(),
                                                                       positions.end());
    EXPECT_THAT(Send(request), IsOk());
  }

  void Cancel(uint64_t query_id) {
    pb::ScanRequest request;
    request.mutable_cancel_query()->set_query_id(query_id);
    EXPECT_THAT(Send(request), IsOk());
  }

  void Close(uint64_t vector_id) {
    pb::ScanRequest request;
    request.mutable_close_vector()->set_vector_id(vector_id);
    EXPECT_THAT(Send(request), IsOk());
  }

  // Does all decodes that there are.
  void Decode() {
    while (std::unique_ptr<ScanSession::DecodeJob> job = session_.TakeDecode()) {
      job->Run();
      session_.FinishDecode(*job);
    }
  }

  // Returns the next response without decoding anything.
  std::optional<pb::ScanResponse> Next() {
    while (true) {
      pb::ScanResponse response;
      if (const std::optional<std::string> message = session_.TakeControl()) {
        EXPECT_TRUE(response.ParseFromString(*message));
        return response;
      }
      ScanSession::Query* const query = session_.TakeQuery();
      if (query == nullptr) return std::nullopt;
      bytes::Chain part = query->Step();
      const std::optional<bytes::Chain> taken = session_.FinishQuery(query, std::move(part));
      if (!taken.has_value()) continue;
      EXPECT_LE(taken->size(), (size_t{256} << 10) + 200);
      EXPECT_TRUE(response.ParseFromString(taken->ToString()));
      return response;
    }
  }

  // Does everything that can be done and sorts the responses.
  void Run() {
    while (true) {
      Decode();
      const std::optional<pb::ScanResponse> response = Next();
      if (!response.has_value()) return;
      Take(*response);
    }
  }

  void Take(const pb::ScanResponse& response) {
    switch (response.response_case()) {
      case pb::ScanResponse::kOpened:
        opened[response.opened().vector_id()].push_back(response.opened());
        break;
      case pb::ScanResponse::kPart:
        for (const pb::QueryDone& end : done[response.part().query_id()]) {
          EXPECT_NE(end.status().code(), 0) << "a part after done";
        }
        parts[response.part().query_id()].push_back(response.part());
        order.push_back(response.part().query_id());
        break;
      case pb::ScanResponse::kDone:
        done[response.done().query_id()].push_back(response.done());
        break;
      case pb::ScanResponse::RESPONSE_NOT_SET:
        ADD_FAILURE() << "an empty response";
        break;
    }
  }

  // The reason of the only `opened`, or "OK".
  std::string Opened(uint64_t id) {
    if (opened[id].size() != 1) return "not one";
    const pb::ItemStatus& status = opened[id][0].status();
    EXPECT_EQ(status.code() == 0, opened[id][0].has_summary());
    return status.code() == 0 ? "OK" : status.reason();
  }

  // The reason of the only `done`, or "OK".
  std::string Done(uint64_t id) {
    if (done[id].size() != 1) return "not one";
    return done[id][0].status().code() == 0 ? "OK" : done[id][0].status().reason();
  }

  std::map<uint64_t, std::vector<pb::VectorOpened>> opened;
  std::map<uint64_t, std::vector<pb::QueryPart>> parts;
  std::map<uint64_t, std::vector<pb::QueryDone>> done;
  // Queries in the order of their parts.
  std::vector<uint64_t> order;

 private:
  ScanSession session_;
};

std::string Broken() { return dv::testing::BugVectorBytes("A12"); }

TEST(ScanSession, AnswersEveryKindOfQuery) {
  Worker worker;
  worker.Open(1, SmallBlob());
  worker.Read(10, 1);
  worker.Check(11, 1, {5, 4, 3});
  pb::ScanRequest count = Worker::Query(12, 1);
  count.mutable_query()->mutable_count()->add_ranges()->set_end(2);
  count.mutable_query()->mutable_count()->add_ranges();
  EXPECT_THAT(worker.Send(count), IsOk());
  pb::ScanRequest histogram = Worker::Query(13, 1);
  histogram.mutable_query()->mutable_histogram()->set_bucket_count(2);
  histogram.mutable_query()->mutable_histogram()->set_row_count(4);
  EXPECT_THAT(worker.Send(histogram), IsOk());
  worker.Run();

  EXPECT_EQ(worker.Opened(1), "OK");
  EXPECT_EQ(worker.opened[1][0].summary().cardinality(), 3u);
  EXPECT_EQ(worker.opened[1][0].summary().bytes_copied(), 46u) << "small ones are copied";
  for (const uint64_t id : {10, 11, 12, 13}) EXPECT_EQ(worker.Done(id), "OK") << id;
  ASSERT_EQ(worker.parts[10].size(), 1u);
  EXPECT_THAT(worker.parts[10][0].read().positions().values(), ElementsAre(1, 3, 5));
  EXPECT_EQ(worker.done[10][0].read_end().position_count(), 3u);
  EXPECT_EQ(worker.parts[11][0].check().deleted(), "\x05");
  EXPECT_FALSE(worker.done[11][0].has_read_end());
  EXPECT_THAT(worker.parts[12][0].count().counts(), ElementsAre(1, 3));
  EXPECT_THAT(worker.parts[13][0].histogram().counts(), ElementsAre(1, 1));
  EXPECT_EQ(worker.parts[13][0].histogram().beyond_count(), 1u);
  EXPECT_FALSE(worker.session().Done());
  worker.session().HalfClose();
  EXPECT_TRUE(worker.session().Done());
}

TEST(ScanSession, AnIdIsInUseUntilItsOpenedWasMade) {
  Worker worker;
  worker.Open(1, SmallBlob());
  worker.Read(5, 1);
  worker.Close(1);
  // Else this one could not be told from the first by its `opened`.
  worker.Open(1, SmallBlob());
  worker.Run();
  ASSERT_EQ(worker.opened[1].size(), 2u);
  EXPECT_EQ(worker.opened[1][0].status().reason(), "VECTOR_ID_IN_USE");
  EXPECT_EQ(worker.opened[1][1].status().code(), 0);
  EXPECT_EQ(worker.Done(5), "OK") << "asked before the close";
  worker.Open(1, SmallBlob());
  worker.Run();
  ASSERT_EQ(worker.opened[1].size(), 3u);
  EXPECT_EQ(worker.opened[1][2].status().code(), 0);
}

TEST(ScanSession, OneMessageCannotCostMoreAnswersThanAStreamHasVectors) {
  Limits limits;
  limits.max_open_vectors = 3;
  Worker worker(limits);
  pb::ScanRequest request;
  for (int i = 0; i < 4; ++i) request.mutable_open()->add_vectors();
  EXPECT_THAT(worker.Send(request), HasReason("TOO_MANY_VECTORS"));
}

TEST(ScanSession, TheIndexIsInTheBudget) {
  // Containers of one value: the index is larger than the bitmap.
  dv::testing::Bitmap32 bitmap;
  for (uint32_t key = 0; key < 1000; ++key) {
    bitmap.containers.push_back(dv::testing::Array(key, {7}));
  }
  const std::string blob = dv::testing::FrameOf(dv::testing::OneBucket(0, bitmap).Bytes());
  Limits limits;
  limits.max_open_bytes = blob.size() + 1000 * 24 - 1;
  Worker worker(limits);
  worker.Open(1, blob);
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "TOO_MANY_OPEN_BYTES");
  // What it held is given back.
  worker.Open(2, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.Opened(2), "OK");
}

TEST(ScanSession, AnEmptyAnswerIsAnAnswer) {
  Worker worker;
  worker.Open(1, SmallBlob());
  pb::ScanRequest read = Worker::Query(1, 1);
  read.mutable_query()->mutable_read()->mutable_range()->set_start(6);
  EXPECT_THAT(worker.Send(read), IsOk());
  worker.Check(2, 1, {});
  worker.Run();
  EXPECT_THAT(worker.parts[1], IsEmpty());
  EXPECT_TRUE(worker.done[1][0].has_read_end());
  EXPECT_EQ(worker.Done(1), "OK");
  EXPECT_EQ(worker.Done(2), "OK");
}

TEST(ScanSession, QueriesWaitForTheVector) {
  Worker worker;
  const std::string blob = SmallBlob();
  worker.OpenChunked(1, blob.size());
  worker.Read(5, 1);
  worker.Run();
  EXPECT_THAT(worker.opened, IsEmpty());
  EXPECT_THAT(worker.done, IsEmpty());
  worker.Chunk(1, 0, blob.substr(0, 7));
  worker.Chunk(1, 7, "");
  worker.Chunk(1, 7, blob.substr(7));
  worker.Read(6, 1);
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "OK");
  EXPECT_EQ(worker.Done(5), "OK");
  EXPECT_EQ(worker.Done(6), "OK");
  EXPECT_EQ(worker.opened[1][0].summary().bytes_copied(), blob.size());
}

TEST(ScanSession, BigVectorsAreNotCopied) {
  Worker worker;
  const BigBlob blob = MakeBigBlob(200'000);
  worker.Open(1, blob.bytes);
  worker.OpenChunked(2, blob.bytes.size());
  worker.Chunk(2, 0, blob.bytes.substr(0, 100'000));
  worker.Chunk(2, 100'000, blob.bytes.substr(100'000, 10));
  worker.Chunk(2, 100'010, blob.bytes.substr(100'010));
  worker.Run();
  for (const uint64_t id : {1, 2}) {
    ASSERT_EQ(worker.Opened(id), "OK");
    EXPECT_EQ(worker.opened[id][0].summary().cardinality(), blob.cardinality);
  }
  EXPECT_EQ(worker.opened[1][0].summary().bytes_copied(), 0u);
  EXPECT_EQ(worker.opened[2][0].summary().bytes_copied(), 10u);
}

TEST(ScanSession, QueriesFailWithTheirVector) {
  Worker worker;
  worker.Open(1, Broken());
  worker.Read(5, 1);
  worker.Run();
  worker.Read(6, 1);
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "CRC_MISMATCH");
  EXPECT_EQ(worker.opened[1][0].status().code(), 3) << "bytes of the caller: INVALID_ARGUMENT";
  EXPECT_EQ(worker.Done(5), "CRC_MISMATCH");
  EXPECT_EQ(worker.Done(6), "CRC_MISMATCH");
  EXPECT_THAT(worker.parts, IsEmpty());
  // The id is in use until it is closed.
  worker.Open(1, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.opened[1].back().status().reason(), "VECTOR_ID_IN_USE");
  worker.Close(1);
  worker.Open(1, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.opened[1].back().status().code(), 0);
}

TEST(ScanSession, ItemsFailOneByOne) {
  Worker worker;
  pb::ScanRequest request;
  for (uint64_t id = 0; id < 5; ++id) request.mutable_open()->add_vectors()->set_vector_id(id);
  pb::OpenVectors& open = *request.mutable_open();
  open.mutable_vectors(0)->mutable_vector()->set_inline_(SmallBlob());
  open.mutable_vectors(1)->mutable_vector()->mutable_object()->set_location("s3://b/k");
  // 2 has no vector.
  open.mutable_vectors(3)->mutable_vector()->set_inline_(Broken());
  open.mutable_vectors(4)->mutable_vector()->set_inline_(SmallBlob());
  open.mutable_vectors(4)->mutable_vector()->set_expected_cardinality(4);
  EXPECT_THAT(worker.Send(request), IsOk());
  worker.Run();
  EXPECT_EQ(worker.Opened(0), "OK");
  EXPECT_EQ(worker.Opened(1), "NOT_IMPLEMENTED");
  EXPECT_EQ(worker.Opened(2), "FIELD_REQUIRED");
  EXPECT_EQ(worker.opened[2][0].status().metadata().at("field"), "open.vectors[2].vector");
  EXPECT_EQ(worker.Opened(3), "CRC_MISMATCH");
  EXPECT_EQ(worker.Opened(4), "CARDINALITY_MISMATCH");
}

TEST(ScanSession, IdsInUse) {
  Worker worker;
  worker.Open(1, SmallBlob());
  worker.Open(1, Broken());
  worker.Read(7, 1);
  worker.Check(7, 1, {1});
  worker.Run();
  ASSERT_EQ(worker.opened[1].size(), 2u);
  EXPECT_EQ(worker.opened[1][0].status().reason(), "VECTOR_ID_IN_USE");
  EXPECT_EQ(worker.opened[1][0].status().code(), 6);
  EXPECT_EQ(worker.opened[1][1].status().code(), 0) << "the first one is not affected";
  ASSERT_EQ(worker.done[7].size(), 2u);
  EXPECT_EQ(worker.done[7][0].status().reason(), "QUERY_ID_IN_USE");
  EXPECT_EQ(worker.done[7][1].status().code(), 0);
  // A query id is free once the query is done.
  for (int i = 0; i < 2; ++i) {
    worker.Read(8, 1);
    worker.Run();
    EXPECT_EQ(worker.Done(8), "OK");
    worker.done.clear();
  }
}

TEST(ScanSession, ChunksThatDoNotFit) {
  const std::string blob = SmallBlob();
  Worker worker;
  worker.OpenChunked(1, blob.size());
  worker.Read(1, 1);
  worker.Chunk(1, 1, blob);
  worker.OpenChunked(2, 10);
  worker.Chunk(2, 0, "12345");
  worker.Chunk(2, 5, "678901");
  // A repeated chunk.
  worker.OpenChunked(3, 10);
  worker.Chunk(3, 0, "12345");
  worker.Chunk(3, 0, "12345");
  // Dropped: failed, never opened, open.
  worker.Chunk(1, 0, blob);
  worker.Chunk(9, 0, blob);
  worker.Open(4, blob);
  worker.Run();
  worker.Chunk(4, 0, blob);
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "CHUNK_OUT_OF_ORDER");
  EXPECT_EQ(worker.opened[1][0].status().metadata().at("found"), "1");
  EXPECT_EQ(worker.opened[1][0].status().metadata().at("expected"), "0");
  EXPECT_EQ(worker.Done(1), "CHUNK_OUT_OF_ORDER");
  EXPECT_EQ(worker.Opened(2), "CHUNK_PAST_TOTAL_SIZE");
  EXPECT_EQ(worker.Opened(3), "CHUNK_OUT_OF_ORDER");
  EXPECT_EQ(worker.Opened(4), "OK");
  EXPECT_EQ(worker.opened.count(9), 0u);
}

TEST(ScanSession, CloseForgetsAVector) {
  const std::string blob = SmallBlob();
  Worker worker;
  // Open: its queries are still answered.
  worker.Open(1, blob);
  worker.Decode();
  worker.Read(1, 1);
  worker.Close(1);
  worker.Read(2, 1);
  // All bytes are there: opened and answered.
  worker.Open(2, blob);
  worker.Read(3, 2);
  worker.Close(2);
  // Still loading: fails.
  worker.OpenChunked(3, blob.size());
  worker.Read(4, 3);
  worker.Close(3);
  worker.Chunk(3, 0, blob);
  // Unknown.
  worker.Close(77);
  worker.Run();
  EXPECT_EQ(worker.Done(1), "OK");
  EXPECT_EQ(worker.Done(2), "VECTOR_NOT_OPEN");
  EXPECT_EQ(worker.Opened(2), "OK");
  EXPECT_EQ(worker.Done(3), "OK");
  EXPECT_EQ(worker.Opened(3), "UPLOAD_INCOMPLETE");
  EXPECT_EQ(worker.opened[3][0].status().code(), 1);
  EXPECT_EQ(worker.Done(4), "UPLOAD_INCOMPLETE");
  EXPECT_EQ(worker.opened.count(77), 0u);
}

TEST(ScanSession, CancelledQueries) {
  const BigBlob blob = MakeBigBlob(300'000);
  Worker worker;
  worker.OpenChunked(1, 5);
  worker.Read(1, 1);
  worker.Cancel(1);  // waits for its vector
  worker.Open(2, blob.bytes);
  worker.Read(2, 2);
  worker.Cancel(99);
  worker.Decode();
  // One part, then the cancel.
  ScanSession::Query* const query = worker.session().TakeQuery();
  ASSERT_NE(query, nullptr);
  bytes::Chain part = query->Step();
  worker.Cancel(2);  // under a step
  worker.Read(2, 2);
  EXPECT_FALSE(worker.session().FinishQuery(query, std::move(part)).has_value());
  worker.Read(3, 2);
  worker.Run();
  EXPECT_EQ(worker.Done(1), "QUERY_CANCELLED");
  EXPECT_EQ(worker.done[1][0].status().code(), 1);
  ASSERT_EQ(worker.done[2].size(), 2u);
  EXPECT_EQ(worker.done[2][0].status().reason(), "QUERY_ID_IN_USE");
  EXPECT_EQ(worker.done[2][1].status().reason(), "QUERY_CANCELLED");
  EXPECT_EQ(worker.Done(3), "OK");
  EXPECT_EQ(worker.done.count(99), 0u);
  EXPECT_THAT(worker.parts[2], IsEmpty());
}

TEST(ScanSession, HalfCloseFailsWhatIsIncomplete) {
  const std::string blob = SmallBlob();
  Worker worker;
  worker.OpenChunked(1, blob.size());
  worker.Chunk(1, 0, blob.substr(0, 10));
  worker.Read(1, 1);
  worker.Open(2, blob);
  worker.Read(2, 2);
  worker.session().HalfClose();
  EXPECT_FALSE(worker.session().Done());
  EXPECT_FALSE(worker.session().WantsRead());
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "UPLOAD_INCOMPLETE");
  EXPECT_EQ(worker.opened[1][0].status().metadata().at("found"), "10");
  EXPECT_EQ(worker.Done(1), "UPLOAD_INCOMPLETE");
  EXPECT_EQ(worker.Done(2), "OK");
  EXPECT_TRUE(worker.session().Done());
}

TEST(ScanSession, AMessageWithNothingInItEndsTheStream) {
  Worker worker;
  const absl::Status status = worker.Send(pb::ScanRequest());
  EXPECT_THAT(status, HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(status, HasReason("REQUEST_MALFORMED"));
}

TEST(ScanSession, QueriesThatMakeNoSense) {
  Worker worker;
  worker.Open(1, SmallBlob());
  EXPECT_THAT(worker.Send(Worker::Query(1, 1)), IsOk());
  pb::ScanRequest mask = Worker::Query(2, 1);
  mask.mutable_query()->mutable_read()->set_encoding(pb::ENCODING_MASK);
  EXPECT_THAT(worker.Send(mask), IsOk());
  pb::ScanRequest count = Worker::Query(3, 1);
  count.mutable_query()->mutable_count()->add_ranges()->set_start(5);
  count.mutable_query()->mutable_count()->mutable_ranges(0)->set_end(4);
  EXPECT_THAT(worker.Send(count), IsOk());
  pb::ScanRequest histogram = Worker::Query(4, 1);
  histogram.mutable_query()->mutable_histogram()->set_bucket_count(1);
  EXPECT_THAT(worker.Send(histogram), IsOk());
  worker.Run();
  EXPECT_EQ(worker.Done(1), "FIELD_REQUIRED");
  EXPECT_EQ(worker.Done(2), "MASK_NEEDS_END");
  EXPECT_EQ(worker.done[2][0].status().metadata().at("field"), "query.read.range.end");
  EXPECT_EQ(worker.Done(3), "RANGE_INVALID");
  EXPECT_EQ(worker.Done(4), "FIELD_REQUIRED");
}

TEST(ScanSession, LongAnswersComeInParts) {
  const BigBlob blob = MakeBigBlob(300'000);
  Worker worker;
  worker.Open(1, blob.bytes);
  worker.Read(1, 1);
  std::vector<uint64_t> positions;
  for (uint64_t i = 0; i < 200'000; ++i) positions.push_back(i);
  worker.Check(2, 1, positions);
  pb::ScanRequest count = Worker::Query(3, 1);
  for (int i = 0; i < 40'000; ++i) {
    count.mutable_query()->mutable_count()->add_ranges()->set_end(static_cast<uint64_t>(i));
  }
  EXPECT_THAT(worker.Send(count), IsOk());
  worker.Run();
  uint64_t next = 0;
  uint64_t deleted = 0;
  for (const pb::QueryPart& part : worker.parts[2]) {
    EXPECT_EQ(part.check().first_index(), next);
    next += part.check().position_count();
    deleted += part.check().deleted_count();
  }
  EXPECT_EQ(next, 200'000u);
  EXPECT_EQ(deleted, 100'000u) << "every second row";
  EXPECT_GT(worker.parts[2].size(), 1u);
  std::vector<uint64_t> counts;
  for (const pb::QueryPart& part : worker.parts[3]) {
    EXPECT_EQ(part.count().first_index(), counts.size());
    counts.insert(counts.end(), part.count().counts().begin(), part.count().counts().end());
  }
  EXPECT_GT(worker.parts[3].size(), 1u);
  ASSERT_EQ(counts.size(), 40'000u);
  for (uint64_t i = 0; i < counts.size(); ++i) ASSERT_EQ(counts[i], (i + 1) / 2);
  EXPECT_GT(worker.parts[1].size(), 1u);
  EXPECT_EQ(worker.done[1][0].read_end().position_count(), blob.cardinality);
}

TEST(ScanSession, VectorsAndQueriesTakeTurns) {
  const BigBlob blob = MakeBigBlob(400'000);
  Worker worker;
  worker.Open(1, blob.bytes);
  worker.Open(2, blob.bytes);
  worker.Open(3, SmallBlob());
  worker.Decode();
  worker.Read(10, 1);
  worker.Read(11, 1);
  worker.Read(20, 2);
  worker.Read(30, 3);
  worker.Run();
  ASSERT_GE(worker.order.size(), 8u);
  const std::vector<uint64_t> begin(worker.order.begin(), worker.order.begin() + 7);
  EXPECT_THAT(begin, ElementsAre(10, 20, 30, 11, 20, 10, 20));
}

TEST(ScanSession, LimitsOfVectors) {
  Limits limits;
  limits.max_open_vectors = 2;
  limits.max_vector_bytes = 100;
  limits.max_open_bytes = 150;
  Worker worker(limits);
  worker.OpenChunked(1, 101);
  worker.OpenChunked(2, 100);
  worker.OpenChunked(3, 1);
  worker.Run();
  EXPECT_EQ(worker.Opened(1), "VECTOR_TOO_LARGE");
  EXPECT_EQ(worker.Opened(3), "TOO_MANY_VECTORS");
  EXPECT_EQ(worker.opened[3][0].status().metadata().at("limit"), "--max_open_vectors");
  // An id that was refused so is not in use. A failed one is.
  worker.Close(1);
  worker.opened.clear();
  worker.OpenChunked(3, 51);
  worker.Run();
  EXPECT_EQ(worker.Opened(3), "TOO_MANY_OPEN_BYTES");
  EXPECT_EQ(worker.opened[3][0].status().metadata().at("found"), "151");
  worker.Close(3);
  worker.Open(4, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.Opened(4), "TOO_MANY_OPEN_BYTES");
  worker.Close(2);
  worker.Close(4);
  worker.opened.clear();
  worker.Open(4, SmallBlob());
  worker.Open(5, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.Opened(4), "OK");
  EXPECT_EQ(worker.Opened(5), "OK");
}

TEST(ScanSession, AClosedVectorCountsUntilItsQueriesAreDone) {
  Limits limits;
  limits.max_open_bytes = 75;
  Worker worker(limits);
  worker.Open(1, SmallBlob());
  worker.Decode();
  worker.Read(1, 1);
  worker.Close(1);
  worker.Open(2, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.Opened(2), "TOO_MANY_OPEN_BYTES");
  EXPECT_EQ(worker.Done(1), "OK");
  worker.Open(3, SmallBlob());
  worker.Run();
  EXPECT_EQ(worker.Opened(3), "OK");
}

TEST(ScanSession, StopsReadingWhileTooMuchIsPending) {
  Limits limits;
  limits.max_pending_queries = 3;
  Worker worker(limits);
  worker.Open(1, SmallBlob());
  worker.Run();
  for (uint64_t id = 0; id < 3; ++id) {
    EXPECT_TRUE(worker.session().WantsRead());
    worker.Read(id, 1);
  }
  EXPECT_FALSE(worker.session().WantsRead());
  worker.Run();
  EXPECT_TRUE(worker.session().WantsRead());

  limits = Limits();
  limits.max_pending_bytes = 5'000;
  Worker bytes(limits);
  bytes.Open(1, SmallBlob());
  bytes.Run();
  bytes.Check(1, 1, std::vector<uint64_t>(1'000, 5));
  EXPECT_FALSE(bytes.session().WantsRead());
  bytes.Run();
  EXPECT_TRUE(bytes.session().WantsRead());
}

TEST(ScanSession, GoesOnReadingForTheChunksThatQueriesWaitFor) {
  Limits limits;
  limits.max_pending_queries = 3;
  Worker worker(limits);
  worker.OpenChunked(1, SmallBlob().size());
  for (uint64_t id = 0; id < 5; ++id) {
    EXPECT_TRUE(worker.session().WantsRead()) << id;
    worker.Read(id, 1);
  }
  worker.Run();
  EXPECT_EQ(worker.Done(3), "TOO_MANY_PENDING");
  EXPECT_EQ(worker.Done(4), "TOO_MANY_PENDING");
  EXPECT_TRUE(worker.session().WantsRead());
  worker.Chunk(1, 0, SmallBlob());
  // Now they wait for the server.
  EXPECT_FALSE(worker.session().WantsRead());
  worker.Run();
  for (uint64_t id = 0; id < 3; ++id) EXPECT_EQ(worker.Done(id), "OK") << id;
}

TEST(ScanSession, MayEndAtAnyTime) {
  const std::string blob = SmallBlob();
  for (int stage = 0; stage < 6; ++stage) {
    Worker worker;
    worker.OpenChunked(1, blob.size());
    worker.Read(1, 1);
    if (stage == 0) continue;
    worker.Open(2, blob);
    worker.Read(2, 2);
    worker.Close(2);
    if (stage == 1) continue;
    std::unique_ptr<ScanSession::DecodeJob> job = worker.session().TakeDecode();
    if (stage != 2) job->Run();
    worker.session().FinishDecode(*job);
    if (stage < 4) continue;
    ScanSession::Query* const query = worker.session().TakeQuery();
    ASSERT_NE(query, nullptr);
    if (stage == 5) worker.session().FinishQuery(query, query->Step());
  }
}

}  // namespace
}  // namespace dv::rpc
