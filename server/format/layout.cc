#include "server/format/layout.h"

#include <algorithm>
#include <cstring>

#include "server/format/magic.h"

namespace dv::format {

Layout DetectLayout(const bytes::Chain& chain) {
  uint8_t head[9] = {};
  const auto size = static_cast<size_t>(std::min<uint64_t>(chain.size(), sizeof(head)));
  chain.CopyTo(0, size, head);
  const auto has = [&](size_t at, const Magic& magic) {
    return size >= at + magic.size() && std::memcmp(head + at, magic.data(), magic.size()) == 0;
  };
  if (has(0, kPuffinMagic)) return Layout::kPuffin;
  if (has(0, kDvMagic)) return Layout::kDvData;
  if (has(0, kNativeMagic)) return Layout::kNativeLittleEndian;
  if (has(0, kNativeMagicBigEndian)) return Layout::kNativeBigEndian;
  if (has(4, kDvMagic)) return Layout::kFrame64;
  if (has(4, kPaimonV1Magic)) return Layout::kFrame32;
  if (size > 0 && head[0] == 1 &&
      (has(5, kDvMagic) || has(5, kPaimonV1Magic) || has(5, kNativeMagic))) {
    return Layout::kFramedFile;
  }
  return Layout::kUnknown;
}

const char* LayoutName(Layout layout) {
  switch (layout) {
    case Layout::kUnknown:
      return "unknown bytes";
    case Layout::kFrame64:
      return "one frame with a 64-bit bitmap (Iceberg blob, Delta entry or Paimon entry of version "
             "2)";
    case Layout::kFrame32:
      return "one frame with a 32-bit bitmap (Paimon entry of version 1)";
    case Layout::kDvData:
      return "a bitmap with the magic number and without frame (inline Delta vector)";
    case Layout::kNativeLittleEndian:
      return "Delta's old native layout";
    case Layout::kNativeBigEndian:
      return "Delta's old native layout in big endian";
    case Layout::kPuffin:
      return "a Puffin file";
    case Layout::kFramedFile:
      return "a file with a version byte and frames (Delta file or Paimon index file)";
    case Layout::kRoaring64:
      return "a bare 64-bit Roaring bitmap";
    case Layout::kRoaring32:
      return "a bare 32-bit Roaring bitmap";
  }
  return "unknown bytes";
}

}  // namespace dv::format
