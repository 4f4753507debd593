#include "server/bytes/crc32.h"

#include <algorithm>

#ifdef DV_HAVE_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

namespace dv::bytes {
namespace {

uint32_t Update(uint32_t crc, const uint8_t* data, size_t size) {
#ifdef DV_HAVE_ISAL
  return crc32_gzip_refl(crc, data, size);
#else
  return static_cast<uint32_t>(crc32_z(crc, data, size));
#endif
}

}  // namespace

void RunningCrc32::Advance(uint64_t offset) {
  // Half of a small first-level cache; the loops of CRCs need some length to be fast.
  constexpr uint64_t kStep = uint64_t{16} << 10;
  Take(std::min(end_, std::max(offset, next_ + kStep)));
}

void RunningCrc32::Take(uint64_t until) {
  while (next_ < until) {
    piece_ = chain_.FindPiece(next_, piece_);
    const Chain::Piece& piece = chain_.pieces()[piece_];
    const uint64_t to = std::min(until, piece.end);
    crc_ = Update(crc_, piece.data + (next_ - piece.begin), static_cast<size_t>(to - next_));
    next_ = to;
  }
}

uint32_t RunningCrc32::Finish() {
  Take(end_);
  return crc_;
}

uint32_t Crc32(const Chain& chain, uint64_t offset, uint64_t length) {
  return RunningCrc32(chain, offset, offset + length).Finish();
}

}  // namespace dv::bytes
