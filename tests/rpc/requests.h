// Vectors and messages for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/roaring/view.h"
#include "server/rpc/wire.h"
#include "tests/testing/intervals.h"
#include "tests/testing/random.h"

namespace dv::rpc {

// Returns an Iceberg blob with {1, 3, 5}: 46 bytes.
std::string SmallBlob();

// Returns an Iceberg blob of at least `bytes` bytes, all bitsets, and how many positions it holds.
struct BigBlob {
  std::string bytes;
  uint64_t cardinality = 0;
};
BigBlob MakeBigBlob(size_t bytes);

// Returns a view of bare Roaring with these keys and bitmaps. Fails the test if it is not valid.
roaring::View ViewOf(const std::string& roaring64);

// Returns `bytes` as a message that came in pieces of 1 to `max_piece` bytes, each with memory of
// its own.
ReceivedMessage InPieces(std::string_view bytes, uint64_t max_piece, dv::testing::Random& random);

// Returns `bytes` as a message in one piece.
ReceivedMessage InOnePiece(std::string_view bytes);

}  // namespace dv::rpc
