// CRoaring as an oracle: another opinion of the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testing/intervals.h"

namespace dv::testing {

// Oracle
//
// A 64-bit bitmap in CRoaring's memory.
class Oracle {
 public:
  // What CRoaring says of some bytes.
  struct Verdict {
    // Whether its safe reader and its own validation take them, trailing bytes included.
    bool accepted = false;
    // Why not.
    std::string why;
  };

  // Returns whether CRoaring takes `bytes`, which are bare 64-bit Roaring.
  static Verdict Judge(std::string_view bytes);

  // Reads `bytes`. REQUIRES: Judge() accepts them.
  explicit Oracle(std::string_view bytes);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  uint64_t Cardinality() const;
  std::optional<uint64_t> First() const;
  std::optional<uint64_t> Last() const;
  bool Contains(uint64_t position) const;

  // Number of positions in [first, last].
  uint64_t Count(uint64_t first, uint64_t last) const;

  // Returns the positions in [first, last], at most `limit` of them.
  std::vector<uint64_t> Positions(uint64_t first, uint64_t last, uint64_t limit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dv::testing
