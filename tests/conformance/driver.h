// Something that decodes deletion vectors: the library, or a server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/outcome.h"
#include "tests/testing/chains.h"

namespace dv::conformance {

class Driver {
 public:
  virtual ~Driver() = default;

  // Gives all bytes at once, in every way there is to ask for all that is known. One outcome each.
  virtual std::vector<Outcome> ReadWhole(const Case& tested) = 0;

  // Gives the bytes in pieces, once for each of `cuts`. One outcome each, with summary and runs.
  // REQUIRES: the case has bytes.
  virtual std::vector<Outcome> ReadCut(const Case& tested,
                                       const std::vector<testing::Cuts>& cuts) = 0;

  // Largest vector that is worth giving in pieces of one byte.
  virtual uint64_t MaxBytesOneByOne() const = 0;

  // The code that a refusal with `reason` has.
  virtual absl::StatusCode CodeOf(const std::string& reason) const = 0;
};

// Returns the driver of this test program. UNAVAILABLE when what it drives does not start.
absl::StatusOr<std::unique_ptr<Driver>> MakeDriver();

}  // namespace dv::conformance
