#include "server/roaring/cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Array;
using dv::testing::Bitmap;
using dv::testing::Bitmap64;
using dv::testing::Bitset;
using dv::testing::Container;
using dv::testing::CutsEverywhere;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::Runs;
using dv::testing::Values;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint64_t kMax = ~uint64_t{0};

View MustOpen(const std::string& bytes) {
  auto view = View::Open(MakeChain(bytes, CutsEverywhere(bytes.size())), 0, bytes.size());
  EXPECT_THAT(view, IsOk());
  return *std::move(view);
}

// Reads all positions of `range`, `capacity` at a time, into memory at an odd address.
std::vector<uint64_t> ReadPositions(const View& view, const Range& range, size_t capacity) {
  std::vector<uint64_t> positions;
  PositionCursor cursor(view, range);
  std::vector<uint8_t> out(8 * capacity + 3, 0xEE);
  while (true) {
    const bool done = cursor.Done();
    const size_t count = cursor.Next(out.data() + 1, capacity);
    EXPECT_EQ(done, count == 0) << "after " << positions.size();
    EXPECT_EQ(out[0], 0xEE);
    EXPECT_EQ(out[8 * capacity + 1], 0xEE);
    for (size_t i = 0; i < count; ++i) {
      uint64_t position = 0;
      for (size_t byte = 0; byte < 8; ++byte) {
        position |= uint64_t{out[1 + 8 * i + byte]} << (8 * byte);
      }
      positions.push_back(position);
    }
    if (count < capacity) {
      EXPECT_TRUE(cursor.Done());
      EXPECT_EQ(cursor.Next(out.data() + 1, capacity), 0u);
      return positions;
    }
  }
}

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

Pairs ReadRuns(const View& view, const Range& range, size_t capacity) {
  Pairs pairs;
  RunCursor cursor(view, range);
  std::vector<Run> out(capacity);
  while (true) {
    const size_t count = cursor.Next(out.data(), capacity);
    for (size_t i = 0; i < count; ++i) pairs.emplace_back(out[i].start, out[i].length);
    if (count < capacity) {
      EXPECT_EQ(cursor.Next(out.data(), capacity), 0u);
      return pairs;
    }
  }
}

std::string SmallBytes() {
  Bitmap64 bitmap;
  bitmap.buckets.push_back(
      {0, Bitmap({Array(0, {1, 3, 65535}), Runs(1, {{0, 1}, {5, 2}})}).Bytes()});
  bitmap.buckets.push_back({1, Bitmap({Array(65535, {65535})}).Bytes()});
  bitmap.buckets.push_back({2, Bitmap({Array(0, {0})}).Bytes()});
  bitmap.buckets.push_back({0xFFFFFFFF, Bitmap({Array(65535, {65534, 65535})}).Bytes()});
  return bitmap.Bytes();
}

const std::vector<uint64_t> kSmallPositions = {
    1, 3, 65535, 65536, 65537, 65541, 65542, 65543, 0x1FFFFFFFF, 0x200000000, kMax - 1, kMax};

TEST(PositionCursorTest, EveryCapacity) {
  const View view = MustOpen(SmallBytes());
  for (size_t capacity = 1; capacity < 20; ++capacity) {
    EXPECT_EQ(ReadPositions(view, Range(), capacity), kSmallPositions) << capacity;
  }
}

TEST(PositionCursorTest, EveryRangeBetweenPositions) {
  const View view = MustOpen(SmallBytes());
  std::vector<uint64_t> rows = {0};
  for (const uint64_t position : kSmallPositions) {
    rows.insert(rows.end(), {position - 1, position, position + 1});
  }
  for (const uint64_t first : rows) {
    for (const uint64_t last : rows) {
      std::vector<uint64_t> expected;
      for (const uint64_t position : kSmallPositions) {
        if (position >= first && position <= last) expected.push_back(position);
      }
      EXPECT_EQ(ReadPositions(view, {first, last}, 5), expected) << first << " to " << last;
    }
  }
}

TEST(PositionCursorTest, CapacityOfNothing) {
  const View view = MustOpen(SmallBytes());
  PositionCursor cursor(view, Range());
  EXPECT_EQ(cursor.Next(nullptr, 0), 0u);
  EXPECT_FALSE(cursor.Done());
  uint8_t out[8];
  EXPECT_EQ(cursor.Next(out, 1), 1u);
  EXPECT_EQ(out[0], 1);
}

TEST(PositionCursorTest, EmptyViewAndEmptyRange) {
  const View empty;
  EXPECT_THAT(ReadPositions(empty, Range(), 3), IsEmpty());
  const View view = MustOpen(SmallBytes());
  EXPECT_THAT(ReadPositions(view, {1, 0}, 3), IsEmpty());
  EXPECT_THAT(ReadPositions(view, Range::HalfOpen(3, 3), 3), IsEmpty());
}

// Large containers, cut at every capacity that ends in the middle of something.
TEST(PositionCursorTest, LargeContainers) {
  const std::string bytes =
      OneBucket(0, Bitmap({Bitset(0, Values(1, 32768, 2)), Runs(1, {{0, 65535}}),
                           Array(2, Values(0, 4096, 16)), Bitset(3, Values(0, 65536))}))
          .Bytes();
  const View view = MustOpen(bytes);
  const std::vector<uint64_t> expected = ReadPositions(view, Range(), 1000000);
  ASSERT_EQ(expected.size(), 32768u + 65536 + 4096 + 65536);
  for (const size_t capacity : {63u, 64u, 65u, 4096u, 32767u, 32768u, 32769u, 65536u, 98304u}) {
    EXPECT_EQ(ReadPositions(view, Range(), capacity), expected) << capacity;
  }
}

TEST(RunCursorTest, JoinsAcrossContainersAndKeys) {
  const View view = MustOpen(SmallBytes());
  const Pairs expected = {{1, 1}, {3, 1}, {65535, 3}, {65541, 3}, {0x1FFFFFFFF, 2}, {kMax - 1, 2}};
  for (size_t capacity = 1; capacity < 10; ++capacity) {
    EXPECT_EQ(ReadRuns(view, Range(), capacity), expected) << capacity;
  }
}

TEST(RunCursorTest, RangesCutRuns) {
  const View view = MustOpen(SmallBytes());
  EXPECT_THAT(ReadRuns(view, {65536, 65541}, 5), ElementsAre(Pair(65536, 2), Pair(65541, 1)));
  EXPECT_THAT(ReadRuns(view, {65535, 65535}, 5), ElementsAre(Pair(65535, 1)));
  EXPECT_THAT(ReadRuns(view, {kMax, kMax}, 1), ElementsAre(Pair(kMax, 1)));
  EXPECT_THAT(ReadRuns(view, {0x1FFFFFFFF, 0x1FFFFFFFF}, 1), ElementsAre(Pair(0x1FFFFFFFF, 1)));
  EXPECT_THAT(ReadRuns(view, {1, 0}, 1), IsEmpty());
  EXPECT_THAT(ReadRuns(View(), Range(), 1), IsEmpty());
}

TEST(RunCursorTest, OneRunOverManyContainersOfAllKinds) {
  std::vector<Container> containers;
  for (uint32_t key = 10; key < 40; ++key) {
    containers.push_back(key % 2 == 0 ? Runs(key, {{0, 65535}}) : Bitset(key, Values(0, 65536)));
  }
  containers.front() = Array(10, Values(65530, 6));
  containers.back() = Bitset(39, Values(0, 5000));
  const View view = MustOpen(OneBucket(3, Bitmap(containers)).Bytes());
  const uint64_t start = (uint64_t{3} << 32) + 10 * 65536 + 65530;
  for (const size_t capacity : {1u, 2u, 3u}) {
    EXPECT_THAT(ReadRuns(view, Range(), capacity), ElementsAre(Pair(start, 6 + 28 * 65536 + 5000)));
  }
}

TEST(RunCursorTest, RunsInAllPlacesOfAWord) {
  // Runs of 1 to 130 values with gaps of 1 to 3, over many words.
  std::vector<uint32_t> values;
  Pairs expected;
  uint32_t at = 0;
  for (uint32_t length = 1; length < 131; ++length) {
    at += 1 + length % 3;
    expected.emplace_back(at, length);
    for (uint32_t i = 0; i < length; ++i) values.push_back(at++);
  }
  const View view = MustOpen(OneBucket(0, Bitmap({Bitset(0, values)})).Bytes());
  for (const size_t capacity : {1u, 2u, 7u, 1000u}) {
    EXPECT_EQ(ReadRuns(view, Range(), capacity), expected);
  }
}

}  // namespace
}  // namespace dv::roaring
