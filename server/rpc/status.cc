#include "server/rpc/status.h"

#include <google/protobuf/util/time_util.h>

#include <map>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/bytes/error.h"

namespace dv::rpc {
namespace {

// Where a delay lies in a status, as text of ToInt64Nanoseconds.
constexpr char kRetryDelayUrl[] = "deletionvector.v1/retry-delay";

// Sizes on the wire, in bytes. The message travels twice: percent-encoded as `grpc-message`, and
// within the details, whose bytes are encoded as base64, a third longer.
constexpr size_t kMaxMessageBytes = 1100;
constexpr size_t kMaxDetailsBytes = 2000;
// One value of the metadata.
constexpr size_t kMaxValueBytes = 256;
constexpr char kCut[] = "...";

// Bytes that a byte takes in `grpc-message`.
size_t EncodedSize(unsigned char byte) {
  return byte >= 0x20 && byte <= 0x7E && byte != '%' ? 1 : 3;
}

// Returns the length of the well-formed UTF-8 character at `text[i]`, or 0 if there is none.
size_t CharacterLength(const std::string& text, size_t i) {
  const auto byte = [&](size_t k) {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U;
  };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (byte(i + 1) < low || byte(i + 1) > high) return 0;
  for (size_t k = 2; k < length; ++k) {
    if (byte(i + k) < 0x80 || byte(i + k) > 0xBF) return 0;
  }
  return length;
}

// Returns `text` as UTF-8 of at most `max_bytes` as `grpc-message` encodes it: bytes that are not
// UTF-8 become question marks, and what is too long is cut.
std::string Presentable(const std::string& text, size_t max_bytes) {
  std::string result;
  size_t encoded = 0;
  // Where to cut, so that the mark of the cut still fits.
  size_t cut_size = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t length = CharacterLength(text, i);
    const std::string character = length == 0 ? std::string("?") : text.substr(i, length);
    for (const char c : character) encoded += EncodedSize(static_cast<unsigned char>(c));
    if (encoded > max_bytes) {
      result.resize(cut_size);
      return result + kCut;
    }
    result += character;
    if (encoded + sizeof(kCut) - 1 <= max_bytes) cut_size = result.size();
    i += length == 0 ? 1 : length;
  }
  return result;
}

std::string MessageOf(const absl::Status& status) {
  return Presentable(std::string(status.message()), kMaxMessageBytes);
}

// Returns the details that fit into `budget` bytes, in the order of their names.
std::map<std::string, std::string> FittingDetails(const absl::Status& status, size_t budget) {
  std::map<std::string, std::string> result;
  for (const auto& [key, value] : DetailsOf(status)) {
    std::string text = Presentable(value, kMaxValueBytes);
    // Tags and lengths of a map entry take fewer than 10 bytes.
    const size_t size = key.size() + text.size() + 10;
    if (size > budget) continue;
    budget -= size;
    result.emplace(key, std::move(text));
  }
  return result;
}

// Bytes left for metadata in details with this message.
size_t MetadataBudget(const std::string& message, const std::string& reason) {
  // Type URLs, the domain, the delay, tags and lengths take fewer than 200 bytes.
  const size_t taken = message.size() + reason.size() + 200;
  return taken < kMaxDetailsBytes ? kMaxDetailsBytes - taken : 0;
}

google::protobuf::Duration ToProto(absl::Duration delay) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(delay));
}

}  // namespace

absl::Status WithRetryDelay(absl::Status status, absl::Duration delay) {
  status.SetPayload(kRetryDelayUrl, absl::Cord(absl::StrCat(absl::ToInt64Nanoseconds(delay))));
  return status;
}

std::optional<absl::Duration> RetryDelayOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryDelayUrl);
  if (!payload.has_value()) return std::nullopt;
  int64_t nanoseconds = 0;
  if (!absl::SimpleAtoi(std::string(*payload), &nanoseconds)) return std::nullopt;
  return absl::Nanoseconds(nanoseconds);
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string message = MessageOf(status);
  const std::string reason = ReasonOf(status);

  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(message);
  if (!reason.empty()) {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    info.set_domain(kErrorDomain);
    for (const auto& [key, value] : FittingDetails(status, MetadataBudget(message, reason))) {
      (*info.mutable_metadata())[key] = value;
    }
    details.add_details()->PackFrom(info);
  }
  if (const auto delay = RetryDelayOf(status); delay.has_value()) {
    google::rpc::RetryInfo info;
    *info.mutable_retry_delay() = ToProto(*delay);
    details.add_details()->PackFrom(info);
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message,
                      details.SerializeAsString());
}

deletionvector::v1::ItemStatus ToItemStatus(const absl::Status& status) {
  deletionvector::v1::ItemStatus item;
  if (status.ok()) return item;
  item.set_code(static_cast<int>(status.code()));
  item.set_message(MessageOf(status));
  item.set_reason(ReasonOf(status));
  for (const auto& [key, value] :
       FittingDetails(status, MetadataBudget(item.message(), item.reason()))) {
    (*item.mutable_metadata())[key] = value;
  }
  if (const auto delay = RetryDelayOf(status); delay.has_value()) {
    *item.mutable_retry_delay() = ToProto(*delay);
  }
  return item;
}

absl::Status ForBytesOfCaller(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kDataLoss) return status;
  return WithCode(status, absl::StatusCode::kInvalidArgument);
}

}  // namespace dv::rpc
