// Matchers for statuses and for what an error carries.
#pragma once

#include <gmock/gmock.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/bytes/error.h"

namespace dv::testing {
namespace internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }

template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

// Writes what a matcher saw of `status`.
inline void Explain(const absl::Status& status, std::ostream* os) {
  *os << "whose status is " << status.ToString() << " with reason \"" << ReasonOf(status) << "\"";
  for (const auto& [key, value] : DetailsOf(status)) *os << ", " << key << "=" << value;
}

}  // namespace internal

// Matches a status, or the status of a StatusOr, that is OK.
MATCHER(IsOk, "is OK") {
  if (result_listener->IsInterested()) {
    internal::Explain(internal::StatusOf(arg), result_listener->stream());
  }
  return internal::StatusOf(arg).ok();
}

// Matches a status, or the status of a StatusOr, by its code.
MATCHER_P(HasCode, code, "has the code " + absl::StatusCodeToString(code)) {
  if (result_listener->IsInterested()) {
    internal::Explain(internal::StatusOf(arg), result_listener->stream());
  }
  return internal::StatusOf(arg).code() == code;
}

// Matches a status, or the status of a StatusOr, by its code and its message.
MATCHER_P2(StatusIs, code, message_matcher,
           "has the code " + absl::StatusCodeToString(code) + " and a message that " +
               ::testing::DescribeMatcher<std::string>(message_matcher)) {
  const absl::Status& status = internal::StatusOf(arg);
  if (result_listener->IsInterested()) internal::Explain(status, result_listener->stream());
  return status.code() == code &&
         ::testing::Matches(message_matcher)(std::string(status.message()));
}

// Matches a status, or the status of a StatusOr, by the reason that it carries.
MATCHER_P(HasReason, expected_reason,
          std::string("has the reason \"") + std::string(expected_reason) + "\"") {
  const absl::Status& status = internal::StatusOf(arg);
  if (result_listener->IsInterested()) internal::Explain(status, result_listener->stream());
  return ReasonOf(status) == std::string(expected_reason);
}

// Matches a status, or the status of a StatusOr, that carries the detail `key` with this value.
// Numbers are written in decimal.
MATCHER_P2(HasDetail, key, value,
           std::string("has the detail ") + key + "=" + ::testing::PrintToString(value)) {
  const absl::Status& status = internal::StatusOf(arg);
  if (result_listener->IsInterested()) internal::Explain(status, result_listener->stream());
  const std::map<std::string, std::string> details = DetailsOf(status);
  const auto it = details.find(key);
  return it != details.end() && it->second == ErrorDetail(key, value).value;
}

}  // namespace dv::testing
