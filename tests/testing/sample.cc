#include "tests/testing/sample.h"

#include <set>

namespace dv::testing {

absl::StatusCode LibraryCode(const std::string& reason) {
  static const std::set<std::string> kNotWhatTheCallerSays = {
      "LAYOUT_UNKNOWN",        "LAYOUT_MISMATCH",      "FRAME_TOO_SHORT",
      "FRAME_LENGTH_MISMATCH", "CARDINALITY_MISMATCH", "POSITION_PAST_ROW_COUNT"};
  if (reason.empty()) return absl::StatusCode::kOk;
  if (reason == "NOT_IMPLEMENTED") return absl::StatusCode::kUnimplemented;
  if (kNotWhatTheCallerSays.count(reason) != 0) return absl::StatusCode::kFailedPrecondition;
  return absl::StatusCode::kDataLoss;
}

absl::StatusCode ServerCode(const std::string& reason) {
  const absl::StatusCode code = LibraryCode(reason);
  return code == absl::StatusCode::kDataLoss ? absl::StatusCode::kInvalidArgument : code;
}

}  // namespace dv::testing
