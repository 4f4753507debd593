#include "server/roaring/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "server/bytes/reason.h"
#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"
#include "tests/testing/shapes.h"
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
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::Le64;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::Random;
using dv::testing::Runs;
using dv::testing::Values;
using ::testing::AllOf;

constexpr auto kDataLoss = absl::StatusCode::kDataLoss;
// What an index of a container or two may take.
constexpr size_t kSmallIndexBytes = 1024;

absl::Status Build(const std::string& bytes, Index& index, uint32_t max_key = 0xFFFFFFFF) {
  IndexOptions options;
  options.max_key = max_key;
  return BuildIndex64(MakeChain(bytes, CutsEverywhere(bytes.size())), 0, bytes.size(), options,
                      index);
}

absl::Status Build(const std::string& bytes) {
  Index index;
  return Build(bytes, index);
}

absl::Status Build(const Bitmap32& bitmap) { return Build(OneBucket(0, bitmap).Bytes()); }

// Three keys, one of them empty, with every kind of container.
Bitmap64 Mixed() {
  Bitmap64 bitmap;
  bitmap.buckets.push_back(
      {2, Bitmap({Array(1, {5, 6}), Bitset(3, Values(0, 5000)), Runs(9, {{1, 99}})}).Bytes()});
  bitmap.buckets.push_back({3, Bitmap32().Bytes()});
  bitmap.buckets.push_back({0x7FFFFFFF, Bitmap({Array(65535, {65535})}).Bytes()});
  return bitmap;
}

// --- What the index says
// ------------------------------------------------------------------------------

TEST(IndexTest, NothingAtFirst) {
  const Index index;
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.total(), 0u);
  EXPECT_EQ(index.key_count(), 0u);
  EXPECT_EQ(index.LowerBound(0), 0u);
  EXPECT_EQ(index.LowerBound(~uint64_t{0}, 17), 0u);
}

TEST(IndexTest, EmptyBitmap) {
  Index index;
  ASSERT_THAT(Build(Bitmap64().Bytes(), index), IsOk());
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.total(), 0u);
  EXPECT_EQ(index.key_count(), 0u);
  EXPECT_EQ(index.LowerBound(0), 0u);
}

TEST(IndexTest, SaysWhereContainersAre) {
  const Bitmap64 bitmap = Mixed();
  Index index;
  ASSERT_THAT(Build(bitmap.Bytes(), index), IsOk());
  ASSERT_EQ(index.size(), 4u);
  EXPECT_EQ(index.total(), 2u + 5000 + 100 + 1);
  EXPECT_EQ(index.key_count(), 3u);
  EXPECT_EQ(index.empty_key_count(), 1u);
  EXPECT_EQ(index.count(ContainerKind::kArray), 2u);
  EXPECT_EQ(index.count(ContainerKind::kBitset), 1u);
  EXPECT_EQ(index.count(ContainerKind::kRun), 1u);

  const struct {
    uint64_t key;
    uint64_t rank;
    uint32_t cardinality;
    ContainerKind kind;
  } expected[] = {{0x20001, 0, 2, ContainerKind::kArray},
                  {0x20003, 2, 5000, ContainerKind::kBitset},
                  {0x20009, 5002, 100, ContainerKind::kRun},
                  {0x7FFFFFFFFFFF, 5102, 1, ContainerKind::kArray}};
  for (size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(index[i].key, expected[i].key);
    EXPECT_EQ(index[i].rank, expected[i].rank);
    EXPECT_EQ(index.cardinality(i), expected[i].cardinality);
    EXPECT_TRUE(index[i].kind() == expected[i].kind);
  }
  EXPECT_GT(index[4].key, index[3].key);
  EXPECT_EQ(index[4].rank, index.total());
}

TEST(IndexTest, CardinalityOfAFullContainer) {
  Index index;
  ASSERT_THAT(
      Build(OneBucket(0, Bitmap({Runs(0, {{0, 65535}}), Bitset(1, Values(0, 65536))})).Bytes(),
            index),
      IsOk());
  EXPECT_EQ(index.cardinality(0), 65536u);
  EXPECT_EQ(index.cardinality(1), 65536u);
  EXPECT_EQ(index.total(), 131072u);
}

// The bitmap may lie anywhere in the chain; offsets of the index count from the start of the chain.
TEST(IndexTest, BitmapInTheMiddleOfAChain) {
  const std::string bytes = Mixed().Bytes();
  const std::string padded = "before!" + bytes + "behind";
  Index alone;
  Index index;
  ASSERT_THAT(Build(bytes, alone), IsOk());
  ASSERT_THAT(BuildIndex64(MakeChain(padded, {3, 9, 40}), 7, 7 + bytes.size(), {}, index), IsOk());
  ASSERT_EQ(index.size(), alone.size());
  for (size_t i = 0; i < index.size(); ++i) {
    EXPECT_EQ(index[i].offset(), alone[i].offset() + 7);
    EXPECT_EQ(index[i].key, alone[i].key);
  }
}

// What lies behind the end of the bitmap in the chain is not read as part of it.
TEST(IndexTest, EndIsTheEnd) {
  const std::string bytes = Mixed().Bytes();
  Index index;
  for (uint64_t end = 0; end < bytes.size(); ++end) {
    ASSERT_FALSE(BuildIndex64(MakeChain(bytes), 0, end, {}, index).ok()) << end;
  }
  EXPECT_THAT(BuildIndex64(MakeChain(bytes + '\0'), 0, bytes.size() + 1, {}, index),
              HasReason(reason::kTrailingBytes));
}

TEST(IndexTest, LowerBoundWithAnyHint) {
  Index index;
  ASSERT_THAT(Build(Mixed().Bytes(), index), IsOk());
  const std::pair<uint64_t, size_t> expected[] = {{0, 0},
                                                  {0x20000, 0},
                                                  {0x20001, 0},
                                                  {0x20002, 1},
                                                  {0x20003, 1},
                                                  {0x20004, 2},
                                                  {0x20009, 2},
                                                  {0x2000A, 3},
                                                  {0x7FFFFFFFFFFE, 3},
                                                  {0x7FFFFFFFFFFF, 3},
                                                  {uint64_t{1} << 47, 4},
                                                  {(uint64_t{1} << 48) - 1, 4}};
  for (const auto& [key, i] : expected) {
    EXPECT_EQ(index.LowerBound(key), i) << key;
    for (const size_t hint : {0u, 1u, 2u, 3u, 4u, 5u, 1000u}) {
      EXPECT_EQ(index.LowerBound(key, hint), i) << key << ", hint " << hint;
    }
  }
}

// --- Reuse and memory
// ---------------------------------------------------------------------------------

TEST(IndexTest, SecondBitmapReplacesTheFirst) {
  Index index;
  ASSERT_THAT(Build(Mixed().Bytes(), index), IsOk());
  const size_t allocated = index.allocated_bytes();
  ASSERT_THAT(Build(OneBucket(7, Bitmap({Array(0, {1, 2, 3})})).Bytes(), index), IsOk());
  EXPECT_EQ(index.size(), 1u);
  EXPECT_EQ(index.total(), 3u);
  EXPECT_EQ(index.key_count(), 1u);
  EXPECT_EQ(index.empty_key_count(), 0u);
  EXPECT_EQ(index.count(ContainerKind::kBitset), 0u);
  EXPECT_EQ(index.count(ContainerKind::kRun), 0u);
  EXPECT_EQ(index.allocated_bytes(), allocated);
  ASSERT_THAT(Build(Bitmap64().Bytes(), index), IsOk());
  EXPECT_EQ(index.size(), 0u);
  EXPECT_EQ(index.total(), 0u);
}

TEST(IndexTest, EmptyAfterFailure) {
  const auto expect_empty = [](const Index& index) {
    EXPECT_EQ(index.size(), 0u);
    EXPECT_EQ(index.total(), 0u);
    EXPECT_EQ(index.key_count(), 0u);
    EXPECT_EQ(index.empty_key_count(), 0u);
    EXPECT_EQ(index.count(ContainerKind::kArray), 0u);
    EXPECT_EQ(index.count(ContainerKind::kBitset), 0u);
    EXPECT_EQ(index.count(ContainerKind::kRun), 0u);
    EXPECT_EQ(index.LowerBound(0), 0u);
  };
  // The last of its buckets is broken, after full and empty ones.
  Bitmap64 broken = Mixed();
  broken.buckets.push_back({0x80000000, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"});
  Index fresh;
  ASSERT_THAT(Build(broken.Bytes(), fresh), HasReason(reason::kCookieInvalid));
  expect_empty(fresh);
  Index used;
  ASSERT_THAT(Build(Mixed().Bytes(), used), IsOk());
  ASSERT_THAT(Build(broken.Bytes(), used), HasReason(reason::kCookieInvalid));
  expect_empty(used);
  ASSERT_THAT(Build(Mixed().Bytes(), used), IsOk());
  EXPECT_EQ(used.size(), 4u);
}

// What headers only claim costs nothing.
TEST(IndexTest, ClaimsCostNoMemory) {
  std::vector<std::string> claims;
  claims.push_back(Le64(0x7FFFFFFF) + std::string(100, '\0'));
  Bitmap32 containers = Bitmap({Array(0, {1})});
  containers.count = 65536;
  claims.push_back(OneBucket(0, containers).Bytes());
  Bitmap32 run_cookie = Bitmap({Runs(0, {{0, 9}})});
  run_cookie.cookie = 0xFFFF303B;
  claims.push_back(OneBucket(0, run_cookie).Bytes());
  claims.push_back(OneBucket(0x7FFFFFFF, Bitmap({Array(65535, {65535})})).Bytes());
  for (const std::string& bytes : claims) {
    Index index;
    static_cast<void>(Build(bytes, index));
    EXPECT_LE(index.allocated_bytes(), kSmallIndexBytes);
  }
}

TEST(IndexTest, EmptyBucketsCostNoMemory) {
  Bitmap64 bitmap;
  for (uint32_t key = 0; key < 1000; ++key) bitmap.buckets.push_back({key, Bitmap32().Bytes()});
  Index index;
  ASSERT_THAT(Build(bitmap.Bytes(), index), IsOk());
  EXPECT_EQ(index.key_count(), 1000u);
  EXPECT_EQ(index.empty_key_count(), 1000u);
  EXPECT_LE(index.allocated_bytes(), kSmallIndexBytes);
}

TEST(IndexTest, MemoryIsInProportionToContainers) {
  std::vector<Container> containers;
  for (uint32_t key = 0; key < 10000; ++key) containers.push_back(Array(key, {1}));
  Index index;
  ASSERT_THAT(Build(OneBucket(0, Bitmap(containers)).Bytes(), index), IsOk());
  EXPECT_LE(index.allocated_bytes(), 2 * 24 * 10001u);
  // One container a bucket: the index grows often.
  Bitmap64 bitmap;
  for (uint32_t key = 0; key < 3000; ++key) {
    bitmap.buckets.push_back({key, Bitmap({Array(0, {1})}).Bytes()});
  }
  Index grown;
  ASSERT_THAT(Build(bitmap.Bytes(), grown), IsOk());
  EXPECT_EQ(grown.size(), 3000u);
  EXPECT_LE(grown.allocated_bytes(), 2 * 24 * 3001u);
}

// --- The rules of headers, each with the reason, the place and the numbers
// ----------------------------

TEST(IndexRulesTest, BitmapCount) {
  for (const size_t size : {0u, 1u, 7u}) {
    EXPECT_THAT(Build(std::string(size, '\0')),
                AllOf(HasCode(kDataLoss), HasReason(reason::kTruncated),
                      HasDetail("part", "bitmap count"), HasDetail("offset", uint64_t{0}),
                      HasDetail("found", uint64_t{size}), HasDetail("expected", uint64_t{8})));
  }
  EXPECT_THAT(Build(Le64(1)),
              AllOf(HasCode(kDataLoss), HasReason(reason::kBitmapCountTooLarge),
                    HasDetail("offset", uint64_t{0}), HasDetail("found", uint64_t{1})));
  EXPECT_THAT(Build(Le64(1) + std::string(11, '\0')), HasReason(reason::kBitmapCountTooLarge));
  EXPECT_THAT(Build(Le64(1) + OneBucket(0, Bitmap32()).Bytes().substr(8)), IsOk());
  EXPECT_THAT(Build(Le64(~uint64_t{0}) + std::string(100, '\0')),
              AllOf(HasReason(reason::kBitmapCountTooLarge), HasDetail("found", ~uint64_t{0})));
}

TEST(IndexRulesTest, Keys) {
  Bitmap64 bitmap = Mixed();
  bitmap.buckets[1].key = 2;
  EXPECT_THAT(Build(bitmap.Bytes()),
              AllOf(HasCode(kDataLoss), HasReason(reason::kKeysNotAscending),
                    HasDetail("offset", uint64_t{bitmap.KeyOffset(1)}),
                    HasDetail("found", uint64_t{2}), HasDetail("previous", uint64_t{2})));
  bitmap.buckets[1].key = 1;
  EXPECT_THAT(Build(bitmap.Bytes()),
              AllOf(HasReason(reason::kKeysNotAscending), HasDetail("found", uint64_t{1}),
                    HasDetail("previous", uint64_t{2})));
  // Unsigned: 0x80000000 is above 0x7FFFFFFF.
  bitmap.buckets[1].key = 0x7FFFFFFF;
  bitmap.buckets[2].key = 0x80000000;
  EXPECT_THAT(Build(bitmap.Bytes()), IsOk());
}

TEST(IndexRulesTest, LargestKey) {
  Index index;
  const Bitmap64 bitmap = Mixed();
  EXPECT_THAT(Build(bitmap.Bytes(), index, 0x7FFFFFFF), IsOk());
  EXPECT_THAT(Build(bitmap.Bytes(), index, 0x7FFFFFFE),
              AllOf(HasCode(kDataLoss), HasReason(reason::kKeyOutOfRange),
                    HasDetail("offset", uint64_t{bitmap.KeyOffset(2)})));
  EXPECT_THAT(Build(bitmap.Bytes(), index, 1),
              AllOf(HasReason(reason::kKeyOutOfRange), HasDetail("offset", uint64_t{8})));
}

TEST(IndexRulesTest, Cookie) {
  Bitmap32 bitmap = Bitmap({Array(0, {1, 2, 3})});
  for (const uint32_t cookie : {0u, 12345u, 12348u, 0x0001303Au, 0x3A300000u, 0xFFFFFFFFu}) {
    bitmap.cookie = cookie;
    EXPECT_THAT(Build(bitmap), AllOf(HasCode(kDataLoss), HasReason(reason::kCookieInvalid),
                                     HasDetail("offset", uint64_t{12})));
  }
}

TEST(IndexRulesTest, ContainerCount) {
  Bitmap32 bitmap = Bitmap({Array(0, {1, 2, 3})});
  bitmap.count = 65537;
  EXPECT_THAT(Build(bitmap),
              AllOf(HasCode(kDataLoss), HasReason(reason::kContainerCountTooLarge),
                    HasDetail("offset", uint64_t{16}), HasDetail("found", uint64_t{65537})));
  bitmap.count = 65536;
  EXPECT_THAT(Build(bitmap),
              AllOf(HasReason(reason::kTruncated), HasDetail("part", "descriptive header"),
                    HasDetail("offset", uint64_t{20})));
}

TEST(IndexRulesTest, TruncatedParts) {
  // A bitmap as the last of two, cut inside each of its parts.
  const Bitmap32 runs = Bitmap({Array(0, {1}), Runs(1, {{0, 1}}), Array(2, {1}), Array(3, {1})});
  const Bitmap32 arrays = Bitmap({Array(0, {1, 2, 3}), Array(1, {7})});
  const std::string first = Bitmap({Array(0, {1, 2, 3, 4, 5, 6})}).Bytes();
  const uint64_t start = 8 + 4 + first.size() + 4;
  const auto build = [&](const Bitmap32& bitmap, size_t size) {
    Bitmap64 vector;
    vector.buckets = {{0, first}, {1, bitmap.Bytes().substr(0, size)}};
    return Build(vector.Bytes());
  };
  struct Part {
    const Bitmap32& bitmap;
    const char* name;
    uint64_t begin;
    uint64_t size;
  };
  const Part parts[] = {
      {arrays, "cookie", 0, 4},
      {arrays, "container count", 4, 4},
      {arrays, "descriptive header", 8, 8},
      {arrays, "offset header", 16, 8},
      {arrays, "container", 24, 6},
      {arrays, "container", 30, 2},
      {runs, "run flags", 4, 1},
      {runs, "descriptive header", 5, 16},
      {runs, "offset header", 21, 16},
      {runs, "container", 37, 2},
      {runs, "container", 45, 2},
  };
  for (const Part& part : parts) {
    for (uint64_t left = 0; left < part.size; ++left) {
      SCOPED_TRACE(::testing::Message() << part.name << " at " << part.begin << ", left " << left);
      EXPECT_THAT(build(part.bitmap, part.begin + left),
                  AllOf(HasCode(kDataLoss), HasReason(reason::kTruncated),
                        HasDetail("part", part.name), HasDetail("offset", start + part.begin),
                        HasDetail("found", left), HasDetail("expected", part.size)));
    }
  }
  // A run container: first its count, then its runs.
  for (uint64_t left = 0; left < 6; ++left) {
    EXPECT_THAT(build(runs, 39 + left),
                AllOf(HasReason(reason::kTruncated), HasDetail("part", "container"),
                      HasDetail("offset", start + 39), HasDetail("found", left),
                      HasDetail("expected", uint64_t{left < 2 ? 2u : 6u})));
  }
}

TEST(IndexRulesTest, TruncatedKey) {
  Bitmap64 bitmap = OneBucket(0, Bitmap({Array(0, {1, 2, 3, 4, 5, 6})}));
  bitmap.count = 2;
  for (size_t left = 0; left < 4; ++left) {
    bitmap.trailing = std::string(left, '\1');
    EXPECT_THAT(Build(bitmap.Bytes()),
                AllOf(HasReason(reason::kTruncated), HasDetail("part", "key"),
                      HasDetail("offset", uint64_t{bitmap.KeyOffset(1)}),
                      HasDetail("found", uint64_t{left}), HasDetail("expected", uint64_t{4})));
  }
}

TEST(IndexRulesTest, ContainerKeys) {
  EXPECT_THAT(Build(Bitmap({Array(5, {1}), Array(5, {2})})),
              AllOf(HasCode(kDataLoss), HasReason(reason::kContainerKeysNotAscending),
                    HasDetail("offset", uint64_t{12 + 8 + 4}), HasDetail("found", uint64_t{5}),
                    HasDetail("previous", uint64_t{5})));
  EXPECT_THAT(Build(Bitmap({Runs(1, {{0, 0}}), Array(9, {1}), Array(8, {2})})),
              AllOf(HasReason(reason::kContainerKeysNotAscending),
                    HasDetail("offset", uint64_t{12 + 5 + 8}), HasDetail("found", uint64_t{8}),
                    HasDetail("previous", uint64_t{9})));
}

TEST(IndexRulesTest, OffsetHeader) {
  Bitmap32 bitmap = Bitmap({Array(0, {1}), Array(1, {2, 3}), Array(2, {4})});
  bitmap.offsets[2] = 41;
  EXPECT_THAT(Build(bitmap),
              AllOf(HasCode(kDataLoss), HasReason(reason::kOffsetsInconsistent),
                    HasDetail("offset", uint64_t{12 + bitmap.OffsetHeaderOffset() + 8}),
                    HasDetail("found", uint64_t{41}), HasDetail("expected", uint64_t{38})));
}

TEST(IndexRulesTest, RunContainerWithoutRun) {
  const Bitmap32 bitmap = Bitmap({Array(0, {1}), Runs(1, {})});
  EXPECT_THAT(Build(bitmap), AllOf(HasCode(kDataLoss), HasReason(reason::kRunContainerEmpty),
                                   HasDetail("offset", uint64_t{12 + bitmap.PayloadOffset(1)})));
}

TEST(IndexRulesTest, TrailingBytes) {
  Bitmap64 bitmap = Mixed();
  const uint64_t size = bitmap.Bytes().size();
  bitmap.trailing = "12345";
  EXPECT_THAT(Build(bitmap.Bytes()),
              AllOf(HasCode(kDataLoss), HasReason(reason::kTrailingBytes),
                    HasDetail("offset", size), HasDetail("found", uint64_t{5})));
}

// Offsets in errors count from the start of the chain, as those of the index.
TEST(IndexRulesTest, PlacesCountFromTheStartOfTheChain) {
  Bitmap64 bitmap = Mixed();
  bitmap.buckets[1].key = 1;
  const std::string bytes = "before!" + bitmap.Bytes();
  Index index;
  EXPECT_THAT(BuildIndex64(MakeChain(bytes), 7, bytes.size(), {}, index),
              HasDetail("offset", uint64_t{7 + bitmap.KeyOffset(1)}));
}

// Wherever the bytes are cut, the walk finds the same.
TEST(IndexTest, CutsChangeNothing) {
  const std::string bytes = Mixed().Bytes();
  Index whole;
  ASSERT_THAT(BuildIndex64(MakeChain(bytes), 0, bytes.size(), {}, whole), IsOk());
  Random random(dv::testing::TestSeed());
  for (int i = 0; i < 300; ++i) {
    const auto cuts = i < 150 ? dv::testing::Cuts{static_cast<uint64_t>(i)}
                              : dv::testing::RandomCuts(bytes.size(), 40, random);
    Index index;
    ASSERT_THAT(BuildIndex64(MakeChain(bytes, cuts), 0, bytes.size(), {}, index), IsOk());
    ASSERT_EQ(index.size(), whole.size());
    for (size_t c = 0; c <= index.size(); ++c) {
      EXPECT_EQ(index[c].key, whole[c].key);
      EXPECT_EQ(index[c].rank, whole[c].rank);
      if (c < index.size()) {
        EXPECT_EQ(index[c].offset(), whole[c].offset());
      }
    }
  }
}

}  // namespace
}  // namespace dv::roaring
