// Every shape that a deletion vector can have, whole and broken, from the assembler.
#pragma once

#include <vector>

#include "tests/testing/sample.h"

namespace dv::testing {

// Returns samples of every legal shape of a 64-bit bitmap: each kind of container at its smallest
// and largest, both cookies, with and without an offset header, extreme keys, empty bitmaps. Most
// are framed.
std::vector<Sample> ValidShapes();

// Returns samples that break one rule each, of the frame or of the bitmap.
std::vector<Sample> BrokenShapes();

}  // namespace dv::testing
