// Numbers in memory, at any alignment.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace dv::bytes {

// Compilers turn each of these loops into one instruction.
template <typename T>
inline T ReverseBytes(T value) {
  T result = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) {
    result = static_cast<T>(result << 8) | static_cast<T>(value & 0xFF);
    value = static_cast<T>(value >> 8);
  }
  return result;
}

// Returns the little-endian number of type T that starts at `p`.
template <typename T>
inline T LoadLittle(const uint8_t* p) {
  T value;
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): `p` is never null.
  std::memcpy(&value, p, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) value = ReverseBytes(value);
  return value;
}

// Returns the big-endian number of type T that starts at `p`.
template <typename T>
inline T LoadBig(const uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  if constexpr (std::endian::native == std::endian::little) value = ReverseBytes(value);
  return value;
}

// Writes `value` as a little-endian number to `p`.
template <typename T>
inline void StoreLittle(uint8_t* p, T value) {
  if constexpr (std::endian::native == std::endian::big) value = ReverseBytes(value);
  std::memcpy(p, &value, sizeof(T));
}

}  // namespace dv::bytes
