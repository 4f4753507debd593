#include "client/cli/numbers.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dv::cli {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

}  // namespace

absl::StatusOr<uint64_t> ParseUint64(absl::string_view text) {
  const auto error = [text](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" ", what, "; expected a whole number from 0 to ", kMax));
  };
  if (text.empty()) return error("is empty");
  uint64_t number = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') {
      return error(c == '-' && i == 0 ? "is negative" : "is not a number");
    }
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (number > (kMax - digit) / 10) return error("is too large");
    number = number * 10 + digit;
  }
  return number;
}

absl::StatusOr<pb::PositionRange> ParseRange(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text, "\" is not a range; expected START:END, END exclusive, or START: to the end"));
  }
  const absl::string_view start = text.substr(0, colon);
  const absl::string_view end = text.substr(colon + 1);
  const auto bound = [text](absl::string_view number) -> absl::StatusOr<uint64_t> {
    absl::StatusOr<uint64_t> value = ParseUint64(number);
    if (!value.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("range \"", text, "\": ", value.status().message()));
    }
    return value;
  };
  pb::PositionRange range;
  if (!start.empty()) {
    const absl::StatusOr<uint64_t> value = bound(start);
    if (!value.ok()) return value.status();
    range.set_start(*value);
  }
  if (!end.empty()) {
    const absl::StatusOr<uint64_t> value = bound(end);
    if (!value.ok()) return value.status();
    range.set_end(*value);
  }
  if (range.has_end() && range.start() > range.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("range \"", text, "\" starts after its end; expected START <= END"));
  }
  return range;
}

std::string FormatRange(const pb::PositionRange& range) {
  std::string text = absl::StrCat(range.start(), ":");
  if (range.has_end()) absl::StrAppend(&text, range.end());
  return text;
}

absl::StatusOr<absl::Duration> ParseTimeout(absl::string_view text) {
  absl::Duration timeout;
  const absl::StatusOr<uint64_t> seconds = ParseUint64(text);
  if (seconds.ok()) {
    timeout = absl::Seconds(*seconds);
  } else if (!absl::ParseDuration(text, &timeout) || timeout < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" is not a time to wait; expected seconds or a number with a unit, such as "
                     "30, 1.5s, 200ms or 2m, or 0 for no limit"));
  }
  return timeout == absl::ZeroDuration() ? absl::InfiniteDuration() : timeout;
}

}  // namespace dv::cli
