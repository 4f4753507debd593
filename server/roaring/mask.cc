#include "server/roaring/mask.h"

#include <algorithm>
#include <cstring>

#include "server/bytes/chain_reader.h"
#include "server/roaring/container.h"
#include "server/roaring/slice.h"

namespace dv::roaring {

using bytes::LoadLittle;
using bytes::StoreLittle;

namespace {

// MaskWriter
//
// Writes a mask from its first bit to its last. A live row is a bit of `background`, a deleted row
// its opposite, so that both polarities take the same steps. Bytes behind the last bit written are
// not defined until Finish().
class MaskWriter {
 public:
  MaskWriter(uint8_t* out, Polarity polarity)
      : out_(out), background_(polarity == Polarity::kDeleted ? 0x00 : 0xFF) {}

  // Writes live rows up to, not including, bit `end`.
  void FillTo(uint64_t end) {
    const uint64_t first_byte = (bit_ + 7) / 8;
    const uint64_t end_byte = (end + 7) / 8;
    // The byte that bit_ is in was filled to its end.
    if (end_byte > first_byte) {
      std::memset(out_ + first_byte, background_, static_cast<size_t>(end_byte - first_byte));
    }
    bit_ = std::max(bit_, end);
  }

  // Makes `count` rows from bit `at` on, which were written as live, deleted.
  // REQUIRES: count > 0.
  void Flip(uint64_t at, uint64_t count) {
    uint8_t* byte = out_ + at / 8;
    const uint32_t shift = at % 8;
    if (shift + count <= 8) {
      *byte ^= static_cast<uint8_t>(((1u << count) - 1) << shift);
      return;
    }
    *byte++ ^= static_cast<uint8_t>(0xFFu << shift);
    count -= 8 - shift;
    std::memset(byte, ~background_ & 0xFF, static_cast<size_t>(count / 8));
    byte += count / 8;
    if (count % 8 != 0) *byte ^= static_cast<uint8_t>((1u << (count % 8)) - 1);
  }

  // Writes the next `bits` rows: those whose bits are set in `word` are deleted. Bits above must be
  // 0.
  void Push(uint64_t word, uint32_t bits) {
    const uint64_t fill = background_ != 0 ? ~uint64_t{0} : 0;
    const uint32_t shift = bit_ % 8;
    uint8_t* to = out_ + bit_ / 8;
    // With a shift of 0 nothing is kept, and the byte was not written yet.
    const uint64_t kept = shift == 0 ? 0 : *to & ((1u << shift) - 1);
    const uint64_t image = word ^ fill;
    const uint64_t low = image << shift | kept;
    // What `low` has no room for, with background behind it.
    const auto carry = static_cast<uint8_t>(
        shift == 0 ? 0 : image >> (64 - shift) | uint64_t{background_} << shift);
    const size_t bytes = (shift + bits + 7) / 8;
    if (bytes >= 8) {
      StoreLittle(to, low);
    } else {
      for (size_t i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(low >> (8 * i));
    }
    if (bytes > 8) to[8] = carry;
    bit_ += bits;
  }

  // Writes the next 8 * `size` rows from a bitmap of deleted rows.
  // REQUIRES: the next bit is the first of a byte.
  void CopyBytes(const uint8_t* block, size_t size) {
    uint8_t* to = out_ + bit_ / 8;
    if (background_ == 0) {
      std::memcpy(to, block, size);
    } else {
      for (size_t i = 0; i < size; ++i) to[i] = static_cast<uint8_t>(~block[i]);
    }
    bit_ += 8 * uint64_t{size};
  }

  bool byte_aligned() const { return bit_ % 8 == 0; }

 private:
  uint8_t* out_;
  const uint8_t background_;
  uint64_t bit_ = 0;
};

void WriteBitset(Container& container, uint32_t low, uint32_t high, MaskWriter& writer) {
  container.ForEachBitBlock(low, high, [&](const uint8_t* block, size_t size, uint32_t value) {
    const auto push = [&](uint64_t word, uint32_t first, uint32_t bits) {
      // The first word may start below `low`, the last one go past `high`.
      const uint32_t skip = first < low ? low - first : 0;
      const uint32_t end = std::min(bits, high - first + 1);
      writer.Push(word >> skip, end - skip);
      return true;
    };
    // Whole bytes are copied where the mask and the bitset are in step.
    if (value >= low && writer.byte_aligned()) {
      const size_t whole = std::min(size, (high - value + 1) / size_t{8});
      writer.CopyBytes(block, whole);
      block += whole;
      size -= whole;
      value += static_cast<uint32_t>(8 * whole);
    }
    return ForEachWord(block, size, value, low, high, push);
  });
}

}  // namespace

uint64_t WriteMask(const View& view, uint64_t start, uint64_t rows, Polarity polarity,
                   uint8_t* out) {
  if (rows == 0) return 0;
  MaskWriter writer(out, polarity);
  const Range range{start, start + (rows - 1)};
  Range rest = range;
  size_t hint = 0;
  bytes::ChainReader reader(view.chain());
  while (const auto slice = FirstSlice(view.index(), rest, hint)) {
    const uint64_t bit = slice->base + slice->low - start;
    const uint64_t end = bit + (slice->high - slice->low) + 1;
    Container container(reader, view.index(), slice->i);
    switch (container.kind()) {
      case ContainerKind::kBitset:
        writer.FillTo(bit);
        WriteBitset(container, slice->low, slice->high, writer);
        break;
      case ContainerKind::kArray:
        writer.FillTo(end);
        container.ForEachValueBlock(
            slice->low, slice->high, [&](const uint8_t* values, size_t count) {
              for (size_t i = 0; i < count; ++i) {
                writer.Flip(bit + LoadLittle<uint16_t>(values + 2 * i) - slice->low, 1);
              }
              return true;
            });
        break;
      case ContainerKind::kRun:
        writer.FillTo(end);
        container.ForEachStoredRun(slice->low, slice->high, [&](uint32_t first, uint32_t last) {
          writer.Flip(bit + (first - slice->low), uint64_t{last} - first + 1);
          return true;
        });
        break;
    }
    DropThrough(slice->base + slice->high, rest);
  }
  writer.FillTo(rows);
  if (rows % 8 != 0) out[rows / 8] &= static_cast<uint8_t>((1u << (rows % 8)) - 1);
  return view.Count(range);
}

}  // namespace dv::roaring
