// CRC-32 over a chain.
#pragma once

#include <cstdint>

#include "server/bytes/chain.h"

namespace dv::bytes {

// Returns the CRC-32 of the bytes [offset, offset + length) of `chain`: the one of zip and zlib,
// reflected polynomial 0xEDB88320, start and end inverted. Nothing is joined. REQUIRES: the range
// lies within the chain.
uint32_t Crc32(const Chain& chain, uint64_t offset, uint64_t length);

}  // namespace dv::bytes
