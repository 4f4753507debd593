#include "client/cli/roaring_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "roaring/roaring64map.hh"
#include "tests/testing/status_matchers.h"

namespace dv::cli {
namespace {

using ::dv::testing::HasCode;
using ::dv::testing::IsOk;
using ::roaring::Roaring64Map;

std::string Write(const Roaring64Map& bitmap) {
  std::string bytes(bitmap.getSizeInBytes(), '\0');
  bitmap.write(bytes.data());
  return bytes;
}

Roaring64Map Read(const std::string& bytes) {
  return Roaring64Map::readSafe(bytes.data(), bytes.size());
}

// A bitmap with all kinds of containers, under several keys.
Roaring64Map Sample() {
  Roaring64Map bitmap;
  std::mt19937_64 random(1);
  for (const uint64_t key : {0, 1, 7}) {
    const uint64_t base = key << 32;
    bitmap.add(base + 3);
    bitmap.addRange(base + 65536, base + 65536 + 5000);
    for (int i = 0; i < 30'000; ++i) bitmap.add(base + 2 * 65536 + random() % 65536);
    bitmap.addRange(base + 3 * 65536, base + 5 * 65536);
    for (int i = 0; i < 100; ++i) bitmap.add(base + (9 + random() % 5) * 65536 + random() % 65536);
  }
  bitmap.runOptimize();
  return bitmap;
}

TEST(RoaringMergerTest, NoPartIsTheEmptySet) {
  RoaringMerger merger;
  EXPECT_EQ(merger.Finish(), std::string(8, '\0'));
}

TEST(RoaringMergerTest, OnePartStaysAsItIs) {
  RoaringMerger merger;
  const std::string bytes = Write(Sample());
  ASSERT_THAT(merger.Add(bytes), IsOk());
  EXPECT_EQ(merger.Finish(), bytes);
}

TEST(RoaringMergerTest, PartsOfAnyCut) {
  const Roaring64Map all = Sample();
  std::vector<uint64_t> positions(all.cardinality());
  all.toUint64Array(positions.data());
  std::mt19937_64 random(2);
  for (const uint64_t longest : {100'000, 20'000, 3'000}) {
    RoaringMerger merger;
    size_t next = 0;
    while (next < positions.size()) {
      // Some cuts lie inside a container.
      const size_t count = std::min<size_t>(1 + random() % longest, positions.size() - next);
      Roaring64Map part;
      part.addMany(count, positions.data() + next);
      if (random() % 2 == 0) part.runOptimize();
      ASSERT_THAT(merger.Add(Write(part)), IsOk());
      next += count;
    }
    EXPECT_TRUE(Read(merger.Finish()) == all) << longest;
  }
}

TEST(RoaringMergerTest, EmptyPartsAndEmptyKeysAddNothing) {
  RoaringMerger merger;
  ASSERT_THAT(merger.Add(std::string(8, '\0')), IsOk());
  // Key 0 with an empty bitmap.
  std::string empty_key(20, '\0');
  empty_key[0] = 1;
  empty_key[12] = 0x3A;
  empty_key[13] = 0x30;
  ASSERT_THAT(merger.Add(empty_key), IsOk());
  EXPECT_EQ(merger.Finish(), std::string(8, '\0'));
}

TEST(RoaringMergerTest, WhatIsCutShortIsRefused) {
  Roaring64Map bitmap;
  bitmap.add(uint64_t{1});
  bitmap.addRange(65536, 70000);
  bitmap.runOptimize();
  const std::string bytes = Write(bitmap);
  for (size_t size = 0; size < bytes.size(); ++size) {
    RoaringMerger merger;
    EXPECT_THAT(merger.Add(bytes.substr(0, size)), HasCode(absl::StatusCode::kInternal)) << size;
  }
  RoaringMerger merger;
  EXPECT_THAT(merger.Add(bytes + "x"), HasCode(absl::StatusCode::kInternal));
}

TEST(RoaringMergerTest, PartsInTheWrongOrderAreRefused) {
  Roaring64Map low;
  low.add(uint64_t{1});
  Roaring64Map high;
  high.add(uint64_t{70000});
  RoaringMerger merger;
  ASSERT_THAT(merger.Add(Write(high)), IsOk());
  EXPECT_THAT(merger.Add(Write(low)), HasCode(absl::StatusCode::kInternal));
}

TEST(RoaringMergerTest, AnUnknownCookieIsRefused) {
  Roaring64Map bitmap;
  bitmap.add(uint64_t{1});
  std::string bytes = Write(bitmap);
  bytes[12] = 0x40;
  RoaringMerger merger;
  EXPECT_THAT(merger.Add(bytes), HasCode(absl::StatusCode::kInternal));
}

}  // namespace
}  // namespace dv::cli
