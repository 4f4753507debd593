// Small vectors that stand for public bug reports about readers of deletion vectors: each was read
// wrongly, or brought a reader down, somewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/testing/sample.h"

namespace dv::testing {

// BugVector
//
// One vector, A1 to A22, and what it holds if it is valid.
struct BugVector {
  Sample sample;
  uint64_t cardinality = 0;
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
};

// For messages of GoogleTest.
inline void PrintTo(const BugVector& vector, std::ostream* os) { *os << vector.sample.name; }

// Returns all of them, read by Iceberg's rules unless the name says otherwise.
std::vector<BugVector> BugVectors();

// Returns the bytes of one of them. REQUIRES: it exists.
std::string BugVectorBytes(const std::string& name);

}  // namespace dv::testing
