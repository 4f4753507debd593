// Every shape of a vector, whole and broken, through Decode().
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "server/format/decode.h"
#include "server/roaring/cursor.h"
#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"
#include "tests/testing/reference.h"
#include "tests/testing/shapes.h"
#include "tests/testing/status_matchers.h"

namespace dv::format {
namespace {

using dv::testing::Cuts;
using dv::testing::CutsEverywhere;
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::Intervals;
using dv::testing::IsOk;
using dv::testing::LibraryCode;
using dv::testing::MakeChain;
using dv::testing::Random;
using dv::testing::RandomCuts;
using dv::testing::Sample;
using dv::testing::TestSeed;

// Ways to cut bytes: not at all, everywhere, at a few random places, in random pieces.
std::vector<Cuts> SomeCuts(uint64_t size, Random& random) {
  std::vector<Cuts> cuts = {{}, CutsEverywhere(size)};
  for (int i = 0; i < 8; ++i) cuts.push_back({random.Between(0, size)});
  for (const uint64_t max_piece : {3u, 50u, 5000u}) {
    cuts.push_back(RandomCuts(size, max_piece, random));
  }
  return cuts;
}

Intervals ReadRuns(const roaring::View& view) {
  Intervals intervals;
  roaring::RunCursor cursor(view, roaring::Range());
  roaring::Run runs[100];
  while (const size_t count = cursor.Next(runs, 100)) {
    for (size_t i = 0; i < count; ++i) {
      intervals.Append(runs[i].start, runs[i].start + (runs[i].length - 1));
    }
  }
  return intervals;
}

TEST(ShapesTest, ValidOnesAreReadRight) {
  SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << TestSeed());
  Random random(TestSeed());
  for (const Sample& sample : dv::testing::ValidShapes()) {
    SCOPED_TRACE(sample.name);
    const bool framed = sample.options.format == Format::kIceberg;
    const dv::testing::ReferenceResult expected =
        framed ? dv::testing::ReadFrame64(sample.bytes)
               : dv::testing::ReadRoaring64(sample.bytes, 0xFFFFFFFF);
    ASSERT_TRUE(expected.ok());
    for (const Cuts& cuts : SomeCuts(sample.bytes.size(), random)) {
      SCOPED_TRACE(::testing::Message() << cuts.size() << " cuts");
      const auto decoded = Decode(MakeChain(sample.bytes, cuts), sample.options);
      ASSERT_THAT(decoded, IsOk());
      EXPECT_EQ(decoded->format, sample.options.format);
      EXPECT_EQ(decoded->layout, framed ? Layout::kFrame64 : Layout::kRoaring64);
      EXPECT_EQ(decoded->checksum_checked, framed);
      EXPECT_EQ(decoded->encoded_size, sample.bytes.size());
      EXPECT_EQ(decoded->view.cardinality(), expected.positions.Cardinality());
      EXPECT_EQ(decoded->view.First(), expected.positions.First());
      EXPECT_EQ(decoded->view.Last(), expected.positions.Last());
      EXPECT_EQ(ReadRuns(decoded->view), expected.positions);
    }
  }
}

TEST(ShapesTest, FramesAreFoundByTheirMagic) {
  for (const Sample& sample : dv::testing::ValidShapes()) {
    if (sample.options.format != Format::kIceberg) continue;
    SCOPED_TRACE(sample.name);
    const auto decoded = Decode(MakeChain(sample.bytes), DecodeOptions());
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(decoded->format, Format::kIceberg);
  }
}

TEST(ShapesTest, BareRoaringIsNeverGuessed) {
  for (const Sample& sample : dv::testing::ValidShapes()) {
    if (sample.options.format != Format::kRoaring64) continue;
    SCOPED_TRACE(sample.name);
    EXPECT_THAT(Decode(MakeChain(sample.bytes), DecodeOptions()), HasReason("LAYOUT_UNKNOWN"));
  }
}

TEST(ShapesTest, BrokenOnesAreRefused) {
  SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << TestSeed());
  Random random(TestSeed());
  for (const Sample& sample : dv::testing::BrokenShapes()) {
    SCOPED_TRACE(sample.name);
    for (const Cuts& cuts : SomeCuts(sample.bytes.size(), random)) {
      const auto decoded = Decode(MakeChain(sample.bytes, cuts), sample.options);
      ASSERT_THAT(decoded, HasReason(sample.reason));
      ASSERT_THAT(decoded, HasCode(LibraryCode(sample.reason)));
      if (sample.offset.has_value()) {
        ASSERT_THAT(decoded, HasDetail("offset", *sample.offset));
      }
    }
  }
}

// Every refusal says what was found and, for people, says it in words.
TEST(ShapesTest, RefusalsSayWhatWasFound) {
  for (const Sample& sample : dv::testing::BrokenShapes()) {
    SCOPED_TRACE(sample.name);
    const auto decoded = Decode(MakeChain(sample.bytes), sample.options);
    ASSERT_FALSE(decoded.ok());
    const auto details = dv::DetailsOf(decoded.status());
    if (sample.reason != "RUN_CONTAINER_EMPTY") {
      EXPECT_EQ(details.count("found"), 1u);
    }
    EXPECT_EQ(details.count("expected") + details.count("previous"), 1u);
    EXPECT_GT(decoded.status().message().size(), 20u);
    EXPECT_LT(decoded.status().message().size(), 1000u);
  }
}

// Two wrong things: headers come first, so a lie in them is found however broken the contents are.
TEST(ShapesTest, HeadersAreCheckedBeforeContents) {
  using dv::testing::Array;
  using dv::testing::Bitmap;
  dv::testing::Bitmap64 bitmap;
  bitmap.buckets = {{0, Bitmap({Array(0, {5, 3})}).Bytes()}, {0, Bitmap({Array(0, {1})}).Bytes()}};
  EXPECT_THAT(Decode(MakeChain(dv::testing::FrameOf(bitmap.Bytes())),
                     DecodeOptions{Format::kIceberg, {}, {}}),
              HasReason("KEYS_NOT_ASCENDING"));
}

}  // namespace
}  // namespace dv::format
