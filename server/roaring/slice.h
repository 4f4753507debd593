// The part of a container that a range covers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "server/roaring/index.h"
#include "server/roaring/range.h"

namespace dv::roaring {

// ContainerSlice
//
// Container `i` of an index, the position of its value 0, and the values of it that a range covers.
struct ContainerSlice {
  size_t i;
  uint64_t base;
  uint32_t low;
  uint32_t high;

  // Whether the range covers the whole container.
  bool whole() const { return low == 0 && high == kContainerRows - 1; }
};

// Returns the first container that `range` meets, or nothing. `hint` is where to look first and is
// set to the container found, for the next call.
inline std::optional<ContainerSlice> FirstSlice(const Index& index, const Range& range,
                                                size_t& hint) {
  if (range.empty()) return std::nullopt;
  const uint64_t first_key = range.first >> 16;
  const uint64_t last_key = range.last >> 16;
  const size_t i = index.LowerBound(first_key, hint);
  hint = i;
  if (i == index.size() || index[i].key > last_key) return std::nullopt;
  const uint64_t key = index[i].key;
  return ContainerSlice{
      i, key << 16, key == first_key ? static_cast<uint32_t>(range.first & 0xFFFF) : 0,
      key == last_key ? static_cast<uint32_t>(range.last & 0xFFFF) : kContainerRows - 1};
}

// Takes all rows up to and including `position` from the front of `range`.
inline void DropThrough(uint64_t position, Range& range) {
  if (position == std::numeric_limits<uint64_t>::max()) {
    range = Range{1, 0};
  } else {
    range.first = position + 1;
  }
}

}  // namespace dv::roaring
