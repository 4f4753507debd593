// Errors that say, for people and for programs, what was found, what was expected and where.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dv {

// One value of an error message, under the name that programs find it by.
struct ErrorDetail {
  ErrorDetail(absl::string_view name, absl::string_view text) : key(name), value(text) {}
  ErrorDetail(absl::string_view name, uint64_t number) : key(name), value(std::to_string(number)) {}

  std::string key;
  std::string value;
};

// Error()
//
// Returns a status with `code` and `message` that carries `reason`, one of the names in reason.h,
// and `details`. By convention of this code base DATA_LOSS says that the bytes of a vector break a
// rule of their format; who knows where the bytes came from turns it into the code of the contract.
//
// Example:
//
//   return Error(absl::StatusCode::kDataLoss, reason::kCookieInvalid, "...",
//                {{"offset", offset}, {"found", "0x00001234"}});
absl::Status Error(absl::StatusCode code, absl::string_view reason, absl::string_view message,
                   std::initializer_list<ErrorDetail> details = {});

// Returns the reason that `status` carries, or an empty text.
std::string ReasonOf(const absl::Status& status);

// Returns the details that `status` carries, by key.
std::map<std::string, std::string> DetailsOf(const absl::Status& status);

// Returns `status` under another code, with the same message, reason and details. An OK status is
// returned as it is.
absl::Status WithCode(const absl::Status& status, absl::StatusCode code);

}  // namespace dv
