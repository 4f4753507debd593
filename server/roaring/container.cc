#include "server/roaring/container.h"

#include <cstring>

namespace dv::roaring {

using bytes::LoadLittle;
using bytes::StoreLittle;

namespace {

// Sets `count` bits of `out` from bit `from` on.
void SetBits(uint8_t* out, uint64_t from, uint64_t count) {
  uint8_t* byte = out + from / 8;
  const uint32_t shift = from % 8;
  if (shift + count <= 8) {
    *byte |= static_cast<uint8_t>(((1u << count) - 1) << shift);
    return;
  }
  *byte++ |= static_cast<uint8_t>(0xFFu << shift);
  count -= 8 - shift;
  std::memset(byte, 0xFF, static_cast<size_t>(count / 8));
  byte += count / 8;
  if (count % 8 != 0) *byte |= static_cast<uint8_t>((1u << (count % 8)) - 1);
}

// Sets the bits of `word` in `out` from bit `from` on. Bytes past `out_bytes` are not touched: bits
// that would lie there must be 0.
void OrWord(uint8_t* out, size_t out_bytes, uint64_t from, uint64_t word) {
  const auto at = static_cast<size_t>(from / 8);
  const uint32_t shift = from % 8;
  if (at + 9 <= out_bytes) {
    StoreLittle(out + at, LoadLittle<uint64_t>(out + at) | word << shift);
    if (shift != 0) out[at + 8] |= static_cast<uint8_t>(word >> (64 - shift));
    return;
  }
  if (word == 0) return;
  uint64_t rest = word << shift;
  for (size_t i = at; rest != 0; ++i, rest >>= 8) out[i] |= static_cast<uint8_t>(rest);
  if (shift != 0 && word >> (64 - shift) != 0) {
    out[at + 8] |= static_cast<uint8_t>(word >> (64 - shift));
  }
}

}  // namespace

uint64_t Container::ContentBytes() {
  switch (kind_) {
    case ContainerKind::kArray:
      return 2 * uint64_t{cardinality_};
    case ContainerKind::kBitset:
      return kBitsetBytes;
    case ContainerKind::kRun:
      return 2 + 4 * uint64_t{RunCount()};
  }
  return 0;
}

uint32_t Container::ArrayLowerBound(uint32_t value) {
  uint32_t low = 0;
  uint32_t count = cardinality_;
  const uint8_t* values = reader_.Contiguous(offset_, 2 * uint64_t{cardinality_});
  while (count > 0) {
    const uint32_t half = count / 2;
    const uint32_t middle = low + half;
    const uint32_t found = values != nullptr
                               ? LoadLittle<uint16_t>(values + 2 * size_t{middle})
                               : reader_.Load<uint16_t>(offset_ + 2 * uint64_t{middle});
    if (found < value) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

uint32_t Container::RunLowerBound(uint32_t value) {
  uint32_t low = 0;
  uint32_t count = RunCount();
  while (count > 0) {
    const uint32_t half = count / 2;
    const uint32_t middle = low + half;
    if (RunLast(middle) < value) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

bool Container::Contains(uint32_t value) {
  switch (kind_) {
    case ContainerKind::kArray: {
      const uint32_t i = ArrayLowerBound(value);
      return i < cardinality_ && reader_.Load<uint16_t>(offset_ + 2 * uint64_t{i}) == value;
    }
    case ContainerKind::kBitset:
      return (reader_.Load<uint8_t>(offset_ + value / 8) >> (value % 8) & 1) != 0;
    case ContainerKind::kRun: {
      const uint32_t i = RunLowerBound(value);
      return i < RunCount() && RunFirst(i) <= value;
    }
  }
  return false;
}

uint32_t Container::Rank(uint32_t value) {
  if (value == 0) return 0;
  if (value >= kContainerRows) return cardinality_;
  switch (kind_) {
    case ContainerKind::kArray:
      return ArrayLowerBound(value);
    case ContainerKind::kBitset: {
      uint32_t rank = 0;
      ForEachWord(0, value - 1, [&rank](uint64_t word, uint32_t) {
        rank += static_cast<uint32_t>(std::popcount(word));
        return true;
      });
      return rank;
    }
    case ContainerKind::kRun: {
      uint32_t rank = 0;
      ForEachStoredRun(0, value - 1, [&rank](uint32_t first, uint32_t last) {
        rank += last - first + 1;
        return true;
      });
      return rank;
    }
  }
  return 0;
}

uint32_t Container::First() {
  switch (kind_) {
    case ContainerKind::kArray:
      return reader_.Load<uint16_t>(offset_);
    case ContainerKind::kRun:
      return RunFirst(0);
    case ContainerKind::kBitset:
      break;
  }
  uint32_t first = 0;
  ForEachWord(0, kContainerRows - 1, [&first](uint64_t word, uint32_t value) {
    if (word == 0) return true;
    first = value + static_cast<uint32_t>(std::countr_zero(word));
    return false;
  });
  return first;
}

uint32_t Container::Last() {
  switch (kind_) {
    case ContainerKind::kArray:
      return reader_.Load<uint16_t>(offset_ + 2 * uint64_t{cardinality_ - 1});
    case ContainerKind::kRun:
      return RunLast(RunCount() - 1);
    case ContainerKind::kBitset:
      break;
  }
  for (uint32_t byte = kBitsetBytes; byte-- > 0;) {
    const uint8_t bits = reader_.Load<uint8_t>(offset_ + byte);
    if (bits != 0) return byte * 8 + static_cast<uint32_t>(std::bit_width(bits)) - 1;
  }
  return 0;
}

size_t Container::WritePositions(uint32_t low, uint32_t high, uint64_t base, uint8_t* out,
                                 size_t capacity) {
  if (capacity == 0) return 0;
  size_t written = 0;
  switch (kind_) {
    case ContainerKind::kArray: {
      const uint32_t begin = low == 0 ? 0 : ArrayLowerBound(low);
      const uint32_t end = high == kContainerRows - 1 ? cardinality_ : ArrayLowerBound(high + 1);
      const uint64_t count = std::min<uint64_t>(end - begin, capacity);
      reader_.ForEachRecord<2>(
          offset_ + 2 * uint64_t{begin}, count, [&](const uint8_t* values, size_t n) {
            uint8_t* to = out + 8 * written;
            for (size_t i = 0; i < n; ++i) {
              StoreLittle(to + 8 * i, base + LoadLittle<uint16_t>(values + 2 * i));
            }
            written += n;
            return true;
          });
      return written;
    }
    case ContainerKind::kBitset:
      ForEachWord(low, high, [&](uint64_t word, uint32_t value) {
        const uint64_t word_base = base + value;
        while (word != 0) {
          if (written == capacity) return false;
          StoreLittle(out + 8 * written, word_base + static_cast<uint32_t>(std::countr_zero(word)));
          ++written;
          word &= word - 1;
        }
        return true;
      });
      return written;
    case ContainerKind::kRun:
      ForEachStoredRun(low, high, [&](uint32_t first, uint32_t last) {
        const size_t n = std::min<size_t>(last - first + 1, capacity - written);
        uint8_t* to = out + 8 * written;
        const uint64_t start = base + first;
        for (size_t i = 0; i < n; ++i) StoreLittle(to + 8 * i, start + i);
        written += n;
        return written < capacity;
      });
      return written;
  }
  return written;
}

void Container::WriteMask(uint32_t low, uint32_t high, uint64_t bit, uint8_t* out,
                          size_t out_bytes) {
  switch (kind_) {
    case ContainerKind::kArray: {
      const uint32_t begin = ArrayLowerBound(low);
      const uint32_t end = ArrayLowerBound(high + 1);
      reader_.ForEachRecord<2>(
          offset_ + 2 * uint64_t{begin}, end - begin, [&](const uint8_t* values, size_t n) {
            for (size_t i = 0; i < n; ++i) {
              const uint64_t at = bit + LoadLittle<uint16_t>(values + 2 * i) - low;
              out[at / 8] |= static_cast<uint8_t>(1u << (at % 8));
            }
            return true;
          });
      return;
    }
    case ContainerKind::kBitset:
      ForEachWord(low, high, [&](uint64_t word, uint32_t value) {
        // The first word may start up to 7 values below `low`; those bits are 0.
        if (value < low) {
          OrWord(out, out_bytes, bit, word >> (low - value));
        } else {
          OrWord(out, out_bytes, bit + (value - low), word);
        }
        return true;
      });
      return;
    case ContainerKind::kRun:
      ForEachStoredRun(low, high, [&](uint32_t first, uint32_t last) {
        SetBits(out, bit + (first - low), uint64_t{last} - first + 1);
        return true;
      });
      return;
  }
}

}  // namespace dv::roaring
