#include "client/scan_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace dv::client {
namespace {

using ::dv::testing::FakeServer;
using ::dv::testing::HasCode;
using ::dv::testing::HasReason;
using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::testing::HasSubstr;

using Stream = grpc::ServerReaderWriter<pb::ScanResponse, pb::ScanRequest>;

class ScanSessionTest : public ::testing::Test {
 protected:
  // Has the server keep all requests until the client half-closes.
  void Record() {
    server_.service().scan = [this](Stream* stream) {
      pb::ScanRequest request;
      while (stream->Read(&request)) requests_.push_back(request);
      return grpc::Status::OK;
    };
  }

  FakeServer server_;
  Client client_ = Client::Connect(server_.address()).value();
  std::vector<pb::ScanRequest> requests_;
};

TEST_F(ScanSessionTest, SendsWhatIsAsked) {
  Record();
  const std::unique_ptr<ScanSession> session = client_.Scan();
  pb::DeletionVector about;
  about.set_format(pb::FORMAT_DELTA);
  about.set_row_count(9);
  EXPECT_THAT(session->OpenInline(1, "bytes", about), IsOk());
  pb::ReadQuery read;
  read.set_limit(5);
  EXPECT_THAT(session->Read(10, 1, read), IsOk());
  pb::CheckQuery check;
  check.add_positions(7);
  EXPECT_THAT(session->Check(11, 1, check), IsOk());
  pb::CountQuery count;
  count.add_ranges()->set_end(3);
  EXPECT_THAT(session->Count(12, 1, count), IsOk());
  pb::HistogramQuery histogram;
  histogram.set_bucket_count(4);
  EXPECT_THAT(session->Histogram(13, 1, histogram), IsOk());
  EXPECT_THAT(session->CancelQuery(10), IsOk());
  EXPECT_THAT(session->CloseVector(1), IsOk());
  EXPECT_THAT(session->Finish(), IsOk());

  ASSERT_EQ(requests_.size(), 7);
  const pb::OpenVector& open = requests_[0].open().vectors(0);
  EXPECT_EQ(open.vector_id(), 1);
  EXPECT_EQ(open.vector().inline_(), "bytes");
  EXPECT_EQ(open.vector().format(), pb::FORMAT_DELTA);
  EXPECT_EQ(open.vector().row_count(), 9);
  for (size_t i = 1; i <= 4; ++i) {
    EXPECT_EQ(requests_[i].query().query_id(), 9 + i);
    EXPECT_EQ(requests_[i].query().vector_id(), 1);
  }
  EXPECT_EQ(requests_[1].query().read().limit(), 5);
  EXPECT_EQ(requests_[2].query().check().positions(0), 7);
  EXPECT_EQ(requests_[3].query().count().ranges(0).end(), 3);
  EXPECT_EQ(requests_[4].query().histogram().bucket_count(), 4);
  EXPECT_EQ(requests_[5].cancel_query().query_id(), 10);
  EXPECT_EQ(requests_[6].close_vector().vector_id(), 1);
}

TEST_F(ScanSessionTest, CutsAVectorIntoChunks) {
  constexpr size_t kChunk = ScanSession::kChunkBytes;
  std::string bytes(2 * kChunk + 5, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i / 1000);
  for (const size_t size :
       {size_t{1}, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk, 2 * kChunk + 5}) {
    requests_.clear();
    Record();
    const std::unique_ptr<ScanSession> session = client_.Scan();
    const absl::string_view sent = absl::string_view(bytes).substr(0, size);
    EXPECT_THAT(session->OpenChunked(3, sent), IsOk());
    EXPECT_THAT(session->Finish(), IsOk());
    ASSERT_EQ(requests_.size(), 1 + (size + kChunk - 1) / kChunk);
    EXPECT_EQ(requests_[0].open().vectors(0).vector().chunked().total_size(), size);
    std::string received;
    for (size_t i = 1; i < requests_.size(); ++i) {
      EXPECT_EQ(requests_[i].chunk().vector_id(), 3);
      EXPECT_EQ(requests_[i].chunk().offset(), received.size());
      received += requests_[i].chunk().data();
    }
    EXPECT_TRUE(received == sent) << size;
  }
}

TEST_F(ScanSessionTest, AnEmptyVectorGoesInline) {
  Record();
  const std::unique_ptr<ScanSession> session = client_.Scan();
  EXPECT_THAT(session->OpenChunked(3, ""), IsOk());
  EXPECT_THAT(session->Finish(), IsOk());
  ASSERT_EQ(requests_.size(), 1);
  EXPECT_TRUE(requests_[0].open().vectors(0).vector().has_inline_());
}

TEST_F(ScanSessionTest, ASourceThatFailsClosesItsVector) {
  Record();
  const std::unique_ptr<ScanSession> session = client_.Scan();
  int calls = 0;
  const auto source = [&calls](size_t max_bytes) -> absl::StatusOr<std::string> {
    if (++calls > 1) return absl::NotFoundError("gone");
    return std::string(max_bytes, 'x');
  };
  EXPECT_THAT(session->OpenChunked(3, 2 * ScanSession::kChunkBytes, source),
              StatusIs(absl::StatusCode::kNotFound, "gone"));
  // One that gives nothing would go on for ever.
  EXPECT_THAT(session->OpenChunked(4, 5, [](size_t) { return std::string(); }),
              HasCode(absl::StatusCode::kInternal));
  EXPECT_THAT(session->Finish(), IsOk());
  ASSERT_EQ(requests_.size(), 5);
  EXPECT_EQ(requests_[2].close_vector().vector_id(), 3);
  EXPECT_EQ(requests_[4].close_vector().vector_id(), 4);
}

TEST_F(ScanSessionTest, ReadsWhileItWrites) {
  // A server that answers each query with much, and does not read on before that was taken.
  server_.service().scan = [](Stream* stream) {
    pb::ScanRequest request;
    pb::ScanResponse response;
    while (stream->Read(&request)) {
      response.mutable_part()->set_query_id(request.query().query_id());
      response.mutable_part()->mutable_read()->set_roaring(std::string(100'000, 'x'));
      stream->Write(response);
      response.mutable_done()->set_query_id(request.query().query_id());
      stream->Write(response);
      response.Clear();
    }
    return grpc::Status::OK;
  };
  constexpr uint64_t kQueries = 300;
  const std::unique_ptr<ScanSession> session = client_.Scan();
  std::thread writer([&session] {
    for (uint64_t id = 0; id < kQueries; ++id) {
      pb::CheckQuery query;
      query.mutable_positions()->Resize(10'000, 0);
      ASSERT_THAT(session->Check(id, 1, query), IsOk());
    }
    EXPECT_THAT(session->HalfClose(), IsOk());
  });
  std::map<uint64_t, int> done;
  pb::ScanResponse response;
  while (session->Next(&response)) {
    if (response.has_done()) ++done[response.done().query_id()];
  }
  writer.join();
  EXPECT_EQ(done.size(), kQueries);
  EXPECT_FALSE(session->Next(&response));
  EXPECT_THAT(session->Finish(), IsOk());
}

TEST_F(ScanSessionTest, NothingIsSentAfterTheHalfClose) {
  Record();
  const std::unique_ptr<ScanSession> session = client_.Scan();
  EXPECT_THAT(session->HalfClose(), IsOk());
  EXPECT_THAT(session->HalfClose(), HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(session->CloseVector(1),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("half-closed")));
  EXPECT_THAT(session->Finish(), IsOk());
}

TEST_F(ScanSessionTest, AStreamThatTheServerEnds) {
  server_.service().scan = [](Stream*) { return testing::DetailedStatus(); };
  const std::unique_ptr<ScanSession> session = client_.Scan();
  pb::ScanResponse response;
  EXPECT_FALSE(session->Next(&response));
  EXPECT_THAT(session->CloseVector(1),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("Finish() says why")));
  EXPECT_THAT(session->Finish(), HasReason("CRC_MISMATCH"));
  EXPECT_THAT(session->Finish(), HasReason("CRC_MISMATCH"));
}

TEST_F(ScanSessionTest, ASessionThatIsDroppedCancelsItsStream) {
  server_.service().scan = [](Stream* stream) {
    pb::ScanResponse response;
    response.mutable_opened();
    while (stream->Write(response)) {
    }
    return grpc::Status::OK;
  };
  const std::unique_ptr<ScanSession> session = client_.Scan();
  pb::ScanResponse response;
  EXPECT_TRUE(session->Next(&response));
}

TEST_F(ScanSessionTest, CancelReleasesAWriterThatWaits) {
  // A server that neither reads nor answers.
  server_.service().scan = [](Stream* stream) {
    pb::ScanRequest request;
    EXPECT_TRUE(stream->Read(&request));
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return grpc::Status::OK;
  };
  const std::unique_ptr<ScanSession> session = client_.Scan();
  std::thread writer([&session] {
    const std::string bytes(1 << 20, 'x');
    absl::Status status;
    while (status.ok()) status = session->OpenInline(1, bytes);
    EXPECT_THAT(status, HasCode(absl::StatusCode::kFailedPrecondition));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  session->Cancel();
  writer.join();
  EXPECT_THAT(session->Finish(), HasCode(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace dv::client
