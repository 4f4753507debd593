// Magic numbers, as they stand in the bytes.
#pragma once

#include <array>
#include <cstdint>

namespace dv::format {

using Magic = std::array<uint8_t, 4>;

// Iceberg deletion-vector-v1, Delta, Paimon version 2 (Puffin spec, Delta protocol): 1681511377 in
// little endian.
inline constexpr Magic kDvMagic = {0xD1, 0xD3, 0x39, 0x64};
// Delta's native layout (RoaringBitmapArray of Delta Spark): 1681511376 in little endian, and in
// big endian as in an example of the Delta protocol.
inline constexpr Magic kNativeMagic = {0xD0, 0xD3, 0x39, 0x64};
inline constexpr Magic kNativeMagicBigEndian = {0x64, 0x39, 0xD3, 0xD0};
// Paimon version 1 (BitmapDeletionVector): 1581511376 in big endian.
inline constexpr Magic kPaimonV1Magic = {0x5E, 0x43, 0xF2, 0xD0};
// Puffin (Puffin spec): PFA1.
inline constexpr Magic kPuffinMagic = {'P', 'F', 'A', '1'};

}  // namespace dv::format
