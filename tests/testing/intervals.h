// A set of positions as a plain list: slow, simple, and easy to trust.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dv::testing {

// The positions from `first` to `last`, both included.
struct Interval {
  uint64_t first;
  uint64_t last;

  // Number of positions. REQUIRES: not all 2^64 of them.
  uint64_t length() const { return last - first + 1; }

  bool operator==(const Interval& other) const = default;
};

// Intervals
//
// A set of 64-bit positions as ascending intervals, as long as they can be: between two of them at
// least one position is missing.
class Intervals {
 public:
  // Adds [first, last]. REQUIRES: first <= last, and first is above all positions that are there.
  void Append(uint64_t first, uint64_t last);

  const std::vector<Interval>& list() const { return list_; }

  // Number of positions. REQUIRES: less than 2^64.
  uint64_t Cardinality() const;

  std::optional<uint64_t> First() const;
  std::optional<uint64_t> Last() const;

  bool Contains(uint64_t position) const;

  // Number of positions in [first, last].
  uint64_t Count(uint64_t first, uint64_t last) const;

  // Returns the positions that are in [first, last] too.
  Intervals Clip(uint64_t first, uint64_t last) const;

  // Returns the first `count` positions, or all if there are fewer.
  std::vector<uint64_t> Positions(uint64_t count) const;

  // Returns the SHA-256 of all positions, 8 bytes little endian each, in hexadecimal digits.
  std::string PositionsDigest() const;

  // Returns the SHA-256 of all intervals, start and length as 8 bytes little endian each.
  std::string RunsDigest() const;

  bool operator==(const Intervals& other) const = default;

 private:
  std::vector<Interval> list_;
};

}  // namespace dv::testing
