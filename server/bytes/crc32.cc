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

uint32_t Crc32(const Chain& chain, uint64_t offset, uint64_t length) {
  uint32_t crc = 0;
  if (length == 0) return crc;
  for (size_t i = chain.FindPiece(offset); length > 0; ++i) {
    const Chain::Piece& piece = chain.pieces()[i];
    const uint64_t n = std::min(length, piece.end - offset);
    crc = Update(crc, piece.data + (offset - piece.begin), static_cast<size_t>(n));
    offset += n;
    length -= n;
  }
  return crc;
}

}  // namespace dv::bytes
