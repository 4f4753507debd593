// The rules for the contents of containers, through View::Open().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/bytes/reason.h"
#include "server/roaring/view.h"
#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Array;
using dv::testing::Bitmap;
using dv::testing::Bitmap32;
using dv::testing::Bitset;
using dv::testing::Container;
using dv::testing::Cuts;
using dv::testing::CutsEverywhere;
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::Random;
using dv::testing::Runs;
using dv::testing::StoredRun;
using dv::testing::Values;
using ::testing::AllOf;

constexpr uint64_t kBitmapOffset = 12;

absl::Status Open(const Bitmap32& bitmap, const Cuts& cuts = {}) {
  const std::string bytes = OneBucket(0, bitmap).Bytes();
  return View::Open(MakeChain(bytes, cuts), 0, bytes.size()).status();
}

// A container at every place of a bitmap: first, between others, last.
std::vector<Bitmap32> Around(const Container& container) {
  Container middle = container;
  middle.key = 5;
  Container last = container;
  last.key = 65535;
  return {Bitmap({container, Array(9, {1})}),
          Bitmap({Array(0, {0, 65535}), Runs(1, {{3, 3}}), middle, Bitset(6, Values(0, 5000))}),
          Bitmap({Bitset(6, Values(0, 5000)), last})};
}

TEST(ValidateTest, ArrayIsCheckedAtEveryValue) {
  for (const uint32_t size : {2u, 3u, 16u, 17u, 33u, 200u, 4096u}) {
    for (uint32_t i = 1; i < size; i += size < 100 ? 1 : 37) {
      SCOPED_TRACE(::testing::Message() << "value " << i << " of " << size);
      std::vector<uint32_t> values = Values(3, size, 16);
      values[i] = values[i - 1];
      const Bitmap32 bitmap = Bitmap({Array(0, values)});
      EXPECT_THAT(Open(bitmap),
                  AllOf(HasCode(absl::StatusCode::kDataLoss), HasReason(reason::kArrayNotAscending),
                        HasDetail("offset", kBitmapOffset + bitmap.PayloadOffset(0) + 2 * i),
                        HasDetail("found", uint64_t{values[i]}),
                        HasDetail("previous", uint64_t{values[i]})));
    }
  }
}

// The first of two broken values is the one that is named.
TEST(ValidateTest, FirstBrokenValueIsNamed) {
  const Bitmap32 bitmap = Bitmap({Array(0, {9, 8, 7, 6, 5, 4, 3, 2, 1})});
  EXPECT_THAT(Open(bitmap), HasDetail("offset", kBitmapOffset + bitmap.PayloadOffset(0) + 2));
}

TEST(ValidateTest, ArrayValuesCompareAsUnsigned) {
  EXPECT_THAT(Open(Bitmap({Array(0, {0x7FFF, 0x8000, 0xFFFF})})), IsOk());
  EXPECT_THAT(Open(Bitmap({Array(0, {0x8000, 0x7FFF})})), HasReason(reason::kArrayNotAscending));
}

TEST(ValidateTest, ArrayCutAtEveryByte) {
  std::vector<uint32_t> values = Values(0, 40, 300);
  const Bitmap32 good = Bitmap({Array(0, values)});
  values[20] = values[19];
  const Bitmap32 bad = Bitmap({Array(0, values)});
  const uint64_t size = OneBucket(0, good).Bytes().size();
  for (uint64_t cut = 0; cut <= size; ++cut) {
    EXPECT_THAT(Open(good, {cut}), IsOk());
    EXPECT_THAT(Open(bad, {cut}),
                AllOf(HasReason(reason::kArrayNotAscending),
                      HasDetail("offset", kBitmapOffset + bad.PayloadOffset(0) + 40)));
  }
}

TEST(ValidateTest, BitsetCountsEveryBit) {
  // Each bit of each byte, set and cleared.
  for (uint32_t byte = 0; byte < 8192; byte += byte < 16 || byte > 8170 ? 1 : 73) {
    Container container = Bitset(0, Values(0, 40000));
    container.payload[byte] = static_cast<char>(container.payload[byte] ^ (1 << byte % 8));
    const Bitmap32 bitmap = Bitmap({container});
    const uint64_t found = byte < 5000 ? 39999 : 40001;
    EXPECT_THAT(Open(bitmap),
                AllOf(HasReason(reason::kBitsetCardinalityMismatch),
                      HasDetail("offset", kBitmapOffset + bitmap.PayloadOffset(0)),
                      HasDetail("found", found), HasDetail("expected", uint64_t{40000})));
  }
}

TEST(ValidateTest, BitsetInRandomPieces) {
  Random random(dv::testing::TestSeed());
  const Bitmap32 good = Bitmap({Bitset(0, Values(7, 30000, 2))});
  Container broken = Bitset(0, Values(7, 30000, 2));
  broken.payload[8000] = static_cast<char>(broken.payload[8000] ^ 1);
  const uint64_t size = OneBucket(0, good).Bytes().size();
  for (int i = 0; i < 100; ++i) {
    const Cuts cuts = dv::testing::RandomCuts(size, uint64_t{1} << random.Below(12), random);
    EXPECT_THAT(Open(good, cuts), IsOk());
    EXPECT_THAT(Open(Bitmap({broken}), cuts), HasReason(reason::kBitsetCardinalityMismatch));
  }
}

TEST(ValidateTest, BrokenContainersAreFoundAnywhere) {
  Container bitset = Bitset(0, Values(0, 5000));
  bitset.cardinality_minus_one = 5999;
  Container runs = Runs(0, {{0, 99}});
  runs.cardinality_minus_one = 4;
  const std::pair<Container, absl::string_view> broken[] = {
      {Array(0, {5, 3}), reason::kArrayNotAscending},
      {bitset, reason::kBitsetCardinalityMismatch},
      {runs, reason::kRunCardinalityMismatch},
      {Runs(0, {{65535, 1}}), reason::kRunOutOfRange},
      {Runs(0, {{0, 10}, {10, 1}}), reason::kRunsOverlap},
      {Runs(0, {{0, 10}, {11, 1}}), reason::kRunsAdjacent}};
  for (const auto& [container, reason] : broken) {
    for (const Bitmap32& bitmap : Around(container)) {
      const uint64_t size = OneBucket(0, bitmap).Bytes().size();
      EXPECT_THAT(Open(bitmap), HasReason(reason));
      EXPECT_THAT(Open(bitmap, CutsEverywhere(size)), HasReason(reason));
    }
  }
}

TEST(ValidateTest, RunDetails) {
  const Bitmap32 overlap = Bitmap({Runs(0, {{0, 10}, {5, 10}})});
  EXPECT_THAT(Open(overlap),
              AllOf(HasReason(reason::kRunsOverlap),
                    HasDetail("offset", kBitmapOffset + overlap.PayloadOffset(0) + 6),
                    HasDetail("found", uint64_t{5}), HasDetail("previous", uint64_t{10})));
  const Bitmap32 adjacent = Bitmap({Runs(0, {{0, 4}, {5, 4}})});
  EXPECT_THAT(Open(adjacent),
              AllOf(HasReason(reason::kRunsAdjacent), HasDetail("found", uint64_t{5}),
                    HasDetail("previous", uint64_t{4})));
  const Bitmap32 past = Bitmap({Runs(0, {{65534, 4}})});
  EXPECT_THAT(Open(past),
              AllOf(HasReason(reason::kRunOutOfRange), HasDetail("found", uint64_t{65538})));
  Container lying = Runs(0, {{0, 99}});
  lying.cardinality_minus_one = 4;
  EXPECT_THAT(Open(Bitmap({lying})),
              AllOf(HasReason(reason::kRunCardinalityMismatch), HasDetail("found", uint64_t{100}),
                    HasDetail("expected", uint64_t{5})));
}

// A sum of lengths that is right modulo 2^16, or in which a run out of range makes up for another.
TEST(ValidateTest, RunsMayNotMakeUpForEachOther) {
  Container wraps = Runs(0, {{0, 65535}});
  wraps.payload = Runs(0, {{0, 65534}}).payload;
  EXPECT_THAT(Open(Bitmap({wraps})), HasReason(reason::kRunCardinalityMismatch));
  EXPECT_THAT(Open(Bitmap({Runs(0, {{0, 9}, {65530, 9}})})), HasReason(reason::kRunOutOfRange));
}

TEST(ValidateTest, LegalExtremes) {
  std::vector<StoredRun> singles;
  for (uint32_t i = 0; i < 32768; ++i) singles.push_back({2 * i + 1, 0});
  EXPECT_THAT(Open(Bitmap({Runs(0, singles)})), IsOk());
  EXPECT_THAT(Open(Bitmap({Runs(0, {{0, 65535}})})), IsOk());
  EXPECT_THAT(Open(Bitmap({Runs(0, {{65535, 0}})})), IsOk());
  EXPECT_THAT(Open(Bitmap({Bitset(0, Values(0, 65536))})), IsOk());
  EXPECT_THAT(Open(Bitmap({Array(0, Values(61440, 4096))})), IsOk());
}

// A container may lie at any address: no load needs an alignment.
TEST(ValidateTest, EveryAlignment) {
  const std::string bytes =
      OneBucket(0, Bitmap({Array(0, {1, 3, 5}), Bitset(1, Values(0, 5000)), Runs(2, {{0, 99}})}))
          .Bytes();
  for (size_t misalignment = 0; misalignment < 16; ++misalignment) {
    const auto view = View::Open(MakeChain(bytes, {}, misalignment), 0, bytes.size());
    ASSERT_THAT(view, IsOk());
    EXPECT_EQ(view->Count(Range()), 3u + 5000 + 100);
    EXPECT_TRUE(view->Contains(65536 + 4999));
    EXPECT_TRUE(view->Contains(131072 + 99));
    EXPECT_FALSE(view->Contains(131072 + 100));
  }
}

}  // namespace
}  // namespace dv::roaring
