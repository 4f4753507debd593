// What the first bytes of a deletion vector say that it is.
#pragma once

#include "server/bytes/chain.h"

namespace dv::format {

// The layouts that a magic number can tell, and the two bare ones that none can.
enum class Layout {
  kUnknown,
  // Length, magic D1 D3 39 64, 64-bit Roaring, CRC-32.
  kFrame64,
  // Size, magic 5E 43 F2 D0, 32-bit Roaring, CRC-32.
  kFrame32,
  // Magic D1 D3 39 64 and 64-bit Roaring.
  kDvData,
  // Magic D0 D3 39 64, sizes and 32-bit Roaring.
  kNativeLittleEndian,
  // The same in big endian.
  kNativeBigEndian,
  // Starts with PFA1.
  kPuffin,
  // Version byte 1 and frames.
  kFramedFile,
  kRoaring64,
  kRoaring32,
};

// Returns the layout that the magic number at the start of `chain` tells, or kUnknown. Bare Roaring
// is never guessed. Looks at no more than 9 bytes, and says nothing about the rest.
Layout DetectLayout(const bytes::Chain& chain);

// Returns what to call a layout in a message, such as "a frame with a 64-bit bitmap".
const char* LayoutName(Layout layout);

}  // namespace dv::format
