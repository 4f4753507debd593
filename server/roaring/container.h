// File: container.h
//
// What can be asked of one container, read where it lies. Values are the low 16 bits of positions.
// The container must have passed Validate().
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "server/bytes/chain_reader.h"
#include "server/roaring/index.h"

namespace dv::roaring {

// Container
//
// One container of an index, and a reader of its chain, which must outlive it.
class Container {
 public:
  Container(bytes::ChainReader& reader, const Index& index, size_t i)
      : reader_(reader),
        kind_(index[i].kind()),
        offset_(index[i].offset()),
        cardinality_(index.cardinality(i)) {}

  ContainerKind kind() const { return kind_; }
  uint32_t cardinality() const { return cardinality_; }

  // Size in bytes of its content.
  uint64_t ContentBytes();

  // Byte of the chain where its content starts.
  uint64_t content_offset() const { return offset_; }

  // Whether `value` is in it.
  bool Contains(uint32_t value);

  // Number of its values below `value`, which may be 65,536.
  uint32_t Rank(uint32_t value);

  // Its smallest and largest value.
  uint32_t First();
  uint32_t Last();

  // Writes up to `capacity` of its values in [low, high], plus `base`, to `out` as little-endian
  // numbers of 8 bytes, and returns how many.
  size_t WritePositions(uint32_t low, uint32_t high, uint64_t base, uint8_t* out, size_t capacity);

  // Calls `fn(uint32_t first, uint32_t last)` for its maximal runs of values, cut to [low, high],
  // in ascending order, until one call returns false. Returns whether all returned true.
  template <typename Fn>
  bool ForEachRun(uint32_t low, uint32_t high, Fn&& fn);

  // The three below are for containers of one kind only. Each calls `fn` until one call returns
  // false, and returns whether all returned true.

  // For arrays: calls `fn(const uint8_t* values, size_t count)` for the values in [low, high], in
  // order, as little-endian 16-bit numbers.
  template <typename Fn>
  bool ForEachValueBlock(uint32_t low, uint32_t high, Fn&& fn);

  // For bitsets: calls `fn(const uint8_t* block, size_t size, uint32_t first_value)` for the bytes
  // that hold the values [low, high], in order, in as few blocks as there are pieces. Bit 0 of the
  // first byte of a block is `first_value`, a multiple of 8; the first and the last byte may hold
  // values outside of [low, high].
  template <typename Fn>
  bool ForEachBitBlock(uint32_t low, uint32_t high, Fn&& fn);

  // For runs: calls `fn(uint32_t first, uint32_t last)` for the runs that meet [low, high], cut to
  // it.
  template <typename Fn>
  bool ForEachStoredRun(uint32_t low, uint32_t high, Fn&& fn);

 private:
  uint32_t RunCount() { return reader_.Load<uint16_t>(offset_); }
  uint32_t RunFirst(uint32_t i) { return reader_.Load<uint16_t>(offset_ + 2 + 4 * uint64_t{i}); }
  uint32_t RunLast(uint32_t i) {
    return RunFirst(i) + reader_.Load<uint16_t>(offset_ + 4 + 4 * uint64_t{i});
  }

  // Index of the first value of an array that is at least `value`.
  uint32_t ArrayLowerBound(uint32_t value);

  // Index of the first run that ends at or after `value`.
  uint32_t RunLowerBound(uint32_t value);

  bytes::ChainReader& reader_;
  ContainerKind kind_;
  uint64_t offset_;
  uint32_t cardinality_;
};

// --- Implementation of the templates
// ---------------------------------------------------------------------

// Calls `fn(uint64_t word, uint32_t first_value, uint32_t bits)` for the bytes of a block as words
// with all values outside of [low, high] cleared, until one call returns false; the last word may
// have fewer than 64 bits. Returns whether all returned true.
template <typename Fn>
bool ForEachWord(const uint8_t* block, size_t size, uint32_t first_value, uint32_t low,
                 uint32_t high, Fn&& fn) {
  for (uint32_t value = first_value; size > 0;) {
    uint64_t word = 0;
    uint32_t bits = 64;
    if (size >= 8) {
      word = bytes::LoadLittle<uint64_t>(block);
    } else {
      for (size_t i = 0; i < size; ++i) word |= uint64_t{block[i]} << (8 * i);
      bits = static_cast<uint32_t>(8 * size);
    }
    if (value < low) word &= ~uint64_t{0} << (low - value);
    if (high - value < 63) word &= ~uint64_t{0} >> (63 - (high - value));
    if (!fn(word, value, bits)) return false;
    value += bits;
    block += bits / 8;
    size -= bits / 8;
  }
  return true;
}

template <typename Fn>
bool Container::ForEachValueBlock(uint32_t low, uint32_t high, Fn&& fn) {
  const uint32_t begin = low == 0 ? 0 : ArrayLowerBound(low);
  const uint32_t end = high == kContainerRows - 1 ? cardinality_ : ArrayLowerBound(high + 1);
  return reader_.ForEachRecord<2>(offset_ + 2 * uint64_t{begin}, end - begin, fn);
}

template <typename Fn>
bool Container::ForEachBitBlock(uint32_t low, uint32_t high, Fn&& fn) {
  const uint32_t first_byte = low / 8;
  uint32_t value = first_byte * 8;
  return reader_.ForEachBlock(offset_ + first_byte, high / 8 - first_byte + 1,
                              [&](const uint8_t* block, size_t size) {
                                if (!fn(block, size, value)) return false;
                                value += static_cast<uint32_t>(8 * size);
                                return true;
                              });
}

template <typename Fn>
bool Container::ForEachStoredRun(uint32_t low, uint32_t high, Fn&& fn) {
  const uint32_t count = RunCount();
  const uint32_t begin = RunLowerBound(low);
  bool past_high = false;
  const bool all = reader_.ForEachRecord<4>(
      offset_ + 2 + 4 * uint64_t{begin}, count - begin, [&](const uint8_t* runs, size_t n) {
        for (size_t i = 0; i < n; ++i, runs += 4) {
          const uint32_t first = bytes::LoadLittle<uint16_t>(runs);
          const uint32_t last = first + bytes::LoadLittle<uint16_t>(runs + 2);
          if (first > high) {
            past_high = true;
            return false;
          }
          if (!fn(std::max(first, low), std::min(last, high))) return false;
        }
        return true;
      });
  return all || past_high;
}

template <typename Fn>
bool Container::ForEachRun(uint32_t low, uint32_t high, Fn&& fn) {
  if (kind_ == ContainerKind::kRun) return ForEachStoredRun(low, high, fn);
  // The run that may still grow; none while first > last.
  uint32_t first = 1;
  uint32_t last = 0;
  const auto add = [&](uint32_t from, uint32_t to) {
    if (first <= last) {
      if (from == last + 1) {
        last = to;
        return true;
      }
      if (!fn(first, last)) {
        first = 1;
        last = 0;
        return false;
      }
    }
    first = from;
    last = to;
    return true;
  };
  bool all;
  if (kind_ == ContainerKind::kArray) {
    all = ForEachValueBlock(low, high, [&](const uint8_t* values, size_t n) {
      for (size_t i = 0; i < n; ++i) {
        const uint32_t value = bytes::LoadLittle<uint16_t>(values + 2 * i);
        if (!add(value, value)) return false;
      }
      return true;
    });
  } else {
    const auto add_word = [&](uint64_t word, uint32_t value, uint32_t) {
      while (word != 0) {
        const auto skip = static_cast<uint32_t>(std::countr_zero(word));
        const auto length = static_cast<uint32_t>(std::countr_one(word >> skip));
        if (!add(value + skip, value + skip + length - 1)) return false;
        if (skip + length == 64) break;
        word &= ~uint64_t{0} << (skip + length);
      }
      return true;
    };
    all = ForEachBitBlock(low, high, [&](const uint8_t* block, size_t size, uint32_t value) {
      return ForEachWord(block, size, value, low, high, add_word);
    });
  }
  if (!all) return false;
  return first > last || fn(first, last);
}

}  // namespace dv::roaring
