#include "server/format/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "server/bytes/reason.h"
#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/chains.h"
#include "tests/testing/hex.h"
#include "tests/testing/status_matchers.h"

namespace dv::format {
namespace {

using dv::testing::Array;
using dv::testing::Be32;
using dv::testing::Bitmap;
using dv::testing::BugVectorBytes;
using dv::testing::Frame;
using dv::testing::FrameOf;
using dv::testing::FromHex;
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::kMagic32;
using dv::testing::kMagic64;
using dv::testing::MakeChain;
using dv::testing::OneBucket;
using dv::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

absl::StatusOr<DecodedVector> DecodeAs(const std::string& bytes, Format format) {
  return Decode(MakeChain(bytes), DecodeOptions{format, {}, {}});
}

std::string GoodVector() { return OneBucket(0, Bitmap({Array(0, {1, 3, 5})})).Bytes(); }
std::string GoodFrame() { return FrameOf(GoodVector()); }

// --- Order of checks
// ------------------------------------------------------------------------------

TEST(DecodeTest, LengthComesBeforeCrc) {
  Frame frame;
  frame.vector = GoodVector();
  frame.length = 5;
  frame.crc = 0;
  EXPECT_THAT(DecodeAs(frame.Bytes(), Format::kIceberg), HasReason(reason::kFrameLengthMismatch));
}

TEST(DecodeTest, CrcComesBeforeTheBitmap) {
  Frame frame;
  frame.vector = OneBucket(0, Bitmap({Array(0, {5, 3})})).Bytes();
  frame.crc = 0;
  EXPECT_THAT(DecodeAs(frame.Bytes(), Format::kIceberg), HasReason(reason::kCrcMismatch));
}

TEST(DecodeTest, BitmapComesBeforeCardinality) {
  const std::string bytes = FrameOf(OneBucket(0, Bitmap({Array(0, {5, 3})})).Bytes());
  EXPECT_THAT(Decode(MakeChain(bytes), DecodeOptions{Format::kIceberg, 77, 1}),
              HasReason(reason::kArrayNotAscending));
}

TEST(DecodeTest, CardinalityComesBeforeRowCount) {
  EXPECT_THAT(Decode(MakeChain(GoodFrame()), DecodeOptions{Format::kIceberg, 4, 2}),
              HasReason(reason::kCardinalityMismatch));
}

// --- Expectations
// -----------------------------------------------------------------------------------

TEST(DecodeTest, RowCountIsOneMoreThanTheLastPositionAllowed) {
  const auto decode = [](uint64_t rows) {
    return Decode(MakeChain(GoodFrame()), DecodeOptions{Format::kIceberg, 3, rows});
  };
  EXPECT_THAT(decode(6), IsOk());
  EXPECT_THAT(decode(~uint64_t{0}), IsOk());
  for (const uint64_t rows : {0u, 1u, 5u}) {
    EXPECT_THAT(decode(rows), HasReason(reason::kPositionPastRowCount)) << rows;
    EXPECT_THAT(decode(rows), HasCode(kFailedPrecondition));
    EXPECT_THAT(decode(rows), HasDetail("found", uint64_t{5}));
  }
}

TEST(DecodeTest, EmptyVectorFitsAnyRowCount) {
  EXPECT_THAT(Decode(MakeChain(BugVectorBytes("A1")), DecodeOptions{Format::kIceberg, 0, 0}),
              IsOk());
  EXPECT_THAT(Decode(MakeChain(BugVectorBytes("A1")), DecodeOptions{Format::kIceberg, 1, 0}),
              HasReason(reason::kCardinalityMismatch));
}

TEST(DecodeTest, ExpectationsHoldForBareRoaringToo) {
  const auto decode = [](uint64_t cardinality, uint64_t rows) {
    return Decode(MakeChain(GoodVector()), DecodeOptions{Format::kRoaring64, cardinality, rows});
  };
  EXPECT_THAT(decode(3, 6), IsOk());
  EXPECT_THAT(decode(2, 6), HasReason(reason::kCardinalityMismatch));
  EXPECT_THAT(decode(3, 5), HasReason(reason::kPositionPastRowCount));
}

// 2^64-1 is a position of bare Roaring that no row count can allow.
TEST(DecodeTest, LastPossiblePosition) {
  const std::string bytes = OneBucket(0xFFFFFFFF, Bitmap({Array(65535, {65535})})).Bytes();
  EXPECT_THAT(Decode(MakeChain(bytes), DecodeOptions{Format::kRoaring64, 1, {}}), IsOk());
  EXPECT_THAT(Decode(MakeChain(bytes), DecodeOptions{Format::kRoaring64, 1, ~uint64_t{0}}),
              HasReason(reason::kPositionPastRowCount));
}

// --- Keys by format
// ---------------------------------------------------------------------------------

TEST(DecodeTest, SignBitIsLegalInBareRoaringOnly) {
  const std::string vector = OneBucket(0x80000000, Bitmap({Array(0, {0})})).Bytes();
  EXPECT_THAT(DecodeAs(FrameOf(vector), Format::kIceberg), HasReason(reason::kKeyOutOfRange));
  EXPECT_THAT(DecodeAs(FrameOf(vector), Format::kUnspecified), HasReason(reason::kKeyOutOfRange));
  EXPECT_THAT(DecodeAs(vector, Format::kRoaring64), IsOk());
}

// --- Layouts and formats
// ----------------------------------------------------------------------------

// Bytes of each layout that is known and not read yet.
struct OtherLayout {
  const char* name;
  std::string bytes;
};

std::vector<OtherLayout> OtherLayouts() {
  Frame paimon;
  paimon.magic = std::string(kMagic32);
  paimon.vector = Bitmap({Array(0, {1, 3, 5})}).Bytes();
  return {
      {"Frame32", paimon.Bytes()},
      {"DvData", std::string(kMagic64) + GoodVector()},
      {"NativeLittleEndian", BugVectorBytes("A22")},
      {"NativeBigEndian", FromHex("6439d3d0 00000001 00000012 3a300000 00000000 00000000")},
      {"Puffin", "PFA1PFA1{\"blobs\":[]}" + FromHex("0c000000 00000000") + "PFA1"},
      {"DeltaFile", "\x01" + GoodFrame()},
      {"PaimonFile", "\x01" + paimon.Bytes()},
  };
}

TEST(DecodeTest, KnownLayoutsThatAreNotReadYet) {
  for (const OtherLayout& other : OtherLayouts()) {
    SCOPED_TRACE(other.name);
    const auto decoded = DecodeAs(other.bytes, Format::kUnspecified);
    EXPECT_THAT(decoded, HasCode(kUnimplemented));
    EXPECT_THAT(decoded, HasReason(reason::kNotImplemented));
    EXPECT_EQ(dv::DetailsOf(decoded.status()).count("feature"), 1u);
  }
}

TEST(DecodeTest, OtherLayoutsAreNoIcebergBlob) {
  for (const OtherLayout& other : OtherLayouts()) {
    SCOPED_TRACE(other.name);
    const auto decoded = DecodeAs(other.bytes, Format::kIceberg);
    EXPECT_THAT(decoded, HasCode(kFailedPrecondition));
    EXPECT_THAT(decoded, HasReason(reason::kLayoutMismatch));
    EXPECT_THAT(decoded, HasDetail("format", "iceberg"));
  }
}

TEST(DecodeTest, OtherLayoutsAreNoBareRoaring) {
  for (const OtherLayout& other : OtherLayouts()) {
    SCOPED_TRACE(other.name);
    const auto decoded = DecodeAs(other.bytes, Format::kRoaring64);
    EXPECT_THAT(decoded, HasCode(kFailedPrecondition));
    EXPECT_THAT(decoded, HasReason(reason::kLayoutMismatch));
  }
}

TEST(DecodeTest, FrameIsNoBareRoaring) {
  EXPECT_THAT(DecodeAs(GoodFrame(), Format::kRoaring64),
              AllOf(HasCode(kFailedPrecondition), HasReason(reason::kLayoutMismatch)));
}

TEST(DecodeTest, BareRoaringIsNoFrame) {
  EXPECT_THAT(DecodeAs(GoodVector(), Format::kIceberg),
              AllOf(HasCode(kFailedPrecondition), HasReason(reason::kLayoutUnknown)));
}

TEST(DecodeTest, FormatsThatAreNotReadYet) {
  for (const Format format :
       {Format::kPuffin, Format::kDelta, Format::kPaimon, Format::kLance, Format::kRoaring32}) {
    SCOPED_TRACE(FormatName(format));
    for (const std::string& bytes : {GoodFrame(), GoodVector(), std::string()}) {
      EXPECT_THAT(DecodeAs(bytes, format),
                  AllOf(HasCode(kUnimplemented), HasReason(reason::kNotImplemented)));
    }
  }
}

TEST(DecodeTest, UnknownBytesWithoutAFormat) {
  for (const std::string& bytes :
       {std::string("x"), std::string(100, '\0'), std::string("no deletion vector at all"),
        GoodVector(), Bitmap({Array(0, {1})}).Bytes()}) {
    const auto decoded = DecodeAs(bytes, Format::kUnspecified);
    EXPECT_THAT(decoded, AllOf(HasCode(kFailedPrecondition), HasReason(reason::kLayoutUnknown)));
    EXPECT_THAT(decoded, HasDetail("offset", uint64_t{0}));
  }
}

TEST(DecodeTest, NoBytesWithoutAFormat) {
  const auto decoded = DecodeAs("", Format::kUnspecified);
  EXPECT_THAT(decoded, AllOf(HasCode(kFailedPrecondition), HasReason(reason::kFrameTooShort)));
  EXPECT_THAT(decoded, HasDetail("found", uint64_t{0}));
}

// The message shows bytes as numbers: never as they are, which may not be text.
TEST(DecodeTest, MessagesAreText) {
  const auto decoded =
      DecodeAs(std::string("\xFF\xFE\x00\x01\x80\x81\x82\x83", 8) + std::string(30, '\xC0'),
               Format::kUnspecified);
  for (const char c : std::string(decoded.status().message())) {
    EXPECT_TRUE(c >= ' ' && c <= '~') << static_cast<int>(c);
  }
}

// --- Lengths
// ----------------------------------------------------------------------------------------

TEST(DecodeTest, WrongSizeNamesTheSizeThatTheFrameNeeds) {
  const std::string frame = GoodFrame();
  for (const std::string& bytes : {frame.substr(0, 40), frame + "xyz"}) {
    const auto decoded = DecodeAs(bytes, Format::kIceberg);
    EXPECT_THAT(decoded,
                StatusIs(kFailedPrecondition, AllOf(HasSubstr(std::to_string(frame.size())),
                                                    HasSubstr(std::to_string(bytes.size())))));
    EXPECT_THAT(decoded, HasDetail("needed", uint64_t{frame.size()}));
    EXPECT_THAT(decoded, HasDetail("found", uint64_t{bytes.size()}));
  }
}

TEST(DecodeTest, SmallestFrame) {
  EXPECT_THAT(DecodeAs(FrameOf(std::string(8, '\0')), Format::kIceberg), IsOk());
  EXPECT_THAT(DecodeAs(FrameOf(std::string(7, '\0')), Format::kIceberg),
              HasReason(reason::kFrameTooShort));
}

// --- Copying
// ----------------------------------------------------------------------------------------

TEST(DecodeTest, PointsIntoTheBytesGiven) {
  const bytes::Chain chain = MakeChain(GoodFrame(), {5, 17, 40});
  const auto decoded = Decode(chain, DecodeOptions{Format::kIceberg, {}, {}});
  ASSERT_THAT(decoded, IsOk());
  ASSERT_EQ(decoded->view.chain().pieces().size(), chain.pieces().size());
  for (size_t i = 0; i < chain.pieces().size(); ++i) {
    EXPECT_EQ(decoded->view.chain().pieces()[i].data, chain.pieces()[i].data);
  }
}

TEST(DecodeTest, KeepsTheBytesAlive) {
  auto decoded = Decode(MakeChain(GoodFrame(), {5, 17, 40}), DecodeOptions());
  ASSERT_THAT(decoded, IsOk());
  const DecodedVector vector = *std::move(decoded);
  decoded = absl::InternalError("gone");
  EXPECT_TRUE(vector.view.Contains(3));
  EXPECT_EQ(vector.view.Last(), 5u);
}

TEST(FormatNameTest, EveryFormatHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const Format format :
       {Format::kUnspecified, Format::kIceberg, Format::kPuffin, Format::kDelta, Format::kPaimon,
        Format::kLance, Format::kRoaring64, Format::kRoaring32}) {
    names.insert(FormatName(format));
  }
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(names.count("iceberg"), 1u);
}

}  // namespace
}  // namespace dv::format
