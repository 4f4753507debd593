// The few elements of the protobuf wire format that are written by hand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dv::rpc {

// Most bytes that a number takes.
inline constexpr size_t kMaxVarintBytes = 10;

// Returns how many bytes `value` takes as a varint.
inline size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// Writes `value` as a varint to `out` and returns where it ends.
inline uint8_t* WriteVarint(uint64_t value, uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

// Writes a field of a number. REQUIRES: number < 16.
inline uint8_t* WriteVarintField(uint32_t number, uint64_t value, uint8_t* out) {
  *out++ = static_cast<uint8_t>(number << 3);
  return WriteVarint(value, out);
}

// Returns how many bytes the tag and the length of a field of `length` bytes take.
inline size_t LengthPrefixSize(uint64_t length) { return 1 + VarintSize(length); }

// Writes the tag and the length of a field of bytes, a message or a packed array. REQUIRES: number
// < 16.
inline uint8_t* WriteLengthPrefix(uint32_t number, uint64_t length, uint8_t* out) {
  *out++ = static_cast<uint8_t>(number << 3 | 2);
  return WriteVarint(length, out);
}

}  // namespace dv::rpc
