// Random bitmaps.
#pragma once

#include <cstdint>
#include <string>

#include "tests/testing/intervals.h"
#include "tests/testing/random.h"

namespace dv::testing {

// A random bitmap in the portable 64-bit format, and the positions that went into it.
struct RandomBitmap {
  std::string bytes;
  Intervals positions;
};

// RandomRoaring64()
//
// Returns a legal bitmap with 0 to 4 keys up to `max_key`, now and then next to each other, at the
// ends or with an empty bitmap, and containers of all kinds and sizes, full ones included, whose
// content often goes on in the next container. Now and then there are many small containers. The
// encoding is not always the smallest one.
RandomBitmap RandomRoaring64(Random& random, uint32_t max_key);

// Returns a position that is likely to be of interest in a bitmap of `positions`: at or beside the
// ends of intervals, at the ends of containers, or anywhere.
uint64_t RandomPosition(const Intervals& positions, Random& random);

}  // namespace dv::testing
