#include "server/roaring/mask.h"

#include <algorithm>
#include <cstring>

#include "server/bytes/chain_reader.h"
#include "server/roaring/container.h"
#include "server/roaring/slice.h"

namespace dv::roaring {

uint64_t WriteMask(const View& view, uint64_t start, uint64_t rows, Polarity polarity,
                   uint8_t* out) {
  if (rows == 0) return 0;
  const auto out_bytes = static_cast<size_t>(rows / 8 + (rows % 8 != 0 ? 1 : 0));
  std::memset(out, 0, out_bytes);
  const Range range{start, start + (rows - 1)};
  Range rest = range;
  size_t hint = 0;
  bytes::ChainReader reader(view.chain());
  while (const auto slice = FirstSlice(view.index(), rest, hint)) {
    Container container(reader, view.index(), slice->i);
    container.WriteMask(slice->low, slice->high, slice->base + slice->low - start, out, out_bytes);
    DropThrough(slice->base + slice->high, rest);
  }
  if (polarity == Polarity::kLive) {
    for (size_t i = 0; i < out_bytes; ++i) out[i] = static_cast<uint8_t>(~out[i]);
    if (rows % 8 != 0) out[out_bytes - 1] &= static_cast<uint8_t>((1u << (rows % 8)) - 1);
  }
  return view.Count(range);
}

}  // namespace dv::roaring
