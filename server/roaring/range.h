// A range of row positions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace dv::roaring {

// Range
//
// The rows from `first` to `last`, both included, so that the last possible row, 2^64-1, can be
// named; or no row, when `first` > `last`.
struct Range {
  uint64_t first = 0;
  uint64_t last = std::numeric_limits<uint64_t>::max();

  // Returns [start, end), or [start, 2^64) without an end.
  // REQUIRES: start <= end.
  static Range HalfOpen(uint64_t start, std::optional<uint64_t> end) {
    if (!end.has_value()) return Range{start, std::numeric_limits<uint64_t>::max()};
    if (*end == start) return Range{1, 0};
    return Range{start, *end - 1};
  }

  bool empty() const { return first > last; }
};

}  // namespace dv::roaring
