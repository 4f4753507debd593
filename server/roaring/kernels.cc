#include "server/roaring/kernels.h"

#include <atomic>
#include <bit>
#include <initializer_list>

#include "server/bytes/endian.h"
#include "server/roaring/kernels_x86.h"

namespace dv::roaring {

using bytes::LoadLittle;
using bytes::StoreLittle;

namespace {

bool IsAscending(const uint8_t* values, size_t count) {
  uint32_t bad = 0;
  for (size_t i = 1; i < count; ++i) {
    bad |= static_cast<uint32_t>(LoadLittle<uint16_t>(values + 2 * i) <=
                                 LoadLittle<uint16_t>(values + 2 * i - 2));
  }
  return bad == 0;
}

// Bits set in a word, without the instruction for it: sums of pairs, of fours, of bytes.
uint64_t PopCountWord(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
  return word * 0x0101010101010101 >> 56;
}

uint64_t PopCount(const uint8_t* data, size_t size) {
  uint64_t set = 0;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) set += PopCountWord(LoadLittle<uint64_t>(data + i));
  for (; i < size; ++i) set += PopCountWord(data[i]);
  return set;
}

void Widen(const uint8_t* values, size_t count, uint64_t base, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    StoreLittle<uint64_t>(out + 8 * i, base + LoadLittle<uint16_t>(values + 2 * i));
  }
}

void Iota(uint64_t start, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) StoreLittle<uint64_t>(out + 8 * i, start + i);
}

size_t Expand(const uint8_t* words, size_t count, uint64_t base, uint8_t* out) {
  size_t written = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t word_base = base + 64 * i;
    for (uint64_t word = LoadLittle<uint64_t>(words + 8 * i); word != 0; word &= word - 1) {
      StoreLittle<uint64_t>(out + 8 * written,
                            word_base + static_cast<uint64_t>(std::countr_zero(word)));
      ++written;
    }
  }
  return written;
}

constexpr Kernels kPortableKernels = {
    CpuLevel::kPortable, IsAscending, PopCount, Widen, Iota, Expand};

const Kernels* Best() {
  for (const CpuLevel level : {CpuLevel::kAvx512, CpuLevel::kAvx2}) {
    if (const Kernels* kernels = KernelsFor(level); kernels != nullptr) return kernels;
  }
  return &kPortableKernels;
}

std::atomic<const Kernels*>& Active() {
  static std::atomic<const Kernels*> active = Best();
  return active;
}

}  // namespace

const char* CpuLevelName(CpuLevel level) {
  switch (level) {
    case CpuLevel::kPortable:
      return "portable";
    case CpuLevel::kAvx2:
      return "avx2";
    case CpuLevel::kAvx512:
      return "avx512";
  }
  return "unknown";
}

const Kernels* KernelsFor(CpuLevel level) {
  return level == CpuLevel::kPortable ? &kPortableKernels : X86KernelsFor(level);
}

const Kernels& ActiveKernels() { return *Active().load(std::memory_order_relaxed); }

bool UseKernels(CpuLevel level) {
  const Kernels* kernels = KernelsFor(level);
  if (kernels == nullptr) return false;
  Active().store(kernels, std::memory_order_relaxed);
  return true;
}

}  // namespace dv::roaring
