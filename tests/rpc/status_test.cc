#include "server/rpc/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"

namespace dv::rpc {
namespace {

// What a client finds in a status.
struct Found {
  google::rpc::Status status;
  google::rpc::ErrorInfo info;
  google::rpc::RetryInfo retry;
  bool has_info = false;
  bool has_retry = false;
};

Found Unpack(const grpc::Status& status) {
  Found found;
  EXPECT_TRUE(found.status.ParseFromString(status.error_details()));
  for (const google::protobuf::Any& detail : found.status.details()) {
    if (detail.UnpackTo(&found.info)) found.has_info = true;
    if (detail.UnpackTo(&found.retry)) found.has_retry = true;
  }
  return found;
}

// Bytes that a status takes in the trailers: the message percent-encoded, the details as base64.
size_t WireSize(const grpc::Status& status) {
  size_t size = 0;
  for (const char c : status.error_message()) {
    size += c >= 0x20 && c <= 0x7E && c != '%' ? 1 : 3;
  }
  return size + (status.error_details().size() + 2) / 3 * 4;
}

TEST(ToGrpcStatus, KeepsCodeMessageReasonAndDetails) {
  const absl::Status status =
      Error(absl::StatusCode::kDataLoss, reason::kCrcMismatch, "what was found",
            {{"found", "0x1"}, {"expected", "0x2"}, {"offset", 42}});
  const grpc::Status sent = ToGrpcStatus(status);
  EXPECT_EQ(sent.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(sent.error_message(), "what was found");
  const Found found = Unpack(sent);
  EXPECT_EQ(found.status.code(), 15);
  EXPECT_EQ(found.status.message(), "what was found");
  ASSERT_TRUE(found.has_info);
  EXPECT_EQ(found.info.reason(), "CRC_MISMATCH");
  EXPECT_EQ(found.info.domain(), "deletionvector.v1");
  const std::map<std::string, std::string> metadata(found.info.metadata().begin(),
                                                    found.info.metadata().end());
  EXPECT_EQ(metadata, (std::map<std::string, std::string>{
                          {"found", "0x1"}, {"expected", "0x2"}, {"offset", "42"}}));
  EXPECT_FALSE(found.has_retry);
}

TEST(ToGrpcStatus, KeepsEveryCode) {
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status sent = ToGrpcStatus(absl::Status(static_cast<absl::StatusCode>(code), "m"));
    EXPECT_EQ(sent.error_code(), code);
    const Found found = Unpack(sent);
    EXPECT_EQ(found.status.code(), code);
    EXPECT_FALSE(found.has_info) << "without a reason";
  }
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(ToGrpcStatus, SaysHowLongToWait) {
  const absl::Status status =
      WithRetryDelay(Error(absl::StatusCode::kResourceExhausted, reason::kTooManyOpenBytes, "m"),
                     absl::Milliseconds(1500));
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1500));
  const Found found = Unpack(ToGrpcStatus(status));
  ASSERT_TRUE(found.has_retry);
  EXPECT_EQ(found.retry.retry_delay().seconds(), 1);
  EXPECT_EQ(found.retry.retry_delay().nanos(), 500'000'000);
  EXPECT_TRUE(found.has_info);
  EXPECT_EQ(RetryDelayOf(absl::UnavailableError("m")), std::nullopt);
}

TEST(ToGrpcStatus, StaysUnder4KiB) {
  for (const char* const unit : {"x", "%", "\xFF", "\n", "\xC3\xBC", "\xF0\x9F\x98\x80"}) {
    std::string text;
    while (text.size() < 10'000) text += unit;
    absl::Status status =
        WithRetryDelay(Error(absl::StatusCode::kInvalidArgument, reason::kFieldInvalid, text,
                             {{"a", text},
                              {"b", text},
                              {"c", text},
                              {"d", text},
                              {"e", text},
                              {"f", text},
                              {"g", text},
                              {"h", text},
                              {"i", text},
                              {"j", text},
                              {"k", text},
                              {"l", text}}),
                       absl::Hours(5));
    const grpc::Status sent = ToGrpcStatus(status);
    EXPECT_LT(WireSize(sent), 4096u) << unit;
    EXPECT_GT(sent.error_message().size(), 200u) << unit;
    EXPECT_EQ(sent.error_message().substr(sent.error_message().size() - 3), "...") << unit;
    const Found found = Unpack(sent);
    EXPECT_TRUE(found.has_info);
    EXPECT_TRUE(found.has_retry);
    EXPECT_GE(found.info.metadata_size(), 1);

    const deletionvector::v1::ItemStatus item = ToItemStatus(status);
    EXPECT_LT(item.ByteSizeLong(), 4096u);
    EXPECT_EQ(item.message(), sent.error_message());
  }
}

TEST(ToGrpcStatus, SendsUtf8Only) {
  struct Case {
    std::string text;
    std::string sent;
  };
  const std::string four = "\xF0\x9F\x98\x80";
  for (const Case& c : {Case{"a\xFF"
                             "b",
                             "a?b"},
                        Case{"\xC3\xBC", "\xC3\xBC"}, Case{"\xC3", "?"}, Case{four, four},
                        Case{"\xC0\x80", "??"}, Case{"\xED\xA0\x80", "???"},
                        Case{"\xE0\x9F\xBF", "???"}, Case{"\xF4\x90\x80\x80", "????"}}) {
    EXPECT_EQ(ToGrpcStatus(absl::InternalError(c.text)).error_message(), c.sent);
  }
}

TEST(ToItemStatus, SaysTheSame) {
  const deletionvector::v1::ItemStatus item = ToItemStatus(WithRetryDelay(
      Error(absl::StatusCode::kNotFound, reason::kVectorNotOpen, "no vector 7", {{"vector_id", 7}}),
      absl::Seconds(3)));
  EXPECT_EQ(item.code(), 5);
  EXPECT_EQ(item.message(), "no vector 7");
  EXPECT_EQ(item.reason(), "VECTOR_NOT_OPEN");
  EXPECT_EQ(item.metadata().at("vector_id"), "7");
  EXPECT_EQ(item.retry_delay().seconds(), 3);
  EXPECT_EQ(ToItemStatus(absl::OkStatus()).ByteSizeLong(), 0u);
}

TEST(ForBytesOfCaller, TurnsDataLossIntoInvalidArgument) {
  const absl::Status status = ForBytesOfCaller(
      Error(absl::StatusCode::kDataLoss, reason::kCrcMismatch, "m", {{"offset", 1}}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), "CRC_MISMATCH");
  EXPECT_EQ(DetailsOf(status).at("offset"), "1");
  EXPECT_EQ(ForBytesOfCaller(absl::FailedPreconditionError("m")).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ForBytesOfCaller(absl::OkStatus()).ok());
}

}  // namespace
}  // namespace dv::rpc
