// The vectors of public bug reports, each through Decode() with every way to cut it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/bytes/reason.h"
#include "server/format/decode.h"
#include "server/roaring/cursor.h"
#include "server/roaring/mask.h"
#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/chains.h"
#include "tests/testing/reference.h"
#include "tests/testing/status_matchers.h"

namespace dv::format {
namespace {

using dv::testing::BugVector;
using dv::testing::BugVectorBytes;
using dv::testing::BugVectors;
using dv::testing::Cuts;
using dv::testing::CutsEverywhere;
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::LibraryCode;
using dv::testing::MakeChain;

class BugVectorTest : public ::testing::TestWithParam<BugVector> {
 protected:
  void Check(const Cuts& cuts, size_t misalignment = dv::testing::kVaried) {
    const BugVector& vector = GetParam();
    const auto decoded =
        Decode(MakeChain(vector.sample.bytes, cuts, misalignment), vector.sample.options);
    if (!vector.sample.valid()) {
      ASSERT_THAT(decoded, HasReason(vector.sample.reason));
      EXPECT_THAT(decoded, HasCode(LibraryCode(vector.sample.reason)));
      if (vector.sample.offset.has_value()) {
        EXPECT_THAT(decoded, HasDetail("offset", *vector.sample.offset));
      }
      return;
    }
    ASSERT_THAT(decoded, IsOk());
    EXPECT_EQ(decoded->view.cardinality(), vector.cardinality);
    EXPECT_EQ(decoded->view.First(), vector.first);
    EXPECT_EQ(decoded->view.Last(), vector.last);
    EXPECT_EQ(decoded->format, Format::kIceberg);
    EXPECT_EQ(decoded->layout, Layout::kFrame64);
    EXPECT_EQ(decoded->encoded_size, vector.sample.bytes.size());
    EXPECT_TRUE(decoded->checksum_checked);
  }
};

TEST_P(BugVectorTest, Whole) { Check({}); }

TEST_P(BugVectorTest, CutAtEveryPosition) {
  // Of the largest one, its headers and end, and some places between.
  const uint64_t size = GetParam().sample.bytes.size();
  for (uint64_t cut = 0; cut <= size; cut += size < 1000 || cut < 64 || cut > size - 64 ? 1 : 61) {
    SCOPED_TRACE(cut);
    Check({cut});
  }
}

TEST_P(BugVectorTest, PiecesOfOneByte) { Check(CutsEverywhere(GetParam().sample.bytes.size())); }

TEST_P(BugVectorTest, EveryAlignment) {
  for (size_t misalignment = 0; misalignment < 8; ++misalignment) Check({}, misalignment);
}

INSTANTIATE_TEST_SUITE_P(All, BugVectorTest, ::testing::ValuesIn(BugVectors()),
                         [](const ::testing::TestParamInfo<BugVector>& tested) {
                           return tested.param.sample.name;
                         });

DecodedVector MustDecode(const std::string& name) {
  absl::StatusOr<DecodedVector> decoded =
      Decode(MakeChain(BugVectorBytes(name)), DecodeOptions{Format::kIceberg, {}, {}});
  EXPECT_THAT(decoded, IsOk());
  return *std::move(decoded);
}

// A key near the end must not cost memory for all keys below it.
TEST(BugReportTest, HighKeyTakesLittleMemory) {
  EXPECT_LT(MustDecode("A5").view.index().allocated_bytes(), 1024u);
}

// Every way to ask must see the same of a vector whose offset header lies, or refuse it.
TEST(BugReportTest, CardinalityOfHeadersIsThatOfContents) {
  for (const char* name : {"A1", "A2", "A5", "A13", "A14", "A15", "A21"}) {
    SCOPED_TRACE(name);
    const DecodedVector vector = MustDecode(name);
    std::vector<uint8_t> out(8 * 70000);
    roaring::PositionCursor cursor(vector.view, roaring::Range());
    EXPECT_EQ(cursor.Next(out.data(), 70000), vector.view.cardinality());
    EXPECT_EQ(vector.view.Count(roaring::Range()), vector.view.cardinality());
    EXPECT_EQ(vector.view.Rank(~uint64_t{0}), vector.view.cardinality());
  }
}

TEST(BugReportTest, ExpectedCardinality) {
  const auto decode = [](std::optional<uint64_t> expected) {
    return Decode(MakeChain(BugVectorBytes("A2")), DecodeOptions{Format::kIceberg, expected, {}});
  };
  EXPECT_THAT(decode(3), IsOk());
  EXPECT_THAT(decode(std::nullopt), IsOk());
  EXPECT_THAT(decode(4), HasReason(reason::kCardinalityMismatch));
  EXPECT_THAT(decode(4), HasCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(decode(4), HasDetail("found", uint64_t{3}));
  EXPECT_THAT(decode(4), HasDetail("expected", uint64_t{4}));
}

// Delta's length of an entry is 8 less than Iceberg's: given as Iceberg's, the error says how many
// it must be.
TEST(BugReportTest, DeltaSizeGivenAsIcebergSize) {
  const auto decoded = Decode(MakeChain(BugVectorBytes("A2").substr(0, 38)),
                              DecodeOptions{Format::kIceberg, {}, {}});
  EXPECT_THAT(decoded, HasReason(reason::kFrameLengthMismatch));
  EXPECT_THAT(decoded, HasDetail("needed", uint64_t{46}));
  EXPECT_THAT(std::string(decoded.status().message()), ::testing::HasSubstr("46"));
}

TEST(BugReportTest, CrcErrorNamesBothValues) {
  const auto decoded =
      Decode(MakeChain(BugVectorBytes("A12")), DecodeOptions{Format::kIceberg, {}, {}});
  EXPECT_THAT(std::string(decoded.status().message()),
              ::testing::AllOf(::testing::HasSubstr("5A9E5D38"), ::testing::HasSubstr("5A9E5D39")));
}

std::string Mask(const std::string& name, uint64_t start, uint64_t rows,
                 roaring::Polarity polarity) {
  std::string mask((rows + 7) / 8, '\xAA');
  roaring::WriteMask(MustDecode(name).view, start, rows, polarity,
                     reinterpret_cast<uint8_t*>(mask.data()));
  return mask;
}

// The end of a range is exclusive, and padding bits are 0 in either polarity.
TEST(BugReportTest, MasksAroundTheirEnds) {
  using roaring::Polarity;
  EXPECT_EQ(Mask("A2", 0, 5, Polarity::kDeleted), "\x0A");
  EXPECT_EQ(Mask("A2", 0, 6, Polarity::kDeleted), "\x2A");
  EXPECT_EQ(Mask("A2", 2, 3, Polarity::kDeleted), "\x02");
  EXPECT_EQ(Mask("A2", 5, 1, Polarity::kDeleted), "\x01");
  EXPECT_EQ(Mask("A2", 6, 0, Polarity::kDeleted), "");
  EXPECT_EQ(Mask("A2", 0, 5, Polarity::kLive), "\x15");
  EXPECT_EQ(Mask("A2", 5, 1, Polarity::kLive), std::string(1, '\0'));
  EXPECT_EQ(Mask("A13", 4294967295, 3, Polarity::kDeleted), "\x02");
  EXPECT_EQ(Mask("A13", 4294967295, 3, Polarity::kLive), "\x05");
}

// Nothing is expanded to count or to look up, however many positions there are.
TEST(BugReportTest, FullBitmapIsNotExpanded) {
  using dv::testing::Bitmap;
  using dv::testing::Container;
  std::vector<Container> containers;
  for (uint32_t key = 0; key < 65536; ++key) {
    containers.push_back(dv::testing::Runs(key, {{0, 65535}}));
  }
  const std::string blob =
      dv::testing::FrameOf(dv::testing::OneBucket(0, Bitmap(containers)).Bytes());
  ASSERT_EQ(blob.size(), 925724u);
  const auto decoded = Decode(MakeChain(blob), DecodeOptions{Format::kIceberg, {}, {}});
  ASSERT_THAT(decoded, IsOk());
  const roaring::View& view = decoded->view;
  EXPECT_LT(view.index().allocated_bytes(), 8u << 20);
  EXPECT_EQ(view.cardinality(), uint64_t{1} << 32);
  EXPECT_EQ(view.Last(), 0xFFFFFFFFu);
  EXPECT_TRUE(view.Contains(4294967295));
  EXPECT_FALSE(view.Contains(4294967296));
  EXPECT_EQ(view.Count({1, 0xFFFFFFFE}), (uint64_t{1} << 32) - 2);
  roaring::RunCursor runs(view, roaring::Range());
  roaring::Run run[2];
  ASSERT_EQ(runs.Next(run, 2), 1u);
  EXPECT_EQ(run[0].start, 0u);
  EXPECT_EQ(run[0].length, uint64_t{1} << 32);
}

}  // namespace
}  // namespace dv::format
