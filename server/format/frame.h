// File: frame.h
//
// The frame around a deletion vector (Puffin spec, blob type deletion-vector-v1; the same bytes are
// an entry of a Delta file and of a Paimon index file of version 2):
//
//   offset  size
//   0       4     length, big endian: 4 + v
//   4       4     magic D1 D3 39 64
//   8       v     64-bit Roaring
//   8 + v   4     CRC-32 of magic and bitmap, big endian
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/bytes/chain.h"
#include "server/roaring/view.h"

namespace dv::format {

// Length word and CRC; and the smallest frame, that of the empty vector.
inline constexpr uint64_t kFrameOverhead = 8;
inline constexpr uint64_t kMinFrameBytes = 20;

// Where the bitmap lies in the chain, and the checksum over it.
struct FrameContent {
  uint64_t begin;
  uint64_t end;
  roaring::View::Checksum checksum;
};

// ReadFrame()
//
// Checks the frame that fills `chain`: size, length, magic, in this order. The CRC is left to
// View::Open(), which takes it in the same pass in which it reads the bitmap; only where the magic
// is missing it is looked at here, since it comes first: what is damaged is not judged by its
// magic.
//
// Errors: FAILED_PRECONDITION FRAME_TOO_SHORT, FRAME_LENGTH_MISMATCH (with `needed`, the size that
// the whole frame would have), LAYOUT_UNKNOWN or LAYOUT_MISMATCH (no magic where it must be);
// DATA_LOSS CRC_MISMATCH.
absl::StatusOr<FrameContent> ReadFrame(const bytes::Chain& chain);

}  // namespace dv::format
