#include "server/bytes/error.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace dv {
namespace {

// A status carries its reason in one payload, and each detail in a payload of its own, whose type
// URL ends in the key.
constexpr absl::string_view kReasonUrl = "deletionvector.v1/reason";
constexpr absl::string_view kDetailUrlPrefix = "deletionvector.v1/detail/";

}  // namespace

absl::Status Error(absl::StatusCode code, absl::string_view reason, absl::string_view message,
                   std::initializer_list<ErrorDetail> details) {
  absl::Status status(code, message);
  status.SetPayload(kReasonUrl, absl::Cord(reason));
  for (const ErrorDetail& detail : details) {
    status.SetPayload(absl::StrCat(kDetailUrlPrefix, detail.key), absl::Cord(detail.value));
  }
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonUrl);
  return payload.has_value() ? std::string(*payload) : std::string();
}

std::map<std::string, std::string> DetailsOf(const absl::Status& status) {
  std::map<std::string, std::string> details;
  status.ForEachPayload([&details](absl::string_view url, const absl::Cord& value) {
    if (url.substr(0, kDetailUrlPrefix.size()) != kDetailUrlPrefix) return;
    details.emplace(std::string(url.substr(kDetailUrlPrefix.size())), std::string(value));
  });
  return details;
}

absl::Status WithCode(const absl::Status& status, absl::StatusCode code) {
  if (status.ok()) return status;
  absl::Status result(code, status.message());
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& value) { result.SetPayload(url, value); });
  return result;
}

}  // namespace dv
