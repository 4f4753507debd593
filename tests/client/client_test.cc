#include "client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace dv::client {
namespace {

using ::dv::testing::FakeServer;
using ::dv::testing::HasCode;
using ::dv::testing::HasDetail;
using ::dv::testing::HasReason;
using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::testing::HasSubstr;

class ClientTest : public ::testing::Test {
 protected:
  Client Connect() { return Client::Connect(server_.address()).value(); }

  FakeServer server_;
};

TEST_F(ClientTest, AUnaryCall) {
  server_.service().describe = [](const pb::DescribeRequest& request,
                                  pb::DescribeResponse* response) {
    response->mutable_summary()->set_encoded_size(request.vector().inline_().size());
    return grpc::Status::OK;
  };
  pb::DescribeRequest request;
  request.mutable_vector()->set_inline_("12345");
  const auto response = Connect().Describe(request);
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->summary().encoded_size(), 5);
}

TEST_F(ClientTest, AnErrorKeepsWhatTheServerSaysOfIt) {
  server_.service().describe = [](const pb::DescribeRequest&, pb::DescribeResponse*) {
    return testing::DetailedStatus();
  };
  const auto response = Connect().Describe({});
  EXPECT_THAT(response, HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(response, HasReason("CRC_MISMATCH"));
  EXPECT_THAT(response, HasDetail("offset", 42));
}

TEST_F(ClientTest, ADeadline) {
  server_.service().describe = [](const pb::DescribeRequest&, pb::DescribeResponse*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return grpc::Status::OK;
  };
  CallOptions options;
  options.timeout = absl::Milliseconds(50);
  EXPECT_THAT(Connect().Describe({}, options), HasCode(absl::StatusCode::kDeadlineExceeded));
  options.timeout = absl::InfiniteDuration();
  EXPECT_THAT(Connect().Describe({}, options), IsOk());
}

TEST_F(ClientTest, NoServer) {
  const absl::StatusOr<Client> client = Client::Connect("127.0.0.1:1");
  ASSERT_THAT(client, IsOk());
  EXPECT_THAT(client->Describe({}), HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(client->CheckHealth(), HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(client->ReadPositions({})->Finish(), HasCode(absl::StatusCode::kUnavailable));
  EXPECT_THAT(client->Scan()->Finish(), HasCode(absl::StatusCode::kUnavailable));
}

TEST_F(ClientTest, AProxyOfTheEnvironmentIsNotUsedForThisMachine) {
  server_.service().describe = [](const pb::DescribeRequest&, pb::DescribeResponse*) {
    return grpc::Status::OK;
  };
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  EXPECT_THAT(Connect().Describe({}), IsOk());
  unsetenv("http_proxy");
}

TEST_F(ClientTest, PartsAndTheirEnd) {
  server_.service().read = [](const pb::ReadPositionsRequest&, auto* writer) {
    pb::ReadPositionsResponse response;
    for (uint64_t i = 0; i < 3; ++i) {
      response.mutable_part()->mutable_positions()->add_values(i);
      writer->Write(response);
      response.Clear();
    }
    response.mutable_end()->set_part_count(3);
    writer->Write(response);
    return grpc::Status::OK;
  };
  const std::unique_ptr<PositionReader> reader = Connect().ReadPositions({});
  pb::AnswerPart part;
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(reader->Next(&part));
    EXPECT_THAT(part.positions().values(), ::testing::ElementsAre(i));
  }
  EXPECT_FALSE(reader->Next(&part));
  EXPECT_FALSE(reader->Next(&part));
  const absl::StatusOr<pb::AnswerEnd> end = reader->Finish();
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->part_count(), 3);
}

TEST_F(ClientTest, AnAnswerWithoutItsEndIsAnError) {
  server_.service().read = [](const pb::ReadPositionsRequest&, auto* writer) {
    pb::ReadPositionsResponse response;
    response.mutable_part();
    writer->Write(response);
    return grpc::Status::OK;
  };
  const std::unique_ptr<PositionReader> reader = Connect().ReadPositions({});
  pb::AnswerPart part;
  EXPECT_TRUE(reader->Next(&part));
  EXPECT_FALSE(reader->Next(&part));
  EXPECT_THAT(reader->Finish(), StatusIs(absl::StatusCode::kInternal, HasSubstr("end message")));
}

TEST_F(ClientTest, AnAnswerThatBreaksOff) {
  server_.service().read = [](const pb::ReadPositionsRequest&, auto* writer) {
    pb::ReadPositionsResponse response;
    response.mutable_part();
    writer->Write(response);
    response.mutable_end();
    writer->Write(response);
    return testing::DetailedStatus();
  };
  const std::unique_ptr<PositionReader> reader = Connect().ReadPositions({});
  pb::AnswerPart part;
  EXPECT_TRUE(reader->Next(&part));
  EXPECT_THAT(reader->Finish(), HasReason("CRC_MISMATCH"));
  EXPECT_THAT(reader->Finish(), HasReason("CRC_MISMATCH"));
}

TEST_F(ClientTest, AReaderThatIsDroppedCancelsTheCall) {
  server_.service().read = [](const pb::ReadPositionsRequest&, auto* writer) {
    pb::ReadPositionsResponse response;
    response.mutable_part()->set_roaring(std::string(1 << 20, 'x'));
    // Ends because the call is cancelled: no client reads so much.
    while (writer->Write(response)) {
    }
    return grpc::Status::OK;
  };
  const Client client = Connect();
  const std::unique_ptr<PositionReader> reader = client.ReadPositions({});
  pb::AnswerPart part;
  EXPECT_TRUE(reader->Next(&part));
}

TEST_F(ClientTest, Cancel) {
  server_.service().read = [](const pb::ReadPositionsRequest&, auto* writer) {
    pb::ReadPositionsResponse response;
    response.mutable_part();
    while (writer->Write(response)) {
    }
    return grpc::Status::OK;
  };
  const std::unique_ptr<PositionReader> reader = Connect().ReadPositions({});
  pb::AnswerPart part;
  EXPECT_TRUE(reader->Next(&part));
  reader->Cancel();
  EXPECT_THAT(reader->Finish(), HasCode(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace dv::client
