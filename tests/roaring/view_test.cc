#include "server/roaring/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/intervals.h"
#include "tests/testing/reference.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Array;
using dv::testing::Bitmap;
using dv::testing::Bitmap32;
using dv::testing::Bitmap64;
using dv::testing::Bitset;
using dv::testing::CutsEverywhere;
using dv::testing::Intervals;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::ReadRoaring64;
using dv::testing::Runs;
using dv::testing::Values;

constexpr uint64_t kMax = ~uint64_t{0};

View MustOpen(const std::string& bytes, const dv::testing::Cuts& cuts = {}) {
  auto view = View::Open(MakeChain(bytes, cuts), 0, bytes.size());
  EXPECT_THAT(view, IsOk());
  return *std::move(view);
}

// Containers of every kind with ends of every kind, over three keys.
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

// Rows at which something begins, ends or is asked for often.
std::vector<uint64_t> InterestingRows(const Intervals& positions) {
  std::vector<uint64_t> rows = {0, 1, kMax, kMax - 1, uint64_t{1} << 63, uint64_t{1} << 32};
  for (const auto& interval : positions.list()) {
    if (rows.size() > 300 && interval.length() == 1) continue;
    for (const uint64_t row : {interval.first, interval.last}) {
      rows.insert(rows.end(), {row - 1, row, row + 1, row & ~uint64_t{0xFFFF}, row | 0xFFFF});
    }
  }
  return rows;
}

TEST(ViewTest, EmptyViews) {
  const View views[] = {View(), MustOpen(Bitmap64().Bytes()),
                        MustOpen(OneBucket(7, Bitmap32()).Bytes())};
  for (const View& view : views) {
    EXPECT_EQ(view.cardinality(), 0u);
    EXPECT_EQ(view.First(), std::nullopt);
    EXPECT_EQ(view.Last(), std::nullopt);
    EXPECT_EQ(view.Count(Range()), 0u);
    EXPECT_EQ(view.Rank(0), 0u);
    EXPECT_EQ(view.Rank(kMax), 0u);
    EXPECT_FALSE(view.Contains(0));
    EXPECT_FALSE(view.Contains(kMax));
  }
}

TEST(ViewTest, FirstAndLastOfEveryKindOfContainer) {
  const std::pair<dv::testing::Container, std::pair<uint64_t, uint64_t>> cases[] = {
      {Array(3, {0}), {0, 0}},
      {Array(3, {65535}), {65535, 65535}},
      {Array(3, {7, 9}), {7, 9}},
      {Runs(3, {{5, 0}}), {5, 5}},
      {Runs(3, {{5, 3}, {100, 65435}}), {5, 65535}},
      {Bitset(3, Values(0, 65536)), {0, 65535}},
      {Bitset(3, Values(1, 5000)), {1, 5000}},
      {Bitset(3, Values(63, 5000)), {63, 5062}},
      {Bitset(3, Values(64, 5000)), {64, 5063}},
      {Bitset(3, Values(60000, 5536)), {60000, 65535}},
      {Bitset(3, Values(60001, 5534)), {60001, 65534}}};
  for (const auto& [container, ends] : cases) {
    const std::string bytes = OneBucket(2, Bitmap({container})).Bytes();
    const uint64_t base = (uint64_t{2} << 32) + (3 << 16);
    for (const View& view : {MustOpen(bytes), MustOpen(bytes, CutsEverywhere(bytes.size()))}) {
      EXPECT_EQ(view.First(), base + ends.first);
      EXPECT_EQ(view.Last(), base + ends.second);
    }
  }
}

TEST(ViewTest, ContainsRankAndCount) {
  const std::string bytes = MixedBytes();
  const Intervals expected = ReadRoaring64(bytes, 0xFFFFFFFF).positions;
  const std::vector<uint64_t> rows = InterestingRows(expected);
  for (const View& view : {MustOpen(bytes), MustOpen(bytes, CutsEverywhere(bytes.size()))}) {
    EXPECT_EQ(view.cardinality(), expected.Cardinality());
    for (const uint64_t row : rows) {
      SCOPED_TRACE(row);
      EXPECT_EQ(view.Contains(row), expected.Contains(row));
      EXPECT_EQ(view.Rank(row), row == 0 ? 0 : expected.Count(0, row - 1));
      EXPECT_EQ(view.Count({row, kMax}), expected.Count(row, kMax));
      EXPECT_EQ(view.Count({0, row}), expected.Count(0, row));
      EXPECT_EQ(view.Count({row, row}), expected.Contains(row) ? 1u : 0u);
    }
    for (size_t i = 0; i + 7 < rows.size(); i += 3) {
      EXPECT_EQ(view.Count({rows[i], rows[i + 7]}),
                rows[i] <= rows[i + 7] ? expected.Count(rows[i], rows[i + 7]) : 0);
    }
  }
}

TEST(ViewTest, CountOfEmptyRange) {
  const View view = MustOpen(MixedBytes());
  EXPECT_EQ(view.Count(Range::HalfOpen(7, 7)), 0u);
  EXPECT_EQ(view.Count({kMax, 0}), 0u);
}

TEST(ViewTest, RangeOfTheViewInItsChain) {
  const std::string bytes = MixedBytes();
  const std::string padded = "before" + bytes + "behind";
  const auto view = View::Open(MakeChain(padded, {1, 7, 77}), 6, 6 + bytes.size());
  ASSERT_THAT(view, IsOk());
  EXPECT_TRUE(view->Contains(7));
  EXPECT_EQ(view->Last(), kMax);
}

TEST(ViewTest, KeepsItsBytesAlive) {
  const std::string bytes = MixedBytes();
  auto chain = std::make_unique<bytes::Chain>(MakeChain(bytes, {100, 5000}));
  const uint8_t* const data = chain->pieces()[0].data;
  auto opened = View::Open(*chain, 0, bytes.size());
  chain.reset();
  ASSERT_THAT(opened, IsOk());
  View moved = *std::move(opened);
  EXPECT_EQ(moved.chain().pieces()[0].data, data) << "the bytes were copied";
  EXPECT_TRUE(moved.Contains(65536 + 4999));
  const View again = std::move(moved);
  EXPECT_EQ(again.Last(), kMax);
}

TEST(ViewTest, SeveralThreadsMayRead) {
  const std::string bytes = MixedBytes();
  const View view = MustOpen(bytes, CutsEverywhere(bytes.size()));
  const uint64_t expected = view.Count({3, 300000});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&view, &wrong, t, expected] {
      for (int i = 0; i < 2000; ++i) wrong[t] += view.Count({3, 300000}) != expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace dv::roaring
