#include "server/roaring/container.h"

#include "server/roaring/kernels.h"

namespace dv::roaring {

using bytes::LoadLittle;
using bytes::StoreLittle;

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
      // Whole bytes first, then the bits of the last one.
      uint64_t rank = 0;
      reader_.ForEachBlock(offset_, value / 8, [&](const uint8_t* block, size_t size) {
        rank += ActiveKernels().pop_count(block, size);
        return true;
      });
      if (value % 8 != 0) {
        const uint32_t last = reader_.Load<uint8_t>(offset_ + value / 8);
        rank += static_cast<uint32_t>(std::popcount(last & ((1u << (value % 8)) - 1)));
      }
      return static_cast<uint32_t>(rank);
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
  ForEachBitBlock(0, kContainerRows - 1, [&](const uint8_t* block, size_t size, uint32_t base) {
    return ForEachWord(block, size, base, 0, kContainerRows - 1,
                       [&](uint64_t word, uint32_t value, uint32_t) {
                         if (word == 0) return true;
                         first = value + static_cast<uint32_t>(std::countr_zero(word));
                         return false;
                       });
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
  const Kernels& kernels = ActiveKernels();
  size_t written = 0;
  switch (kind_) {
    case ContainerKind::kArray:
      ForEachValueBlock(low, high, [&](const uint8_t* values, size_t count) {
        const size_t n = std::min(count, capacity - written);
        kernels.widen(values, n, base, out + 8 * written);
        written += n;
        return written < capacity;
      });
      return written;
    case ContainerKind::kBitset: {
      // One by one, where a word must be masked or the room is short.
      const auto add_word = [&](uint64_t word, uint32_t value, uint32_t) {
        for (; word != 0; word &= word - 1) {
          if (written == capacity) return false;
          StoreLittle<uint64_t>(out + 8 * written,
                                base + value + static_cast<uint32_t>(std::countr_zero(word)));
          ++written;
        }
        return true;
      };
      ForEachBitBlock(low, high, [&](const uint8_t* block, size_t size, uint32_t value) {
        while (size > 0) {
          // Whole words inside [low, high] go through the kernel, as many as there is room for in
          // the worst case.
          size_t words = 0;
          if (value >= low && value + 63 <= high) {
            words = std::min(size / 8, (high - value + 1) / size_t{64});
            const size_t room = capacity - written;
            words = room <= kExpandSlack ? 0 : std::min(words, (room - kExpandSlack) / 64);
          }
          if (words > 0) {
            written += kernels.expand(block, words, base + value, out + 8 * written);
          } else {
            words = 1;
            const size_t bytes = std::min<size_t>(size, 8);
            if (!ForEachWord(block, bytes, value, low, high, add_word)) return false;
          }
          const size_t used = std::min(8 * words, size);
          block += used;
          size -= used;
          value += static_cast<uint32_t>(8 * used);
        }
        return true;
      });
      return written;
    }
    case ContainerKind::kRun:
      ForEachStoredRun(low, high, [&](uint32_t first, uint32_t last) {
        const size_t n = std::min<size_t>(last - first + 1, capacity - written);
        kernels.iota(base + first, n, out + 8 * written);
        written += n;
        return written < capacity;
      });
      return written;
  }
  return written;
}

}  // namespace dv::roaring
