// What an implementation says of some bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/conformance/cases.h"

namespace dv::conformance {

// Outcome
//
// The answer to one way of asking. What that way does not tell is left out.
struct Outcome {
  // How it was asked, for messages.
  std::string way;
  // OK, or the refusal with its reason.
  absl::Status status;

  std::optional<uint64_t> cardinality;
  // Set together with `cardinality`.
  std::optional<uint64_t> first;
  std::optional<uint64_t> last;
  std::optional<std::vector<uint64_t>> first_positions;
  std::optional<std::string> positions_digest;
  std::optional<std::string> runs_digest;
};

// Fails the running test where `outcome` is not what `tested` expects. `code` is the code that a
// refusal must have.
void ExpectOutcome(const Case& tested, const Outcome& outcome, absl::StatusCode code);

}  // namespace dv::conformance
