#include "server/bytes/crc32.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"

namespace dv::bytes {
namespace {

using dv::testing::BitwiseCrc32;
using dv::testing::CutsEverywhere;
using dv::testing::MakeChain;
using dv::testing::Random;
using dv::testing::RandomCuts;
using dv::testing::TestSeed;

uint32_t ZlibCrc32(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string RandomBytes(size_t size, Random& random) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.Bits());
  return bytes;
}

TEST(Crc32Test, KnownValues) {
  const struct {
    const char* text;
    uint32_t crc;
  } cases[] = {{"", 0},
               {"a", 0xE8B7BE43},
               {"abc", 0x352441C2},
               {"123456789", 0xCBF43926},
               {"The quick brown fox jumps over the lazy dog", 0x414FA339}};
  for (const auto& known : cases) {
    const std::string text = known.text;
    EXPECT_EQ(Crc32(MakeChain(text), 0, text.size()), known.crc) << text;
    EXPECT_EQ(Crc32(MakeChain(text, CutsEverywhere(text.size())), 0, text.size()), known.crc);
  }
  EXPECT_EQ(Crc32(MakeChain(std::string(32, '\0')), 0, 32), 0x190A55ADu);
  EXPECT_EQ(Crc32(MakeChain(std::string(32, '\xFF')), 0, 32), 0xFF6CAB0Bu);
}

TEST(Crc32Test, EveryRangeOfShortBytes) {
  Random random(TestSeed());
  const std::string bytes = RandomBytes(40, random);
  const Chain chain = MakeChain(bytes, {1, 2, 9, 17, 33});
  for (uint64_t offset = 0; offset <= bytes.size(); ++offset) {
    for (uint64_t length = 0; length <= bytes.size() - offset; ++length) {
      EXPECT_EQ(Crc32(chain, offset, length), BitwiseCrc32(bytes.substr(offset, length)));
    }
  }
}

TEST(Crc32Test, EverySizeAndAlignment) {
  Random random(TestSeed());
  for (size_t size = 0; size < 300; ++size) {
    const std::string bytes = RandomBytes(size, random);
    for (size_t misalignment = 0; misalignment < 16; misalignment += 5) {
      EXPECT_EQ(Crc32(MakeChain(bytes, {}, misalignment), 0, size), ZlibCrc32(bytes)) << size;
    }
  }
}

TEST(Crc32Test, RandomCutsOfLargeBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    const std::string bytes = RandomBytes(random.Between(1, 300000), random);
    const uint64_t max_piece = uint64_t{1} << random.Between(2, 16);
    const Chain chain = MakeChain(bytes, RandomCuts(bytes.size(), max_piece, random));
    const uint64_t offset = random.Below(bytes.size());
    const uint64_t length = random.Between(0, bytes.size() - offset);
    ASSERT_EQ(Crc32(chain, offset, length), ZlibCrc32(bytes.substr(offset, length)));
  }
}

}  // namespace
}  // namespace dv::bytes
