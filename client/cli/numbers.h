// Numbers, ranges and durations as they stand on the command line. All are read strictly: nothing
// is skipped, wrapped or cut. Errors are INVALID_ARGUMENT, quote the text and say what was
// expected.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "deletionvector/v1/query.pb.h"

namespace dv::cli {

namespace pb = ::deletionvector::v1;

// Reads a decimal number from 0 to 18446744073709551615: digits only.
absl::StatusOr<uint64_t> ParseUint64(absl::string_view text);

// Reads a half-open range: `0:1000`; `1000:` through the last possible position; `:1000` from 0.
absl::StatusOr<pb::PositionRange> ParseRange(absl::string_view text);

// Writes a range as ParseRange reads it, its start always there: `0:1000`, `1000:`.
std::string FormatRange(const pb::PositionRange& range);

// Reads a time to wait: seconds, or a number with a unit, such as `1.5s`, `200ms` or `2m`. `0` is
// no limit, absl::InfiniteDuration().
absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text);

}  // namespace dv::cli
