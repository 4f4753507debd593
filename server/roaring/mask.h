// Masks: one bit for each row of a range.
#pragma once

#include <cstdint>

#include "server/roaring/view.h"

namespace dv::roaring {

// What a bit that is set means.
enum class Polarity { kDeleted, kLive };

// WriteMask()
//
// Writes the mask of the rows [start, start + rows) to `out`: ceil(rows / 8) bytes, bit i % 8,
// least significant first, of byte i / 8 is row `start + i`; padding bits are 0. Returns the number
// of deleted rows in it. Every byte of `out` is written; it need not be cleared before. REQUIRES:
// start + rows <= 2^64.
uint64_t WriteMask(const View& view, uint64_t start, uint64_t rows, Polarity polarity,
                   uint8_t* out);

}  // namespace dv::roaring
