// What every implementation of the decoder must read, and what it must refuse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/testing/sample.h"

namespace dv::conformance {

// Case
//
// Bytes, and what must come of them.
struct Case {
  std::string name;
  std::string bytes;
  format::DecodeOptions options;
  // The reasons that a refusal may have; empty when it must be read.
  std::vector<std::string> reasons;

  // What is in it, when it must be read.
  uint64_t cardinality = 0;
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
  // Its first positions: 8 of them, or all.
  std::vector<uint64_t> first_positions;
  // SHA-256 of all positions, 8 bytes each; empty for vectors with too many.
  std::string positions_digest;
  // SHA-256 of all maximal runs, start and length.
  std::string runs_digest;

  bool valid() const { return reasons.empty(); }
};

// Vectors with more positions are compared by their runs only.
inline constexpr uint64_t kMaxListedPositions = 60'000'000;

// Returns the vectors of public bug reports.
std::vector<Case> BugVectorCases();

// Returns every shape of the assembler, whole and broken.
std::vector<Case> ShapeCases();

// Puts what the reference reader says of `tested` into it. Returns why it cannot be read, or an
// empty text.
std::string FillFromReference(Case& tested);

}  // namespace dv::conformance
