#include "tests/testing/random.h"

#include <cstdlib>
#include <limits>

namespace dv::testing {
namespace {

uint64_t NumberFromEnvironment(const char* name, uint64_t default_value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return default_value;
  return std::strtoull(text, nullptr, 10);
}

}  // namespace

uint64_t Random::Between(uint64_t low, uint64_t high) {
  const uint64_t width = high - low;
  if (width == std::numeric_limits<uint64_t>::max()) return Bits();
  return low + Below(width + 1);
}

uint64_t TestSeed() { return NumberFromEnvironment("DV_TEST_SEED", 1); }

size_t Iterations(const char* name, size_t default_count) {
  return static_cast<size_t>(NumberFromEnvironment(name, default_count));
}

}  // namespace dv::testing
