// The service over a real connection.

#include "server/rpc/service.h"

#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/rpc/byte_buffer.h"
#include "tests/rpc/requests.h"
#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/random.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kMaxMessageBytes = 8 << 20;

// Returns the reason that a status carries.
std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  google::rpc::ErrorInfo info;
  for (const google::protobuf::Any& detail : details.details()) {
    if (detail.UnpackTo(&info)) return info.reason();
  }
  return "";
}

// Returns a blob of `containers` full containers, 65,536 positions each, in 14 bytes each.
std::string FullBlob(uint32_t containers) {
  dv::testing::Bitmap32 bitmap;
  for (uint32_t key = 0; key < containers; ++key) {
    bitmap.containers.push_back(dv::testing::Runs(key, {{0, 65535}}));
  }
  return dv::testing::FrameOf(dv::testing::OneBucket(0, bitmap).Bytes());
}

// Memory that this process holds now, in bytes.
int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : pool_(2), service_(Limits(), pool_) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxSendMessageSize(-1);
    channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                         grpc::InsecureChannelCredentials(), arguments);
    stub_ = pb::DeletionVectorService::NewStub(channel_);
  }

  // Who lets go of gRPC last may wait 10 s for its poller: held to the end of the process.
  static void SetUpTestSuite() { grpc_init(); }

  // No call may be left: one that were would hang here.
  ~ServiceTest() override {
    const auto begin = Clock::now();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(5));
    EXPECT_LT(Seconds(Clock::now() - begin).count(), 2.0) << "a call went on";
  }

  // Sends raw bytes as the request of a unary or server-streaming method.
  grpc::Status SendRaw(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    grpc::ByteBuffer request = ToByteBuffer(bytes::Chain::Own(bytes));
    auto call = stub.PrepareUnaryCall(
        &context, "/deletionvector.v1.DeletionVectorService/" + method, request, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, this);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return status;
  }

  WorkerPool pool_;
  Service service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::DeletionVectorService::Stub> stub_;
};

TEST_F(ServiceTest, Describe) {
  pb::DescribeRequest request;
  request.mutable_vector()->set_inline_(SmallBlob());
  request.mutable_vector()->set_row_count(10);
  request.mutable_histogram()->set_bucket_count(2);
  pb::DescribeResponse response;
  grpc::ClientContext context;
  const grpc::Status status = stub_->Describe(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.summary().cardinality(), 3u);
  EXPECT_EQ(response.summary().bytes_copied(), 0u);
  EXPECT_THAT(response.histogram().counts(), ElementsAre(2, 1));
}

TEST_F(ServiceTest, BigVectorsAreNotCopied) {
  const BigBlob blob = MakeBigBlob(3'300'000);
  pb::DescribeRequest request;
  request.mutable_vector()->set_inline_(blob.bytes);
  for (int i = 0; i < 5; ++i) {
    pb::DescribeResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Describe(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.summary().cardinality(), blob.cardinality);
    EXPECT_EQ(response.summary().bytes_copied(), 0u);
    EXPECT_FALSE(response.has_histogram());
  }
}

TEST_F(ServiceTest, ReadPositions) {
  const BigBlob blob = MakeBigBlob(500'000);
  pb::ReadPositionsRequest request;
  request.mutable_vector()->set_inline_(blob.bytes);
  grpc::ClientContext context;
  const auto reader = stub_->ReadPositions(&context, request);
  pb::ReadPositionsResponse response;
  uint64_t expected = 0;
  uint64_t parts = 0;
  while (reader->Read(&response) && response.has_part()) {
    ++parts;
    for (const uint64_t position : response.part().positions().values()) {
      ASSERT_EQ(position, expected);
      expected += 2;
    }
  }
  EXPECT_EQ(response.end().position_count(), blob.cardinality);
  EXPECT_EQ(response.end().part_count(), parts);
  EXPECT_EQ(expected, 2 * blob.cardinality);
  EXPECT_FALSE(reader->Read(&response)) << "the end is the last";
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ServiceTest, CheckPositions) {
  pb::CheckPositionsRequest request;
  request.mutable_vector()->set_inline_(SmallBlob());
  for (uint64_t i = 0; i < 100'000; ++i) request.add_positions(i % 8);
  pb::CheckPositionsResponse response;
  grpc::ClientContext context;
  grpc::Status status = stub_->CheckPositions(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.answer().deleted(), std::string(12'500, '\x2A'));
  EXPECT_EQ(response.answer().deleted_count(), 37'500u);
  EXPECT_EQ(response.answer().position_count(), 100'000u);

  request.add_positions(1);
  grpc::ClientContext again;
  status = stub_->CheckPositions(&again, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(ReasonOf(status), "TOO_MANY_ITEMS");
}

TEST_F(ServiceTest, CountPositions) {
  pb::CountPositionsRequest request;
  request.mutable_vector()->set_inline_(SmallBlob());
  for (int i = 0; i < 100'000; ++i) request.add_ranges()->set_start(static_cast<uint64_t>(i % 8));
  pb::CountPositionsResponse response;
  grpc::ClientContext context;
  grpc::Status status = stub_->CountPositions(&context, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(response.answer().counts_size(), 100'000);
  EXPECT_EQ(response.answer().counts(99'998), 0u);
  EXPECT_EQ(response.answer().counts(99'995), 2u);
  EXPECT_EQ(response.answer().first_index(), 0u);

  request.mutable_ranges(5)->set_end(1);
  grpc::ClientContext again;
  status = stub_->CountPositions(&again, request, &response);
  EXPECT_EQ(ReasonOf(status), "RANGE_INVALID");
}

TEST_F(ServiceTest, BrokenBytesAreTheCallersFault) {
  pb::DescribeRequest request;
  request.mutable_vector()->set_inline_(dv::testing::BugVectorBytes("A12"));
  pb::DescribeResponse response;
  grpc::ClientContext context;
  const grpc::Status status = stub_->Describe(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "CRC_MISMATCH");
}

TEST_F(ServiceTest, NothingOfABrokenVectorIsSent) {
  // The last container is broken: all others would have been fine.
  std::string blob = FullBlob(3000);
  blob[blob.size() - 6] = 0;
  blob = dv::testing::WithCrcRepaired(blob);
  pb::ReadPositionsRequest request;
  request.mutable_vector()->set_inline_(blob);
  grpc::ClientContext context;
  const auto reader = stub_->ReadPositions(&context, request);
  pb::ReadPositionsResponse response;
  EXPECT_FALSE(reader->Read(&response));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_FALSE(ReasonOf(status).empty());
}

TEST_F(ServiceTest, WhatIsNotThereSaysSo) {
  grpc::ClientContext list;
  pb::ListVectorsResponse listed;
  grpc::Status status = stub_->ListVectors(&list, pb::ListVectorsRequest(), &listed);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(ReasonOf(status), "NOT_IMPLEMENTED");

  grpc::ClientContext combine;
  const auto stream = stub_->Combine(&combine);
  stream->Write(pb::CombineRequest());
  stream->WritesDone();
  pb::CombineResponse response;
  EXPECT_FALSE(stream->Read(&response));
  status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(ReasonOf(status), "NOT_IMPLEMENTED");
}

TEST_F(ServiceTest, MalformedBytes) {
  for (const std::string method :
       {"Describe", "ReadPositions", "CheckPositions", "CountPositions", "Scan"}) {
    for (const std::string& bytes : {std::string("\xFF\xFF\xFF\xFF"), std::string("\x0A\x7F", 2),
                                     std::string(1, '\0'), std::string(2'000'000, '\x0B')}) {
      const grpc::Status status = SendRaw(method, bytes);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
      EXPECT_EQ(ReasonOf(status), "REQUEST_MALFORMED") << method;
    }
  }
  for (const std::string method :
       {"Describe", "ReadPositions", "CheckPositions", "CountPositions"}) {
    EXPECT_EQ(ReasonOf(SendRaw(method, "")), "FIELD_REQUIRED") << method;
  }
}

TEST_F(ServiceTest, OddEncodingsGiveTheSameAnswer) {
  // The payload twice: the last one counts.
  const std::string good = SmallBlob();
  const auto field = [](char number, const std::string& content) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(content.size()) +
           content;
  };
  const std::string broken = dv::testing::BugVectorBytes("A12");
  EXPECT_TRUE(SendRaw("Describe", field(1, field(1, broken) + field(1, good))).ok());
  EXPECT_EQ(ReasonOf(SendRaw("Describe", field(1, field(1, good) + field(1, broken)))),
            "CRC_MISMATCH");
}

TEST_F(ServiceTest, MessagesOverTheLimit) {
  const grpc::Status status =
      SendRaw("Describe", std::string(static_cast<size_t>(kMaxMessageBytes) + 1, 'x'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr(std::to_string(kMaxMessageBytes)));
}

TEST_F(ServiceTest, ASlowReaderCostsLittle) {
  // 98 million positions, 786 MB of answers.
  pb::ReadPositionsRequest request;
  request.mutable_vector()->set_inline_(FullBlob(1500));
  grpc::ClientContext context;
  const auto reader = stub_->ReadPositions(&context, request);
  pb::ReadPositionsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  const int64_t before = ResidentBytes();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(ResidentBytes() - before, 16 << 20);
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServiceTest, DeadlinesEndCalls) {
  pb::ReadPositionsRequest request;
  request.mutable_vector()->set_inline_(FullBlob(1500));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  const auto reader = stub_->ReadPositions(&context, request);
  pb::ReadPositionsResponse response;
  while (reader->Read(&response)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(ServiceTest, CallersMayLeaveAtAnyTime) {
  const std::string big = MakeBigBlob(4'000'000).bytes;
  dv::testing::Random random(dv::testing::TestSeed());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, &big, seed = random.Bits()] {
      dv::testing::Random chance(seed);
      for (int i = 0; i < 40; ++i) {
        grpc::ClientContext context;
        const auto patience = std::chrono::microseconds(chance.Below(20'000));
        if (chance.OneIn(2)) {
          context.set_deadline(std::chrono::system_clock::now() + patience);
        }
        if (chance.OneIn(2)) {
          pb::ReadPositionsRequest request;
          request.mutable_vector()->set_inline_(big);
          const auto reader = stub_->ReadPositions(&context, request);
          pb::ReadPositionsResponse response;
          for (uint64_t n = chance.Below(20); n > 0 && reader->Read(&response); --n) {
          }
          context.TryCancel();
          reader->Finish();
        } else {
          const auto stream = stub_->Scan(&context);
          pb::ScanRequest open;
          for (uint64_t id = 0; id < 3; ++id) {
            pb::OpenVector& vector = *open.mutable_open()->add_vectors();
            vector.set_vector_id(id);
            if (id == 1) {
              vector.mutable_vector()->mutable_chunked()->set_total_size(1000);
            } else {
              vector.mutable_vector()->set_inline_(id == 0 ? big : SmallBlob());
            }
          }
          stream->Write(open);
          for (uint64_t id = 0; id < 3; ++id) {
            pb::ScanRequest query;
            query.mutable_query()->set_query_id(id);
            query.mutable_query()->set_vector_id(id);
            query.mutable_query()->mutable_read();
            stream->Write(query);
          }
          if (chance.OneIn(3)) stream->WritesDone();
          pb::ScanResponse response;
          for (uint64_t n = chance.Below(6); n > 0 && stream->Read(&response); --n) {
          }
          if (chance.OneIn(2)) std::this_thread::sleep_for(patience);
          context.TryCancel();
          stream->Finish();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ServiceTest, Scan) {
  const BigBlob big = MakeBigBlob(3'300'000);
  grpc::ClientContext context;
  const auto stream = stub_->Scan(&context);
  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->set_vector_id(1);
  open.mutable_open()->mutable_vectors(0)->mutable_vector()->set_inline_(big.bytes);
  open.mutable_open()->add_vectors()->set_vector_id(2);
  open.mutable_open()->mutable_vectors(1)->mutable_vector()->mutable_chunked()->set_total_size(
      big.bytes.size());
  ASSERT_TRUE(stream->Write(open));
  for (uint64_t id = 1; id <= 2; ++id) {
    pb::ScanRequest query;
    query.mutable_query()->set_query_id(id);
    query.mutable_query()->set_vector_id(id);
    query.mutable_query()->mutable_read();
    ASSERT_TRUE(stream->Write(query));
  }
  std::thread writer([&] {
    constexpr size_t kChunk = 100'000;
    for (size_t offset = 0; offset < big.bytes.size(); offset += kChunk) {
      pb::ScanRequest chunk;
      chunk.mutable_chunk()->set_vector_id(2);
      chunk.mutable_chunk()->set_offset(offset);
      chunk.mutable_chunk()->set_data(big.bytes.substr(offset, kChunk));
      stream->Write(chunk);
    }
    stream->WritesDone();
  });
  pb::ScanResponse response;
  uint64_t positions[3] = {0, 0, 0};
  int opened = 0;
  int done = 0;
  while (stream->Read(&response)) {
    if (response.has_opened()) {
      ++opened;
      EXPECT_EQ(response.opened().status().code(), 0) << response.opened().status().message();
      EXPECT_EQ(response.opened().summary().cardinality(), big.cardinality);
      // The last chunk may be a small one.
      EXPECT_LT(response.opened().summary().bytes_copied(), kCopyBelowBytes);
    } else if (response.has_part()) {
      positions[response.part().query_id()] +=
          static_cast<uint64_t>(response.part().read().positions().values_size());
    } else {
      ++done;
      EXPECT_EQ(response.done().status().code(), 0);
    }
  }
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(opened, 2);
  EXPECT_EQ(done, 2);
  EXPECT_EQ(positions[1], big.cardinality);
  EXPECT_EQ(positions[2], big.cardinality);
}

TEST_F(ServiceTest, ScanAnswersWhileTheCallerIsSilent) {
  grpc::ClientContext context;
  const auto stream = stub_->Scan(&context);
  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(SmallBlob());
  ASSERT_TRUE(stream->Write(open));
  pb::ScanResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_opened());
  for (uint64_t id = 0; id < 2000; ++id) {
    pb::ScanRequest query;
    query.mutable_query()->set_query_id(id);
    query.mutable_query()->mutable_check()->add_positions(1);
    ASSERT_TRUE(stream->Write(query));
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.part().check().deleted_count(), 1u);
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.done().query_id(), id);
  }
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServiceTest, ScanOfManyQueriesAtOnce) {
  grpc::ClientContext context;
  const auto stream = stub_->Scan(&context);
  constexpr uint64_t kQueries = 20'000;
  std::thread writer([&] {
    pb::ScanRequest open;
    open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(SmallBlob());
    stream->Write(open);
    for (uint64_t id = 0; id < kQueries; ++id) {
      pb::ScanRequest query;
      query.mutable_query()->set_query_id(id);
      query.mutable_query()->mutable_read()->set_encoding(pb::ENCODING_RUNS);
      stream->Write(query);
    }
    stream->WritesDone();
  });
  pb::ScanResponse response;
  uint64_t done = 0;
  while (stream->Read(&response)) {
    if (response.has_done()) {
      ++done;
      ASSERT_EQ(response.done().status().code(), 0);
    }
  }
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(done, kQueries);
}

TEST_F(ServiceTest, ScanEndsOnAMessageWithNothingInIt) {
  grpc::ClientContext context;
  const auto stream = stub_->Scan(&context);
  ASSERT_TRUE(stream->Write(pb::ScanRequest()));
  pb::ScanResponse response;
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "REQUEST_MALFORMED");
}

TEST_F(ServiceTest, ScansEndWhenTheServerStops) {
  grpc::ClientContext context;
  const auto stream = stub_->Scan(&context);
  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(SmallBlob());
  ASSERT_TRUE(stream->Write(open));
  pb::ScanResponse response;
  ASSERT_TRUE(stream->Read(&response));
  service_.Drain();
  EXPECT_FALSE(stream->Read(&response));
  grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "SHUTTING_DOWN");
  // One that starts after.
  grpc::ClientContext late;
  const auto late_stream = stub_->Scan(&late);
  EXPECT_FALSE(late_stream->Read(&response));
  EXPECT_EQ(ReasonOf(late_stream->Finish()), "SHUTTING_DOWN");
}

TEST_F(ServiceTest, ManyCallsAtATime) {
  const std::string big = MakeBigBlob(2'000'000).bytes;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        pb::CountPositionsRequest request;
        request.mutable_vector()->set_inline_(i % 2 == 0 ? big : SmallBlob());
        request.add_ranges();
        pb::CountPositionsResponse response;
        grpc::ClientContext context;
        if (stub_->CountPositions(&context, request, &response).ok()) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST(ByteBuffer, GoesBothWays) {
  dv::testing::Random random(dv::testing::TestSeed());
  for (const size_t size : {0u, 1u, 22u, 23u, 24u, 100u, 100'000u}) {
    const std::string bytes(size, 'b');
    ReceivedMessage message = InPieces(bytes, 60'000, random);
    const size_t pieces = message.chain.pieces().size();
    grpc::ByteBuffer buffer = ToByteBuffer(std::move(message.chain));
    message = ReceivedMessage();
    EXPECT_EQ(buffer.Length(), size);
    ReceivedMessage back = FromByteBuffer(buffer);
    buffer.Clear();
    EXPECT_EQ(back.chain.ToString(), bytes);
    EXPECT_EQ(back.owners.size(), back.chain.pieces().size());
    EXPECT_LE(back.chain.pieces().size(), pieces);
  }
  // Slices that are copied into the slice object itself.
  std::vector<grpc::Slice> tiny;
  for (int i = 0; i < 5; ++i) tiny.emplace_back(std::string(5, static_cast<char>('a' + i)));
  grpc::ByteBuffer buffer(tiny.data(), tiny.size());
  const ReceivedMessage message = FromByteBuffer(buffer);
  buffer.Clear();
  EXPECT_EQ(message.chain.ToString(), "aaaaabbbbbcccccdddddeeeee");
}

}  // namespace
}  // namespace dv::rpc
