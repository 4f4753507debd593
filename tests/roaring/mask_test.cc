#include "server/roaring/mask.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/hex.h"
#include "tests/testing/random.h"
#include "tests/testing/reference.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Array;
using dv::testing::Bitmap;
using dv::testing::Bitmap64;
using dv::testing::Bitset;
using dv::testing::CutsEverywhere;
using dv::testing::Intervals;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::Random;
using dv::testing::Runs;
using dv::testing::ToHex;
using dv::testing::Values;

constexpr uint64_t kMax = ~uint64_t{0};

View MustOpen(const std::string& bytes) {
  auto view = View::Open(MakeChain(bytes, CutsEverywhere(bytes.size())), 0, bytes.size());
  EXPECT_THAT(view, IsOk());
  return *std::move(view);
}

// Returns the mask. Checks the count, that every byte is written and that none behind it is.
std::string Mask(const View& view, uint64_t start, uint64_t rows, Polarity polarity) {
  const size_t size = (rows + 7) / 8;
  std::string out(size + 2, '\xA5');
  const uint64_t deleted =
      WriteMask(view, start, rows, polarity, reinterpret_cast<uint8_t*>(out.data()) + 1);
  EXPECT_EQ(deleted, rows == 0 ? 0 : view.Count({start, start + (rows - 1)}));
  EXPECT_EQ(out.front(), '\xA5');
  EXPECT_EQ(out.back(), '\xA5');
  return out.substr(1, size);
}

std::string ExpectedMask(const Intervals& positions, uint64_t start, uint64_t rows,
                         Polarity polarity) {
  std::string out((rows + 7) / 8, '\0');
  for (uint64_t i = 0; i < rows; ++i) {
    if (positions.Contains(start + i) == (polarity == Polarity::kDeleted)) {
      out[i / 8] = static_cast<char>(out[i / 8] | 1 << i % 8);
    }
  }
  return out;
}

TEST(MaskTest, SmallMasks) {
  const View view = MustOpen(OneBucket(0, Bitmap({Array(0, {1, 3, 5})})).Bytes());
  const struct {
    uint64_t start;
    uint64_t rows;
    const char* deleted;
    const char* live;
  } cases[] = {{0, 0, "", ""},
               {0, 1, "00", "01"},
               {0, 5, "0a", "15"},
               {0, 6, "2a", "15"},
               {0, 7, "2a", "55"},
               {0, 8, "2a", "d5"},
               {0, 9, "2a00", "d501"},
               {2, 3, "02", "05"},
               {5, 1, "01", "00"},
               {6, 0, "", ""},
               {6, 3, "00", "07"},
               {1, 16, "1500", "eaff"},
               {1000000, 12, "0000", "ff0f"}};
  for (const auto& tested : cases) {
    SCOPED_TRACE(::testing::Message() << tested.start << "+" << tested.rows);
    EXPECT_EQ(ToHex(Mask(view, tested.start, tested.rows, Polarity::kDeleted)), tested.deleted);
    EXPECT_EQ(ToHex(Mask(view, tested.start, tested.rows, Polarity::kLive)), tested.live);
  }
}

TEST(MaskTest, EmptyView) {
  EXPECT_EQ(ToHex(Mask(View(), 5, 10, Polarity::kDeleted)), "0000");
  EXPECT_EQ(ToHex(Mask(View(), 5, 10, Polarity::kLive)), "ff03");
}

TEST(MaskTest, LastPossibleRows) {
  const View view = MustOpen(OneBucket(0xFFFFFFFF, Bitmap({Array(65535, {65533, 65535})})).Bytes());
  EXPECT_EQ(ToHex(Mask(view, kMax - 3, 4, Polarity::kDeleted)), "0a");
  EXPECT_EQ(ToHex(Mask(view, kMax - 3, 4, Polarity::kLive)), "05");
  EXPECT_EQ(ToHex(Mask(view, kMax, 1, Polarity::kDeleted)), "01");
  EXPECT_EQ(ToHex(Mask(view, kMax, 1, Polarity::kLive)), "00");
}

TEST(MaskTest, AcrossKeys) {
  Bitmap64 bitmap;
  bitmap.buckets.push_back({0, Bitmap({Array(65535, {65535})}).Bytes()});
  bitmap.buckets.push_back({1, Bitmap({Array(0, {1})}).Bytes()});
  const View view = MustOpen(bitmap.Bytes());
  EXPECT_EQ(ToHex(Mask(view, 0xFFFFFFFE, 5, Polarity::kDeleted)), "0a");
}

// Every start and length around the words of every kind of container.
TEST(MaskTest, EveryStartAndLength) {
  const std::string bytes =
      OneBucket(0, Bitmap({Array(0, Values(65400, 45, 3)), Bitset(1, Values(0, 21845, 3)),
                           Runs(2, {{0, 3}, {70, 100}, {65000, 535}}), Bitset(3, Values(0, 65536)),
                           Runs(4, {{1, 0}, {3, 0}})}))
          .Bytes();
  const View view = MustOpen(bytes);
  const Intervals expected = dv::testing::ReadRoaring64(bytes, 0).positions;
  for (uint64_t border = 0; border <= 5; ++border) {
    const uint64_t middle = border * 65536;
    for (uint64_t start = middle < 70 ? 0 : middle - 70; start < middle + 10; start += 1) {
      for (const uint64_t rows : {1u, 7u, 8u, 9u, 63u, 64u, 65u, 71u, 72u, 73u, 129u, 200u}) {
        for (const Polarity polarity : {Polarity::kDeleted, Polarity::kLive}) {
          ASSERT_EQ(ToHex(Mask(view, start, rows, polarity)),
                    ToHex(ExpectedMask(expected, start, rows, polarity)))
              << start << "+" << rows;
        }
      }
    }
  }
}

TEST(MaskTest, LongMasks) {
  const std::string bytes =
      OneBucket(0, Bitmap({Array(0, Values(5, 4096, 16)), Bitset(1, Values(0, 30000, 2)),
                           Runs(3, {{0, 65535}}), Bitset(4, Values(0, 65536))}))
          .Bytes();
  const View view = MustOpen(bytes);
  const Intervals expected = dv::testing::ReadRoaring64(bytes, 0).positions;
  for (const uint64_t start : {0u, 1u, 8u, 63u, 65536u, 65537u, 131071u}) {
    for (const Polarity polarity : {Polarity::kDeleted, Polarity::kLive}) {
      ASSERT_TRUE(Mask(view, start, 400001, polarity) ==
                  ExpectedMask(expected, start, 400001, polarity))
          << start;
    }
  }
}

}  // namespace
}  // namespace dv::roaring
