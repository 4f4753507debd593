#include "server/roaring/kernels_x86.h"

#if defined(__x86_64__) && defined(__GNUC__)

// GCC 12 takes the operands that its own intrinsics leave undefined on purpose for mistakes.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <array>
#include <bit>

#include "server/bytes/endian.h"

#define DV_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define DV_AVX512 \
  __attribute__((target("avx2,bmi,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2,avx512vpopcntdq")))

namespace dv::roaring {

using bytes::LoadLittle;
using bytes::StoreLittle;

namespace {

// Below this many bits in a word, taking them out one by one is faster than byte by byte.
constexpr int kFewBits = 6;

const __m128i* Vector128(const uint8_t* p) { return reinterpret_cast<const __m128i*>(p); }
__m256i* Vector256(uint8_t* p) { return reinterpret_cast<__m256i*>(p); }
const __m256i* Vector256(const uint8_t* p) { return reinterpret_cast<const __m256i*>(p); }

bool TailAscends(const uint8_t* values, size_t from, size_t count) {
  bool good = true;
  for (size_t i = from; i < count; ++i) {
    good &= LoadLittle<uint16_t>(values + 2 * i) > LoadLittle<uint16_t>(values + 2 * i - 2);
  }
  return good;
}

DV_AVX2 uint64_t TailPopCount(const uint8_t* data, size_t from, size_t size) {
  uint64_t set = 0;
  for (; from + 8 <= size; from += 8) {
    set += static_cast<uint64_t>(_mm_popcnt_u64(LoadLittle<uint64_t>(data + from)));
  }
  for (; from < size; ++from) set += static_cast<uint64_t>(_mm_popcnt_u32(data[from]));
  return set;
}

// Takes the bits of one word out one by one.
DV_AVX2 size_t ExpandFew(uint64_t word, uint64_t base, uint8_t* out) {
  size_t written = 0;
  for (; word != 0; word = _blsr_u64(word)) {
    StoreLittle<uint64_t>(out + 8 * written, base + _tzcnt_u64(word));
    ++written;
  }
  return written;
}

// --- AVX2 --------------------------------------------------------------------------------------

DV_AVX2 bool IsAscendingAvx2(const uint8_t* values, size_t count) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i bad = zero;
  size_t i = 1;
  for (; i + 16 <= count; i += 16) {
    const __m256i previous = _mm256_loadu_si256(Vector256(values + 2 * i - 2));
    const __m256i current = _mm256_loadu_si256(Vector256(values + 2 * i));
    // The saturated difference is 0 where a value does not exceed the one before it.
    const __m256i difference = _mm256_subs_epu16(current, previous);
    bad = _mm256_or_si256(bad, _mm256_cmpeq_epi16(difference, zero));
  }
  return _mm256_testz_si256(bad, bad) != 0 && TailAscends(values, i, count);
}

DV_AVX2 uint64_t PopCountAvx2(const uint8_t* data, size_t size) {
  // Bits set in each half of a byte by table, added up by sums of absolute differences from 0.
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                         0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low_half = _mm256_set1_epi8(0x0F);
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = zero;
  size_t i = 0;
  while (i + 32 <= size) {
    // A byte sum of 8 per vector stays below 256 for 31 vectors.
    __m256i bytes = zero;
    for (int n = 0; n < 31 && i + 32 <= size; ++n, i += 32) {
      const __m256i v = _mm256_loadu_si256(Vector256(data + i));
      const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, low_half));
      const __m256i high =
          _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low_half));
      bytes = _mm256_add_epi8(bytes, _mm256_add_epi8(low, high));
    }
    sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, zero));
  }
  uint64_t parts[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), sum);
  return parts[0] + parts[1] + parts[2] + parts[3] + TailPopCount(data, i, size);
}

DV_AVX2 void WidenAvx2(const uint8_t* values, size_t count, uint64_t base, uint8_t* out) {
  const __m256i bases = _mm256_set1_epi64x(static_cast<int64_t>(base));
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i v = _mm_loadu_si128(Vector128(values + 2 * i));
    const __m256i low = _mm256_cvtepu16_epi64(v);
    const __m256i high = _mm256_cvtepu16_epi64(_mm_srli_si128(v, 8));
    _mm256_storeu_si256(Vector256(out + 8 * i), _mm256_add_epi64(bases, low));
    _mm256_storeu_si256(Vector256(out + 8 * i + 32), _mm256_add_epi64(bases, high));
  }
  for (; i < count; ++i) {
    StoreLittle<uint64_t>(out + 8 * i, base + LoadLittle<uint16_t>(values + 2 * i));
  }
}

DV_AVX2 void IotaAvx2(uint64_t start, size_t count, uint8_t* out) {
  __m256i next = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(start)),
                                  _mm256_setr_epi64x(0, 1, 2, 3));
  const __m256i four = _mm256_set1_epi64x(4);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    _mm256_storeu_si256(Vector256(out + 8 * i), next);
    next = _mm256_add_epi64(next, four);
  }
  for (; i < count; ++i) StoreLittle<uint64_t>(out + 8 * i, start + i);
}

// For each byte the places of its bits that are set, in order, one in each byte of a word.
constexpr std::array<uint64_t, 256> MakeBitPlaces() {
  std::array<uint64_t, 256> places = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t n = 0;
    for (uint64_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) != 0) places[byte] |= bit << (8 * n++);
    }
  }
  return places;
}
constexpr std::array<uint64_t, 256> kBitPlaces = MakeBitPlaces();

DV_AVX2 size_t ExpandAvx2(const uint8_t* words, size_t count, uint64_t base, uint8_t* out) {
  uint8_t* to = out;
  for (size_t i = 0; i < count; ++i, base += 64) {
    const uint64_t word = LoadLittle<uint64_t>(words + 8 * i);
    if (_mm_popcnt_u64(word) < kFewBits) {
      to += 8 * ExpandFew(word, base, to);
      continue;
    }
    for (uint32_t b = 0; b < 64; b += 8) {
      const auto byte = static_cast<uint8_t>(word >> b);
      const __m128i places = _mm_cvtsi64_si128(static_cast<int64_t>(kBitPlaces[byte]));
      const __m256i bases = _mm256_set1_epi64x(static_cast<int64_t>(base + b));
      const __m256i low = _mm256_cvtepu8_epi64(places);
      const __m256i high = _mm256_cvtepu8_epi64(_mm_srli_si128(places, 4));
      _mm256_storeu_si256(Vector256(to), _mm256_add_epi64(bases, low));
      _mm256_storeu_si256(Vector256(to + 32), _mm256_add_epi64(bases, high));
      to += 8 * static_cast<size_t>(_mm_popcnt_u32(byte));
    }
  }
  return static_cast<size_t>(to - out) / 8;
}

constexpr Kernels kAvx2Kernels = {CpuLevel::kAvx2, IsAscendingAvx2, PopCountAvx2,
                                  WidenAvx2,       IotaAvx2,        ExpandAvx2};

// --- AVX-512 -----------------------------------------------------------------------------------

DV_AVX512 bool IsAscendingAvx512(const uint8_t* values, size_t count) {
  __mmask32 bad = 0;
  size_t i = 1;
  for (; i + 32 <= count; i += 32) {
    const __m512i previous = _mm512_loadu_si512(values + 2 * i - 2);
    const __m512i current = _mm512_loadu_si512(values + 2 * i);
    bad |= _mm512_cmple_epu16_mask(current, previous);
  }
  return bad == 0 && TailAscends(values, i, count);
}

DV_AVX512 uint64_t PopCountAvx512(const uint8_t* data, size_t size) {
  __m512i first = _mm512_setzero_si512();
  __m512i second = _mm512_setzero_si512();
  size_t i = 0;
  for (; i + 128 <= size; i += 128) {
    first = _mm512_add_epi64(first, _mm512_popcnt_epi64(_mm512_loadu_si512(data + i)));
    second = _mm512_add_epi64(second, _mm512_popcnt_epi64(_mm512_loadu_si512(data + i + 64)));
  }
  uint64_t parts[8];
  _mm512_storeu_si512(parts, _mm512_add_epi64(first, second));
  uint64_t set = TailPopCount(data, i, size);
  for (const uint64_t part : parts) set += part;
  return set;
}

DV_AVX512 size_t ExpandAvx512(const uint8_t* words, size_t count, uint64_t base, uint8_t* out) {
  // The numbers 0 to 63, one in each byte, least significant first.
  const __m512i places = _mm512_setr_epi64(0x0706050403020100, 0x0F0E0D0C0B0A0908,  //
                                           0x1716151413121110, 0x1F1E1D1C1B1A1918,  //
                                           0x2726252423222120, 0x2F2E2D2C2B2A2928,  //
                                           0x3736353433323130, 0x3F3E3D3C3B3A3938);
  uint8_t* to = out;
  for (size_t i = 0; i < count; ++i, base += 64) {
    const uint64_t word = LoadLittle<uint64_t>(words + 8 * i);
    if (word == 0) continue;
    const auto bits = static_cast<int>(_mm_popcnt_u64(word));
    const __m512i bases = _mm512_set1_epi64(static_cast<int64_t>(base));
    // All places of the word, next to each other; eight of them are widened at a time.
    __m512i set = _mm512_maskz_compress_epi8(word, places);
    uint8_t* next = to;
    for (int left = bits; left > 0; left -= 8) {
      const __m512i wide = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(set));
      _mm512_storeu_si512(next, _mm512_add_epi64(bases, wide));
      next += 64;
      set = _mm512_alignr_epi64(set, set, 1);
    }
    to += 8 * static_cast<size_t>(bits);
  }
  return static_cast<size_t>(to - out) / 8;
}

constexpr Kernels kAvx512Kernels = {CpuLevel::kAvx512, IsAscendingAvx512, PopCountAvx512,
                                    WidenAvx2,         IotaAvx2,          ExpandAvx512};

}  // namespace

const Kernels* X86KernelsFor(CpuLevel level) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("popcnt");
  if (level == CpuLevel::kAvx2) return avx2 ? &kAvx2Kernels : nullptr;
  if (level == CpuLevel::kAvx512) {
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi2") &&
                        __builtin_cpu_supports("avx512vpopcntdq");
    return avx512 ? &kAvx512Kernels : nullptr;
  }
  return nullptr;
}

}  // namespace dv::roaring

#else

namespace dv::roaring {

const Kernels* X86KernelsFor(CpuLevel) { return nullptr; }

}  // namespace dv::roaring

#endif
