#include "client/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/client/fake_service.h"
#include "tests/testing/status_matchers.h"

namespace dv::client {
namespace {

using ::dv::testing::HasCode;
using ::dv::testing::HasDetail;
using ::dv::testing::HasReason;
using ::dv::testing::IsOk;
using ::dv::testing::StatusIs;
using ::testing::Eq;
using ::testing::IsEmpty;

TEST(StatusTest, DetailsOfACall) {
  const absl::Status status = StatusFromGrpc(testing::DetailedStatus());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, Eq("the CRC differs")));
  EXPECT_THAT(status, HasReason("CRC_MISMATCH"));
  EXPECT_THAT(status, HasDetail("found", "0x1"));
  EXPECT_THAT(status, HasDetail("offset", 42));
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1500));
}

TEST(StatusTest, WithoutDetails) {
  EXPECT_THAT(StatusFromGrpc(grpc::Status::OK), IsOk());
  const absl::Status status = StatusFromGrpc({grpc::StatusCode::NOT_FOUND, "no"});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, Eq("no")));
  EXPECT_THAT(ReasonOf(status), IsEmpty());
  EXPECT_EQ(RetryDelayOf(status), std::nullopt);
}

TEST(StatusTest, DetailsThatCannotBeReadAreLeftOut) {
  const absl::Status status =
      StatusFromGrpc({grpc::StatusCode::DATA_LOSS, "broken", "\xFF\xFF not a message"});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, Eq("broken")));
  EXPECT_THAT(ReasonOf(status), IsEmpty());
}

TEST(StatusTest, AnUnknownCodeIsUnknown) {
  deletionvector::v1::ItemStatus item;
  for (const int code : {-1, 17, 1000}) {
    item.set_code(code);
    EXPECT_THAT(StatusFromItem(item), HasCode(absl::StatusCode::kUnknown)) << code;
  }
}

TEST(StatusTest, OfAnItem) {
  deletionvector::v1::ItemStatus item;
  EXPECT_THAT(StatusFromItem(item), IsOk());
  item.set_code(8);
  item.set_message("full");
  item.set_reason("TOO_MANY_VECTORS");
  (*item.mutable_metadata())["limit"] = "--max_vectors";
  item.mutable_retry_delay()->set_nanos(1'000'000);
  const absl::Status status = StatusFromItem(item);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted, Eq("full")));
  EXPECT_THAT(status, HasReason("TOO_MANY_VECTORS"));
  EXPECT_THAT(status, HasDetail("limit", "--max_vectors"));
  EXPECT_EQ(RetryDelayOf(status), absl::Milliseconds(1));
}

}  // namespace
}  // namespace dv::client
