// File: reference.h
//
// A second reader of deletion vectors, written from the rules of the formats alone: on one flat
// string, without any regard to speed, sharing nothing with the server. Tests hold the server
// against it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/testing/intervals.h"

namespace dv::testing {

// What the reference reader says of some bytes.
struct ReferenceResult {
  // Name of the first broken rule, as in server/bytes/reason.h; empty when all are kept. Headers
  // are read before contents.
  std::string reason;
  // Where in the bytes it is broken.
  uint64_t offset = 0;
  // The positions, when all rules are kept.
  Intervals positions;

  bool ok() const { return reason.empty(); }
};

// Reads a bare 64-bit bitmap that fills `bytes`, with keys up to `max_key`.
ReferenceResult ReadRoaring64(std::string_view bytes, uint32_t max_key);

// Reads a frame with a 64-bit bitmap that fills `bytes`.
ReferenceResult ReadFrame64(std::string_view bytes);

}  // namespace dv::testing
