// File: kernels.h
//
// The inner loops over contents of containers, in the best form that the CPU has. Which form runs
// is decided once, when the program starts; nothing is compiled for one kind of CPU only. Pointers
// may have any alignment.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dv::roaring {

// What a CPU may have. Each level can do all that those before it can.
enum class CpuLevel {
  // Plain C++.
  kPortable,
  // x86-64 with AVX2, BMI and POPCNT.
  kAvx2,
  // x86-64 with AVX-512 F, BW, VL, VBMI2 and VPOPCNTDQ too (Intel since 2019, AMD since 2022).
  kAvx512,
};

// Returns the name of a level, such as "avx2".
const char* CpuLevelName(CpuLevel level);

// Kernels
//
// One set of loops.
struct Kernels {
  CpuLevel level;

  // Whether each of `count` little-endian 16-bit numbers is larger than the one before it.
  bool (*is_ascending)(const uint8_t* values, size_t count);

  // Number of bits set in `size` bytes.
  uint64_t (*pop_count)(const uint8_t* data, size_t size);

  // Writes `base` plus each of `count` little-endian 16-bit numbers as little-endian numbers of 8
  // bytes.
  void (*widen)(const uint8_t* values, size_t count, uint64_t base, uint8_t* out);

  // Writes `start`, `start` + 1, ... as `count` little-endian numbers of 8 bytes.
  void (*iota)(uint64_t start, size_t count, uint8_t* out);

  // Writes `base` plus the place of each bit that is set in `count` little-endian words of 8 bytes,
  // least significant bit of the first word first, as little-endian numbers of 8 bytes, and returns
  // how many. May write up to kExpandSlack numbers more than it returns.
  size_t (*expand)(const uint8_t* words, size_t count, uint64_t base, uint8_t* out);
};

// Room for this many numbers behind those of `expand` must be there.
inline constexpr size_t kExpandSlack = 8;

// Returns the kernels of a level, or null if this CPU or this build does not have it.
const Kernels* KernelsFor(CpuLevel level);

// Returns the kernels in use: those of the highest level that this CPU has.
const Kernels& ActiveKernels();

// Makes the kernels of `level` the ones in use, and returns whether this CPU has them. For tests
// and benchmarks; not while other threads decode.
bool UseKernels(CpuLevel level);

}  // namespace dv::roaring
