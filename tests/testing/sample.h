// A deletion vector and what must come of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/format/decode.h"

namespace dv::testing {

// Sample
//
// Bytes with a verdict. Of a valid sample the reference reader (reference.h) knows the positions.
struct Sample {
  std::string name;
  std::string bytes;
  format::DecodeOptions options;
  // The reason of the refusal; empty when it is valid.
  std::string reason;
  // The detail `offset` of the refusal, where the sample knows it.
  std::optional<uint64_t> offset;

  bool valid() const { return reason.empty(); }
};

// Returns the code that a refusal with `reason` has in the library.
absl::StatusCode LibraryCode(const std::string& reason);

// Returns the code that a refusal with `reason` has in an answer of the server, for bytes that came
// in the call.
absl::StatusCode ServerCode(const std::string& reason);

}  // namespace dv::testing
