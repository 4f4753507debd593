// CRC-32 over a chain.
#pragma once

#include <cstdint>

#include "server/bytes/chain.h"

namespace dv::bytes {

// RunningCrc32
//
// The CRC-32 of the bytes [begin, end) of a chain, taken step by step: who reads these bytes
// anyway, in ascending order, lets it run just ahead, so that they come from memory once. The chain
// must outlive it.
//
// The CRC is the one of zip and zlib: reflected polynomial 0xEDB88320, start and end inverted.
class RunningCrc32 {
 public:
  // REQUIRES: begin <= end <= chain.size().
  RunningCrc32(const Chain& chain, uint64_t begin, uint64_t end)
      : chain_(chain), next_(begin), end_(end) {}

  // Takes in all bytes below `offset`, and some behind it, to make it worth while.
  void AdvanceTo(uint64_t offset) {
    if (offset > next_) Advance(offset);
  }

  // Takes in all bytes that are left and returns the CRC.
  uint32_t Finish();

 private:
  void Advance(uint64_t offset);
  void Take(uint64_t until);

  const Chain& chain_;
  // The first byte that was not taken in, and the piece that was read last.
  uint64_t next_;
  const uint64_t end_;
  size_t piece_ = 0;
  uint32_t crc_ = 0;
};

// Returns the CRC-32 of the bytes [offset, offset + length) of `chain`: the one of zip and zlib,
// reflected polynomial 0xEDB88320, start and end inverted. Nothing is joined. REQUIRES: the range
// lies within the chain.
uint32_t Crc32(const Chain& chain, uint64_t offset, uint64_t length);

}  // namespace dv::bytes
