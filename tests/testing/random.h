// Random numbers that are the same on every machine for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace dv::testing {

// Random
//
// A small random source. Not for several threads at once.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Returns 64 random bits.
  uint64_t Bits() { return engine_(); }

  // Returns a number in [0, bound). REQUIRES: bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }

  // Returns a number in [low, high]. REQUIRES: low <= high.
  uint64_t Between(uint64_t low, uint64_t high);

  // Returns true once in `n` times, on average. REQUIRES: n > 0.
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

// Returns the seed for a test: DV_TEST_SEED of the environment, or 1. Tests print the seed of a
// case that fails, so that it can be run again.
uint64_t TestSeed();

// Returns the number of iterations for a test: `name` of the environment, or `default_count`.
size_t Iterations(const char* name, size_t default_count);

}  // namespace dv::testing
