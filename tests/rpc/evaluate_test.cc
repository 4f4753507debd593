#include "server/rpc/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/rpc/requests.h"
#include "tests/testing/assembler.h"
#include "tests/testing/generators.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::Random;
using dv::testing::RandomBitmap;
using ::testing::ElementsAre;

roaring::View OneThreeFive() {
  return ViewOf(
      dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Array(0, {1, 3, 5})})).Bytes());
}

TEST(Check, KeepsTheOrderOfTheRequest) {
  const std::vector<uint64_t> positions = {5, 4, 3, 3, UINT64_MAX, 0, 1, 1, 1};
  const pb::CheckAnswer answer = Check(OneThreeFive(), positions, 100);
  EXPECT_EQ(answer.deleted(), std::string("\xCD\x01", 2));
  EXPECT_EQ(answer.deleted_count(), 6u);
  EXPECT_EQ(answer.position_count(), 9u);
  EXPECT_EQ(answer.first_index(), 100u);
  EXPECT_EQ(Check(OneThreeFive(), {}, 0).deleted(), "");
}

TEST(Count, CountsEachRange) {
  google::protobuf::RepeatedPtrField<pb::PositionRange> ranges;
  ranges.Add();
  ranges.Add()->set_end(0);
  ranges.Add()->set_start(3);
  ranges.Add()->set_end(4);
  const pb::CountAnswer answer = Count(OneThreeFive(), ranges, 0, 4);
  EXPECT_THAT(answer.counts(), ElementsAre(3, 0, 2, 2));
  EXPECT_THAT(Count(OneThreeFive(), ranges, 2, 3).counts(), ElementsAre(2));
  EXPECT_EQ(Count(OneThreeFive(), ranges, 2, 3).first_index(), 2u);
}

TEST(MakeHistogram, SpreadsRowsAsTheContractSays) {
  const pb::Histogram histogram = MakeHistogram(OneThreeFive(), HistogramSpec{5, 3});
  // Buckets [0, 1), [1, 3), [3, 5).
  EXPECT_THAT(histogram.counts(), ElementsAre(0, 1, 1));
  EXPECT_EQ(histogram.beyond_count(), 1u);
  EXPECT_EQ(histogram.row_count(), 5u);
  // No rows: everything is beyond.
  EXPECT_THAT(MakeHistogram(OneThreeFive(), HistogramSpec{0, 2}).counts(), ElementsAre(0, 0));
  EXPECT_EQ(MakeHistogram(OneThreeFive(), HistogramSpec{0, 2}).beyond_count(), 3u);
  // More buckets than rows.
  EXPECT_THAT(MakeHistogram(OneThreeFive(), HistogramSpec{2, 4}).counts(), ElementsAre(0, 0, 0, 1));
}

TEST(MakeHistogram, AgreesWithCountingOneByOne) {
  Random random(dv::testing::TestSeed());
  for (int round = 0; round < 40; ++round) {
    const RandomBitmap bitmap = dv::testing::RandomRoaring64(random, UINT32_MAX);
    const roaring::View view = ViewOf(bitmap.bytes);
    HistogramSpec spec;
    spec.row_count =
        random.OneIn(4) ? random.Bits() : dv::testing::RandomPosition(bitmap.positions, random);
    spec.bucket_count = static_cast<uint32_t>(1 + random.Below(300));
    const pb::Histogram histogram = MakeHistogram(view, spec);
    ASSERT_EQ(histogram.counts_size(), static_cast<int>(spec.bucket_count));
    for (uint32_t i = 0; i < spec.bucket_count; ++i) {
      const auto bound = [&spec](uint32_t bucket) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<uint64_t>(Wide{spec.row_count} * bucket / spec.bucket_count);
      };
      const uint64_t begin = bound(i);
      const uint64_t end = bound(i + 1);
      const uint64_t expected = begin == end ? 0 : bitmap.positions.Count(begin, end - 1);
      ASSERT_EQ(histogram.counts(static_cast<int>(i)), expected) << i;
    }
    EXPECT_EQ(histogram.beyond_count(), bitmap.positions.Count(spec.row_count, UINT64_MAX));
  }
}

TEST(Summarize, SaysWhatThereIs) {
  format::DecodedVector vector;
  const std::string blob = SmallBlob();
  auto decoded = format::Decode(bytes::Chain::Own(blob), format::DecodeOptions());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const pb::VectorSummary summary = Summarize(*decoded, 17);
  EXPECT_EQ(summary.cardinality(), 3u);
  EXPECT_EQ(summary.first_position(), 1u);
  EXPECT_EQ(summary.last_position(), 5u);
  EXPECT_EQ(summary.format(), pb::FORMAT_ICEBERG);
  EXPECT_EQ(summary.layout(), pb::LAYOUT_FRAME64);
  EXPECT_EQ(summary.encoded_size(), 46u);
  EXPECT_EQ(summary.key_count(), 1u);
  EXPECT_EQ(summary.containers().array(), 1u);
  EXPECT_EQ(summary.bytes_copied(), 17u);
  EXPECT_TRUE(summary.checksum_checked());
  EXPECT_FALSE(summary.identity_checked());
}

}  // namespace
}  // namespace dv::rpc
