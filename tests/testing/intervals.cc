#include "tests/testing/intervals.h"

#include <algorithm>

#include "tests/testing/sha256.h"

namespace dv::testing {
namespace {

// Returns the first interval of `list` that does not end before `position`.
std::vector<Interval>::const_iterator FirstAtOrAfter(const std::vector<Interval>& list,
                                                     uint64_t position) {
  return std::partition_point(list.begin(), list.end(), [position](const Interval& interval) {
    return interval.last < position;
  });
}

}  // namespace

void Intervals::Append(uint64_t first, uint64_t last) {
  if (!list_.empty() && list_.back().last + 1 == first) {
    list_.back().last = last;
    return;
  }
  list_.push_back({first, last});
}

uint64_t Intervals::Cardinality() const {
  uint64_t sum = 0;
  for (const Interval& interval : list_) sum += interval.length();
  return sum;
}

std::optional<uint64_t> Intervals::First() const {
  if (list_.empty()) return std::nullopt;
  return list_.front().first;
}

std::optional<uint64_t> Intervals::Last() const {
  if (list_.empty()) return std::nullopt;
  return list_.back().last;
}

bool Intervals::Contains(uint64_t position) const {
  const auto it = FirstAtOrAfter(list_, position);
  return it != list_.end() && it->first <= position;
}

uint64_t Intervals::Count(uint64_t first, uint64_t last) const {
  return Clip(first, last).Cardinality();
}

Intervals Intervals::Clip(uint64_t first, uint64_t last) const {
  Intervals clipped;
  for (auto it = FirstAtOrAfter(list_, first); it != list_.end() && it->first <= last; ++it) {
    clipped.list_.push_back({std::max(it->first, first), std::min(it->last, last)});
  }
  return clipped;
}

std::vector<uint64_t> Intervals::Positions(uint64_t count) const {
  std::vector<uint64_t> positions;
  for (const Interval& interval : list_) {
    for (uint64_t i = 0; i < interval.length(); ++i) {
      if (positions.size() == count) return positions;
      positions.push_back(interval.first + i);
    }
  }
  return positions;
}

std::string Intervals::PositionsDigest() const {
  Sha256 digest;
  for (const Interval& interval : list_) {
    for (uint64_t i = 0; i < interval.length(); ++i) digest.UpdateLe64(interval.first + i);
  }
  return digest.Finish();
}

std::string Intervals::RunsDigest() const {
  Sha256 digest;
  for (const Interval& interval : list_) {
    digest.UpdateLe64(interval.first);
    digest.UpdateLe64(interval.length());
  }
  return digest.Finish();
}

}  // namespace dv::testing
