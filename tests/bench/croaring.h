// File: croaring.h
//
// What CRoaring does with the same bytes: the peer of every row. Each decoder makes its bitmap,
// frees it again and returns a number that depends on it, or ends the process if CRoaring refuses
// the bytes.
#pragma once

#include <roaring/roaring64.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace dv::bench {

// How much is checked.
enum class Checks {
  // Bounds and what else the decoder checks by itself.
  kIndex,
  // roaring64_bitmap_internal_validate() too.
  kContent,
  // zlib's CRC-32 of the bytes too.
  kContentAndCrc,
};

// Whether CRoaring has roaring64_bitmap_portable_deserialize_frozen() (5.1 and newer).
bool HaveFrozen64();

// CRoaring's version.
std::string CRoaringVersion();

// roaring64_bitmap_portable_deserialize_safe(): copies everything into its own memory.
uint64_t DecodeSafe(std::string_view payload, Checks checks);

// roaring64_bitmap_portable_deserialize_frozen(): leaves the containers where they are.
// REQUIRES: HaveFrozen64().
uint64_t DecodeFrozen64(std::string_view payload, Checks checks);

// roaring_bitmap_portable_deserialize_size() and roaring_bitmap_portable_deserialize_frozen(), key
// by key. Checks bounds only. `bitmaps` is used again from call to call.
uint64_t DecodeFrozen32(std::string_view payload, std::vector<roaring_bitmap_t*>& bitmaps);

// A 64-bit bitmap in CRoaring's own memory.
struct FreeBitmap {
  void operator()(roaring64_bitmap_t* bitmap) const { roaring64_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<roaring64_bitmap_t, FreeBitmap>;
Bitmap ReadBitmap(std::string_view payload);

// The queries, over the rows [start, start + rows). Each returns the number of positions.

// Copies positions to `out` as often as it is full.
uint64_t ReadPositions(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                       absl::Span<uint64_t> out);

// Reads positions, joins neighbours to runs and writes start and length to `out`, which is used
// again from its start when it is full.
uint64_t ReadRuns(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                  absl::Span<uint64_t> out);

// Clears (or sets) the mask and sets (or clears) the bit of each position that is read. `out` has
// ceil(rows / 8) bytes.
uint64_t WriteMask(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows, bool live,
                   absl::Span<uint8_t> out);

// Cuts the range out with roaring64_bitmap_and() and writes it in the portable format.
uint64_t WriteRoaring(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                      std::string& out);

// All positions, as roaring64_bitmap_to_uint64_array() writes them. `out` has room.
uint64_t ReadAllPositions(const roaring64_bitmap_t* bitmap, absl::Span<uint64_t> out);

// AllMask
//
// The mask of all positions up to the last, as roaring_bitmap_to_bitset() writes it, into a bitset
// that is used again.
class AllMask {
 public:
  // `payload` holds one key, 0.
  explicit AllMask(std::string_view payload);
  ~AllMask();
  AllMask(const AllMask&) = delete;
  AllMask& operator=(const AllMask&) = delete;

  // Returns the number of words.
  uint64_t Write();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dv::bench
