#include "server/roaring/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/hex.h"
#include "tests/testing/intervals.h"
#include "tests/testing/oracle.h"
#include "tests/testing/reference.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Array;
using dv::testing::Bitmap;
using dv::testing::Bitmap32;
using dv::testing::Bitmap64;
using dv::testing::Bitset;
using dv::testing::Container;
using dv::testing::CutsEverywhere;
using dv::testing::Intervals;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::Oracle;
using dv::testing::ReadRoaring64;
using dv::testing::Runs;
using dv::testing::StoredRun;
using dv::testing::ToHex;
using dv::testing::Values;

constexpr uint64_t kMax = ~uint64_t{0};
constexpr size_t kManyBytes = 1 << 20;
// What the header promises of a part that holds one container.
constexpr size_t kOneContainerBytes = 8232;

View MustOpen(const std::string& bytes) {
  auto view = View::Open(MakeChain(bytes, CutsEverywhere(bytes.size())), 0, bytes.size());
  EXPECT_THAT(view, IsOk());
  return *std::move(view);
}

std::string MixedBytes() {
  Bitmap64 bitmap;
  bitmap.buckets.push_back(
      {0, Bitmap({Array(0, {0, 7, 65535}), Bitset(1, Values(0, 5000)),
                  Runs(2, {{0, 9}, {100, 0}, {65000, 535}}), Bitset(3, Values(1, 32768, 2)),
                  Runs(5, {{0, 65535}}), Array(65535, Values(65000, 536))})
              .Bytes()});
  bitmap.buckets.push_back({1, Bitmap32().Bytes()});
  bitmap.buckets.push_back({2, Bitmap({Runs(0, {{0, 65535}}), Array(9, {5})}).Bytes()});
  bitmap.buckets.push_back({0xFFFFFFFF, Bitmap({Array(65535, {3, 65535})}).Bytes()});
  return bitmap.Bytes();
}

// Reads all parts. Each must be a complete bitmap by the rules and by CRoaring, hold what it says,
// stay below the limits, and go on above the one before it.
Intervals ReadParts(const View& view, const Range& range, size_t max_bytes,
                    uint64_t max_positions) {
  Intervals all;
  RoaringCursor cursor(view, range);
  while (true) {
    std::string out = "kept";
    const RoaringCursor::Part part = cursor.Next(max_bytes, max_positions, out);
    EXPECT_EQ(out.substr(0, 4), "kept") << "bytes that were there were changed";
    const std::string bytes = out.substr(4);
    if (part.position_count == 0) {
      EXPECT_EQ(bytes, "");
      std::string more;
      EXPECT_EQ(cursor.Next(max_bytes, max_positions, more).position_count, 0u);
      EXPECT_EQ(more, "");
      return all;
    }
    EXPECT_LE(part.position_count, max_positions);
    EXPECT_LE(bytes.size(), std::max(max_bytes, kOneContainerBytes));
    const Oracle::Verdict verdict = Oracle::Judge(bytes);
    EXPECT_TRUE(verdict.accepted) << verdict.why;
    const dv::testing::ReferenceResult read = ReadRoaring64(bytes, 0xFFFFFFFF);
    EXPECT_EQ(read.reason, "");
    EXPECT_EQ(read.positions.Cardinality(), part.position_count);
    EXPECT_EQ(read.positions.Last(), part.last_position);
    if (read.positions.list().empty()) return all;
    if (!all.list().empty()) {
      EXPECT_GT(read.positions.First(), all.Last());
    }
    for (const auto& interval : read.positions.list()) all.Append(interval.first, interval.last);
  }
}

TEST(RoaringCursorTest, WholeBitmapInOnePart) {
  const std::string bytes = MixedBytes();
  const View view = MustOpen(bytes);
  std::string out;
  const RoaringCursor::Part part = RoaringCursor(view, Range()).Next(kManyBytes, kMax, out);
  EXPECT_EQ(part.position_count, view.cardinality());
  EXPECT_EQ(part.last_position, kMax);
  // As it was, but for the empty bucket.
  EXPECT_TRUE(ReadRoaring64(out, 0xFFFFFFFF).positions ==
              ReadRoaring64(bytes, 0xFFFFFFFF).positions);
  EXPECT_EQ(out.size(), bytes.size() - 12);
}

TEST(RoaringCursorTest, ContainersAreCopiedAsTheyAre) {
  // Encodings that are not the smallest ones.
  std::vector<StoredRun> singles;
  for (uint32_t i = 0; i < 100; ++i) singles.push_back({2 * i, 0});
  const std::string bytes = OneBucket(7, Bitmap({Runs(0, singles), Array(1, Values(0, 4000)),
                                                 Bitset(2, Values(0, 5000)), Array(3, {1})}))
                                .Bytes();
  std::string out;
  RoaringCursor(MustOpen(bytes), Range()).Next(kManyBytes, kMax, out);
  EXPECT_EQ(ToHex(out), ToHex(bytes));
}

TEST(RoaringCursorTest, NothingToRead) {
  EXPECT_TRUE(ReadParts(View(), Range(), 100, 100).list().empty());
  const View view = MustOpen(MixedBytes());
  EXPECT_TRUE(ReadParts(view, {1, 0}, 100, 100).list().empty());
  EXPECT_TRUE(ReadParts(view, {1, 6}, 100, 100).list().empty());
}

TEST(RoaringCursorTest, LimitsOfPositions) {
  const std::string bytes =
      OneBucket(0, Bitmap({Array(0, {0, 7, 65535}), Runs(2, {{0, 9}, {100, 0}}),
                           Array(65535, {1, 65535})}))
          .Bytes();
  const View view = MustOpen(bytes);
  const Intervals expected = ReadRoaring64(bytes, 0).positions;
  for (uint64_t limit = 1; limit < 20; ++limit) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(ReadParts(view, Range(), kManyBytes, limit), expected);
    EXPECT_EQ(ReadParts(view, Range(), 1, limit), expected);
  }
}

TEST(RoaringCursorTest, LimitsCutLargeContainers) {
  const std::string bytes = MixedBytes();
  const View view = MustOpen(bytes);
  const Intervals expected = ReadRoaring64(bytes, 0xFFFFFFFF).positions;
  for (const uint64_t limit : {3u, 4096u, 4097u, 5000u, 5003u, 65535u, 65536u, 100000u}) {
    if (limit < 4096) continue;
    SCOPED_TRACE(limit);
    EXPECT_EQ(ReadParts(view, Range(), kManyBytes, limit), expected);
  }
}

TEST(RoaringCursorTest, LimitsOfBytes) {
  const std::string bytes = MixedBytes();
  const View view = MustOpen(bytes);
  const Intervals expected = ReadRoaring64(bytes, 0xFFFFFFFF).positions;
  for (const size_t limit : {1u, 30u, 100u, 5000u, 8232u, 8300u, 16464u, 20000u}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(ReadParts(view, Range(), limit, kMax), expected);
  }
}

TEST(RoaringCursorTest, ManySmallContainersStayBelowTheLimit) {
  Bitmap64 bitmap;
  for (uint32_t key = 0; key < 60; ++key) {
    std::vector<Container> containers;
    for (uint32_t i = 0; i < key; ++i) {
      containers.push_back(i % 5 == 4 ? Runs(i, {{3, 3}}) : Array(i, {1, 3}));
    }
    bitmap.buckets.push_back({key, Bitmap(containers).Bytes()});
  }
  const View view = MustOpen(bitmap.Bytes());
  const Intervals expected = ReadRoaring64(bitmap.Bytes(), 100).positions;
  for (const size_t limit : {100u, 999u, 10000u}) {
    RoaringCursor cursor(view, Range());
    std::string out;
    while (cursor.Next(limit, kMax, out).position_count > 0) {
      EXPECT_LE(out.size(), limit);
      out.clear();
    }
    EXPECT_EQ(ReadParts(view, Range(), limit, kMax), expected);
  }
}

// A run container may be larger than every other: up to 131,074 bytes.
TEST(RoaringCursorTest, LargeRunContainerStaysBelowTheLimit) {
  std::vector<StoredRun> singles;
  for (uint32_t i = 0; i < 32768; ++i) singles.push_back({2 * i, 0});
  const std::string bytes =
      OneBucket(0, Bitmap({Array(0, {1}), Runs(1, singles), Array(2, {1})})).Bytes();
  const View view = MustOpen(bytes);
  for (const size_t limit : {1u, 8232u, 20000u, 65536u}) {
    SCOPED_TRACE(limit);
    EXPECT_EQ(ReadParts(view, Range(), limit, kMax), ReadRoaring64(bytes, 0).positions);
  }
}

TEST(RoaringCursorTest, RangesCutContainers) {
  const std::string bytes = MixedBytes();
  const View view = MustOpen(bytes);
  const Intervals all = ReadRoaring64(bytes, 0xFFFFFFFF).positions;
  const uint64_t rows[] = {0,
                           1,
                           7,
                           8,
                           65535,
                           65536,
                           66000,
                           70535,
                           70536,
                           131072,
                           131081,
                           131082,
                           131172,
                           196000,
                           196608,
                           196609,
                           262143,
                           327680,
                           327681,
                           393215,
                           0xFFFFFFFF,
                           uint64_t{2} << 32,
                           (uint64_t{2} << 32) + 70000,
                           kMax - 1,
                           kMax};
  for (const uint64_t first : rows) {
    for (const uint64_t last : rows) {
      if (first > last) continue;
      SCOPED_TRACE(::testing::Message() << first << " to " << last);
      ASSERT_EQ(ReadParts(view, {first, last}, kManyBytes, kMax), all.Clip(first, last));
    }
  }
}

// A container that is cut is written in its smallest form.
TEST(RoaringCursorTest, CutContainersAreSmall) {
  const auto cut_size = [](const Container& container, uint64_t first, uint64_t last) {
    std::string out;
    RoaringCursor(MustOpen(OneBucket(0, Bitmap({container})).Bytes()), {first, last})
        .Next(kManyBytes, kMax, out);
    return out.size();
  };
  // A run: 8 + 4 + 4 + 1 + 4 and a content of 6 bytes.
  EXPECT_EQ(cut_size(Bitset(0, Values(0, 65536)), 0, 65534), 27u);
  EXPECT_EQ(cut_size(Runs(0, {{0, 65535}}), 1, 60000), 27u);
  // An array: 8 + 4 + 8 + 4 + 4 and 2 bytes a value.
  EXPECT_EQ(cut_size(Bitset(0, Values(0, 32768, 2)), 0, 19), 28u + 20);
  EXPECT_EQ(cut_size(Bitset(0, Values(0, 32768, 2)), 0, 8191), 28u + 8192);
  // A bitset.
  EXPECT_EQ(cut_size(Bitset(0, Values(0, 32768, 2)), 0, 8192), 28u + 8192);
  EXPECT_EQ(cut_size(Bitset(0, Values(0, 32768, 2)), 0, 65000), 28u + 8192);
}

}  // namespace
}  // namespace dv::roaring
