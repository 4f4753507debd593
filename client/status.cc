#include "client/status.h"

#include <map>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/duration.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/bytes/error.h"

namespace dv::client {
namespace {

// Payload that holds a google.protobuf.Duration.
constexpr absl::string_view kRetryDelayUrl = "deletionvector.v1/retry_delay";

absl::StatusCode CodeFromNumber(int number) {
  // The numbers of google.rpc.Code, gRPC and Abseil are the same: 0 to 16.
  if (number < 0 || number > 16) return absl::StatusCode::kUnknown;
  return static_cast<absl::StatusCode>(number);
}

// Adds reason and details to `status`.
template <typename Map>
void Annotate(absl::string_view reason, const Map& metadata, absl::Status& status) {
  const auto add = [&status](absl::string_view url, const absl::Cord& value) {
    status.SetPayload(url, value);
  };
  if (!reason.empty()) Error(status.code(), reason, status.message()).ForEachPayload(add);
  for (const auto& [key, value] : metadata) {
    Error(status.code(), reason, status.message(), {ErrorDetail(key, value)}).ForEachPayload(add);
  }
}

void AddRetryDelay(const google::protobuf::Duration& delay, absl::Status& status) {
  status.SetPayload(kRetryDelayUrl, absl::Cord(delay.SerializeAsString()));
}

}  // namespace

absl::Status StatusFromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(CodeFromNumber(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return result;
  for (const google::protobuf::Any& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&info)) {
      Annotate(info.reason(), info.metadata(), result);
    } else if (detail.UnpackTo(&retry) && retry.has_retry_delay()) {
      AddRetryDelay(retry.retry_delay(), result);
    }
  }
  return result;
}

absl::Status StatusFromItem(const deletionvector::v1::ItemStatus& item) {
  if (item.code() == 0) return absl::OkStatus();
  absl::Status result(CodeFromNumber(item.code()), item.message());
  Annotate(item.reason(), item.metadata(), result);
  if (item.has_retry_delay()) AddRetryDelay(item.retry_delay(), result);
  return result;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryDelayUrl);
  google::protobuf::Duration delay;
  if (!payload.has_value() || !delay.ParseFromString(std::string(*payload))) return std::nullopt;
  return absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos());
}

}  // namespace dv::client
