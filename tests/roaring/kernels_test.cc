// Each set of loops that this CPU has, against the plainest code.
#include "server/roaring/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/testing/assembler.h"
#include "tests/testing/random.h"

namespace dv::roaring {
namespace {

using dv::testing::Le16;
using dv::testing::Le64;
using dv::testing::Random;
using dv::testing::TestSeed;

// A copy of bytes at the end of an allocation of its own and at an odd address, so that a sanitizer
// sees what is read or written past it.
class Exact {
 public:
  explicit Exact(const std::string& bytes, size_t shift = 1)
      : shift_(shift), size_(bytes.size()), memory_(new uint8_t[shift + bytes.size()]) {
    std::copy(bytes.begin(), bytes.end(), data());
  }
  uint8_t* data() { return memory_.get() + shift_; }
  std::string ToString() { return {reinterpret_cast<char*>(data()), size_}; }

 private:
  size_t shift_;
  size_t size_;
  std::unique_ptr<uint8_t[]> memory_;
};

class KernelsTest : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    kernels_ = KernelsFor(GetParam());
    if (kernels_ == nullptr) {
      std::cout << "SKIPPED " << CpuLevelName(GetParam()) << ": this CPU does not have it"
                << std::endl;
      GTEST_SKIP();
    }
  }

  const Kernels* kernels_ = nullptr;
};

TEST_P(KernelsTest, Level) { EXPECT_EQ(kernels_->level, GetParam()); }

TEST_P(KernelsTest, IsAscending) {
  EXPECT_TRUE(kernels_->is_ascending(Exact("").data(), 0));
  for (uint32_t count = 1; count < 200; ++count) {
    std::string values;
    for (uint32_t i = 0; i < count; ++i) values += Le16(65535 - (count - 1 - i) * 300);
    EXPECT_TRUE(kernels_->is_ascending(Exact(values).data(), count)) << count;
    for (uint32_t i = 1; i < count; ++i) {
      for (const uint32_t less : {0u, 1u, 300u, 65535u}) {
        const uint32_t before = 65535 - (count - i) * 300;
        std::string broken = values;
        broken.replace(2 * i, 2, Le16(before - std::min(before, less)));
        ASSERT_FALSE(kernels_->is_ascending(Exact(broken).data(), count)) << i << " of " << count;
      }
    }
  }
}

TEST_P(KernelsTest, IsAscendingOfExtremeValues) {
  EXPECT_TRUE(kernels_->is_ascending(Exact(Le16(0) + Le16(65535)).data(), 2));
  EXPECT_TRUE(kernels_->is_ascending(Exact(Le16(0x7FFF) + Le16(0x8000)).data(), 2));
  EXPECT_FALSE(kernels_->is_ascending(Exact(Le16(0x8000) + Le16(0x7FFF)).data(), 2));
  EXPECT_FALSE(kernels_->is_ascending(Exact(Le16(65535) + Le16(65535)).data(), 2));
  std::string all;
  for (uint32_t value = 0; value < 65536; ++value) all += Le16(value);
  EXPECT_TRUE(kernels_->is_ascending(Exact(all).data(), 65536));
}

TEST_P(KernelsTest, PopCount) {
  Random random(TestSeed());
  for (size_t size = 0; size < 700; ++size) {
    std::string bytes(size, '\0');
    uint64_t expected = 0;
    for (char& c : bytes) {
      c = static_cast<char>(random.OneIn(4) ? 0xFF : random.Bits());
      expected += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(c)));
    }
    ASSERT_EQ(kernels_->pop_count(Exact(bytes, size % 8).data(), size), expected) << size;
  }
  for (const size_t size : {1024u, 8191u, 8192u, 100000u}) {
    EXPECT_EQ(kernels_->pop_count(Exact(std::string(size, '\xFF')).data(), size), 8 * size);
    EXPECT_EQ(kernels_->pop_count(Exact(std::string(size, '\0')).data(), size), 0u);
  }
}

TEST_P(KernelsTest, Widen) {
  Random random(TestSeed());
  for (const uint64_t base : {uint64_t{0}, uint64_t{0x7FFFFFFFFFFF0000}, ~uint64_t{0xFFFF}}) {
    for (size_t count = 0; count < 80; ++count) {
      std::string values;
      std::string expected;
      for (size_t i = 0; i < count; ++i) {
        const uint64_t value = random.OneIn(8) ? 65535 : random.Below(65536);
        values += Le16(value);
        expected += Le64(base + value);
      }
      Exact out(std::string(8 * count, '#'));
      kernels_->widen(Exact(values).data(), count, base, out.data());
      ASSERT_EQ(out.ToString(), expected) << count;
    }
  }
}

TEST_P(KernelsTest, Iota) {
  for (const uint64_t start : {uint64_t{0}, uint64_t{0xFFFFFFFE}, ~uint64_t{100}}) {
    for (size_t count = 0; count < 80; ++count) {
      std::string expected;
      for (size_t i = 0; i < count; ++i) expected += Le64(start + i);
      Exact out(std::string(8 * count, '#'));
      kernels_->iota(start, count, out.data());
      ASSERT_EQ(out.ToString(), expected) << count;
    }
  }
}

TEST_P(KernelsTest, Expand) {
  Random random(TestSeed());
  for (int i = 0; i < 3000; ++i) {
    const size_t count = random.Below(20);
    const uint64_t base = random.OneIn(3) ? ~uint64_t{0} - 64 * count + 1 : random.Bits() >> 1;
    std::string words;
    std::string expected;
    for (size_t w = 0; w < count; ++w) {
      uint64_t word = random.Bits();
      switch (random.Below(6)) {
        case 0:
          word = 0;
          break;
        case 1:
          word = ~uint64_t{0};
          break;
        case 2:
          word = uint64_t{1} << random.Below(64);
          break;
        case 3:
          word &= random.Bits() & random.Bits() & random.Bits();
          break;
        default:
          break;
      }
      words += Le64(word);
      for (uint64_t bit = 0; bit < 64; ++bit) {
        if ((word >> bit & 1) != 0) expected += Le64(base + 64 * w + bit);
      }
    }
    // Room for what it may write more, and not a byte beyond.
    Exact out(std::string(expected.size() + 8 * kExpandSlack, '#'));
    const size_t written = kernels_->expand(Exact(words).data(), count, base, out.data());
    ASSERT_EQ(written, expected.size() / 8);
    ASSERT_EQ(out.ToString().substr(0, expected.size()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest,
                         ::testing::Values(CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512),
                         [](const ::testing::TestParamInfo<CpuLevel>& tested) {
                           return CpuLevelName(tested.param);
                         });

TEST(KernelsInUseTest, HighestLevelAtFirst) {
  for (const CpuLevel level : {CpuLevel::kAvx512, CpuLevel::kAvx2, CpuLevel::kPortable}) {
    if (KernelsFor(level) == nullptr) continue;
    EXPECT_EQ(ActiveKernels().level, level);
    break;
  }
}

TEST(KernelsInUseTest, CanBeChosen) {
  const CpuLevel before = ActiveKernels().level;
  EXPECT_TRUE(UseKernels(CpuLevel::kPortable));
  EXPECT_EQ(ActiveKernels().level, CpuLevel::kPortable);
  EXPECT_TRUE(UseKernels(before));
  EXPECT_EQ(ActiveKernels().level, before);
}

}  // namespace
}  // namespace dv::roaring
