#include "server/rpc/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "deletionvector/v1/scan.pb.h"
#include "server/rpc/encode.h"
#include "tests/rpc/requests.h"
#include "tests/testing/assembler.h"
#include "tests/testing/generators.h"
#include "tests/testing/oracle.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::Interval;
using dv::testing::Intervals;
using dv::testing::Random;
using dv::testing::RandomBitmap;

constexpr uint64_t kLast = UINT64_MAX;

// Everything that an answer says.
struct Collected {
  std::vector<pb::AnswerPart> parts;
  pb::AnswerEnd end;
};

// Collects an answer and checks of each message that it is what the generated code would have sent.
Collected Collect(const roaring::View& view, const ReadSpec& spec,
                  std::optional<uint64_t> query_id) {
  Collected collected;
  Answer answer(view, spec, query_id);
  while (!answer.Done()) {
    const bytes::Chain chain = answer.Next();
    EXPECT_LE(chain.pieces().size(), 2u);
    const std::string bytes = chain.ToString();
    EXPECT_LE(bytes.size(), (size_t{256} << 10) + 200);
    if (query_id.has_value()) {
      pb::ScanResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      EXPECT_TRUE(response.SerializeAsString() == bytes);
      EXPECT_EQ(response.part().query_id(), *query_id);
      collected.parts.push_back(response.part().read());
    } else {
      pb::ReadPositionsResponse response;
      EXPECT_TRUE(response.ParseFromString(bytes));
      EXPECT_TRUE(response.SerializeAsString() == bytes);
      collected.parts.push_back(response.part());
    }
  }
  collected.end = answer.End();
  return collected;
}

// Positions of a part as intervals, whatever its encoding.
Intervals PositionsOf(const pb::AnswerPart& part) {
  std::vector<Interval> list;
  const auto add = [&list](uint64_t first, uint64_t last) {
    if (!list.empty() && list.back().last + 1 == first) {
      list.back().last = last;
    } else {
      list.push_back({first, last});
    }
  };
  switch (part.content_case()) {
    case pb::AnswerPart::kPositions:
      for (const uint64_t position : part.positions().values()) add(position, position);
      break;
    case pb::AnswerPart::kRuns: {
      EXPECT_EQ(part.runs().starts_size(), part.runs().lengths_size());
      for (int i = 0; i < part.runs().starts_size(); ++i) {
        const uint64_t start = part.runs().starts(i);
        EXPECT_GE(part.runs().lengths(i), 1u);
        list.push_back({start, start + part.runs().lengths(i) - 1});
      }
      break;
    }
    case pb::AnswerPart::kMask: {
      const std::string& bits = part.mask().bits();
      EXPECT_EQ(bits.size(), (part.row_count() + 7) / 8);
      const bool wanted = part.mask().polarity() == pb::MASK_POLARITY_DELETED;
      for (uint64_t i = 0; i < bits.size() * 8; ++i) {
        const bool bit = (static_cast<uint8_t>(bits[i / 8]) >> (i % 8) & 1) != 0;
        if (i >= part.row_count()) {
          EXPECT_FALSE(bit) << "padding";
        } else if (bit == wanted) {
          add(part.start() + i, part.start() + i);
        }
      }
      break;
    }
    case pb::AnswerPart::kRoaring: {
      const dv::testing::Oracle::Verdict verdict = dv::testing::Oracle::Judge(part.roaring());
      EXPECT_TRUE(verdict.accepted) << verdict.why;
      if (!verdict.accepted) break;
      const dv::testing::Oracle oracle(part.roaring());
      for (const uint64_t position : oracle.Positions(0, kLast, kLast)) add(position, position);
      break;
    }
    case pb::AnswerPart::CONTENT_NOT_SET:
      ADD_FAILURE() << "a part without content";
      break;
  }
  Intervals result;
  for (const Interval& interval : list) result.Append(interval.first, interval.last);
  return result;
}

// Checks an answer against the rules of the contract and the positions that there are.
void ExpectRight(const Collected& answer, const Intervals& all, const ReadSpec& spec) {
  const roaring::Range& range = spec.range;
  const Intervals in_range = range.empty() ? Intervals() : all.Clip(range.first, range.last);
  const uint64_t total = in_range.Cardinality();
  const uint64_t wanted = std::min(total, spec.limit.value_or(kLast));
  uint64_t next = range.first;
  bool at_top = false;
  uint64_t positions = 0;
  std::vector<Interval> found;
  for (size_t i = 0; i < answer.parts.size(); ++i) {
    SCOPED_TRACE(i);
    const pb::AnswerPart& part = answer.parts[i];
    ASSERT_FALSE(at_top);
    ASSERT_EQ(part.start(), next);
    ASSERT_GE(part.row_count(), 1u);
    ASSERT_LE(part.row_count(), uint64_t{1} << 63);
    const uint64_t last = part.start() + (part.row_count() - 1);
    ASSERT_GE(last, part.start());
    ASSERT_LE(last, range.last);
    at_top = last == kLast;
    EXPECT_EQ(part.has_next_start(), !at_top);
    if (!at_top) {
      EXPECT_EQ(part.next_start(), last + 1);
    }
    const Intervals in_part = PositionsOf(part);
    EXPECT_EQ(in_part.Cardinality(), part.position_count());
    for (const Interval& interval : in_part.list()) {
      EXPECT_GE(interval.first, part.start());
      EXPECT_LE(interval.last, last);
      if (!found.empty() && found.back().last + 1 == interval.first) {
        if (spec.encoding == pb::ENCODING_RUNS) ADD_FAILURE() << "a run in two pieces";
        found.back().last = interval.last;
      } else {
        found.push_back(interval);
      }
    }
    if (spec.encoding == pb::ENCODING_MASK) {
      const bool is_last = i + 1 == answer.parts.size();
      EXPECT_TRUE(is_last || part.row_count() % 65536 == 0);
    } else if (in_part.Last().has_value()) {
      EXPECT_EQ(in_part.Last(), last) << "a part ends right after its last position";
    }
    positions += part.position_count();
    next = last + 1;
  }
  Intervals collected;
  for (const Interval& interval : found) collected.Append(interval.first, interval.last);
  Intervals expected;
  uint64_t left = wanted;
  for (const Interval& interval : in_range.list()) {
    if (left == 0) break;
    const uint64_t length = std::min(left, interval.length());
    expected.Append(interval.first, interval.first + (length - 1));
    left -= length;
  }
  EXPECT_TRUE(collected == expected);
  if (spec.encoding == pb::ENCODING_MASK && !range.empty()) {
    EXPECT_EQ(next, range.last + 1) << "masks cover the whole range";
  }
  EXPECT_EQ(positions, wanted);
  EXPECT_EQ(answer.end.position_count(), wanted);
  EXPECT_EQ(answer.end.part_count(), answer.parts.size());
  EXPECT_EQ(answer.end.limit_reached(), wanted < total);
  EXPECT_EQ(answer.end.has_next_start(), wanted < total);
  EXPECT_EQ(answer.end.next_start(), wanted < total ? next : 0);
}

const std::vector<pb::Encoding>& ListEncodings() {
  static const std::vector<pb::Encoding> encodings = {pb::ENCODING_POSITIONS, pb::ENCODING_RUNS,
                                                      pb::ENCODING_ROARING};
  return encodings;
}

TEST(Answer, SaysWhatTheVectorHolds) {
  Random random(dv::testing::TestSeed());
  for (size_t i = dv::testing::Iterations("DV_ANSWER_CASES", 40); i > 0; --i) {
    const RandomBitmap bitmap = dv::testing::RandomRoaring64(random, UINT32_MAX);
    if (bitmap.positions.Cardinality() > 500'000) continue;
    const roaring::View view = ViewOf(bitmap.bytes);
    for (int round = 0; round < 4; ++round) {
      ReadSpec spec;
      if (round > 0) {
        spec.range.first = dv::testing::RandomPosition(bitmap.positions, random);
        spec.range.last = dv::testing::RandomPosition(bitmap.positions, random);
      }
      if (random.OneIn(3)) spec.limit = random.Below(40'000);
      for (const pb::Encoding encoding : ListEncodings()) {
        SCOPED_TRACE(pb::Encoding_Name(encoding));
        spec.encoding = encoding;
        ExpectRight(Collect(view, spec, std::nullopt), bitmap.positions, spec);
        ExpectRight(Collect(view, spec, random.OneIn(3) ? 0 : random.Bits()), bitmap.positions,
                    spec);
      }
      ASSERT_FALSE(HasFailure()) << "seed " << dv::testing::TestSeed();
    }
    ReadSpec mask;
    mask.encoding = pb::ENCODING_MASK;
    mask.range.first = dv::testing::RandomPosition(bitmap.positions, random);
    const uint64_t room = kLast - mask.range.first;
    mask.range.last = mask.range.first + std::min<uint64_t>(room, random.Below(5'000'000));
    for (const roaring::Polarity polarity :
         {roaring::Polarity::kDeleted, roaring::Polarity::kLive}) {
      mask.polarity = polarity;
      ExpectRight(Collect(view, mask, std::nullopt), bitmap.positions, mask);
      ExpectRight(Collect(view, mask, 7), bitmap.positions, mask);
    }
    ASSERT_FALSE(HasFailure()) << "seed " << dv::testing::TestSeed();
  }
}

TEST(Answer, FillsParts) {
  // Every second row of 5 containers, then far apart.
  dv::testing::Bitmap32 bitmap;
  Intervals all;
  for (uint32_t key = 0; key < 5; ++key) {
    bitmap.containers.push_back(dv::testing::Bitset(key, dv::testing::Values(0, 32768, 2)));
    for (uint64_t i = 0; i < 32768; ++i) all.Append(key * 65536 + 2 * i, key * 65536 + 2 * i);
  }
  const roaring::View view = ViewOf(dv::testing::OneBucket(0, bitmap).Bytes());
  ReadSpec spec;
  Collected answer = Collect(view, spec, std::nullopt);
  ASSERT_EQ(answer.parts.size(), 5u);
  EXPECT_EQ(answer.parts[0].positions().values_size(), 32768);
  ExpectRight(answer, all, spec);
  spec.encoding = pb::ENCODING_RUNS;
  answer = Collect(view, spec, std::nullopt);
  ASSERT_EQ(answer.parts.size(), 10u);
  EXPECT_EQ(answer.parts[0].runs().starts_size(), 16384);
  ExpectRight(answer, all, spec);
  // The limit falls into a part, and exactly between two.
  for (const uint64_t limit : {0, 1, 16384, 16385, 32768, 163839, 163840, 163841}) {
    spec.limit = limit;
    for (const pb::Encoding encoding : ListEncodings()) {
      spec.encoding = encoding;
      ExpectRight(Collect(view, spec, std::nullopt), all, spec);
    }
  }
}

TEST(Answer, LeavesOutWhatIsEmpty) {
  const roaring::View view = ViewOf(
      dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Array(0, {1, 3, 5})})).Bytes());
  ReadSpec spec;
  spec.range = roaring::Range::HalfOpen(3, 3);
  for (const pb::Encoding encoding :
       {pb::ENCODING_POSITIONS, pb::ENCODING_RUNS, pb::ENCODING_MASK, pb::ENCODING_ROARING}) {
    spec.encoding = encoding;
    const Collected answer = Collect(view, spec, std::nullopt);
    EXPECT_TRUE(answer.parts.empty());
    EXPECT_EQ(answer.end.ByteSizeLong(), 0u);
  }
}

TEST(Answer, LimitZeroSaysWhetherThereIsMore) {
  const roaring::View view = ViewOf(
      dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Array(0, {1, 3, 5})})).Bytes());
  ReadSpec spec;
  spec.limit = 0;
  spec.range.first = 2;
  EXPECT_TRUE(Collect(view, spec, std::nullopt).end.limit_reached());
  EXPECT_EQ(Collect(view, spec, std::nullopt).end.next_start(), 2u);
  spec.range.first = 6;
  EXPECT_FALSE(Collect(view, spec, std::nullopt).end.limit_reached());
}

TEST(Answer, CutsARunAtTheLimit) {
  const roaring::View view = ViewOf(
      dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Runs(0, {{10, 99}})})).Bytes());
  ReadSpec spec;
  spec.encoding = pb::ENCODING_RUNS;
  spec.limit = 7;
  const Collected answer = Collect(view, spec, std::nullopt);
  ASSERT_EQ(answer.parts.size(), 1u);
  EXPECT_EQ(answer.parts[0].runs().lengths(0), 7u);
  EXPECT_EQ(answer.parts[0].row_count(), 17u);
  EXPECT_EQ(answer.end.next_start(), 17u);
}

TEST(Answer, CoversAtMostHalfOfAllRowsAPart) {
  // At both ends of the rows, with a run across the middle.
  const auto bucket = [](uint32_t key, std::vector<dv::testing::Container> containers) {
    return dv::testing::Bitmap64::Bucket{key, dv::testing::Bitmap(std::move(containers)).Bytes()};
  };
  dv::testing::Bitmap64 bitmap;
  bitmap.buckets = {
      bucket(0, {dv::testing::Array(0, {5})}),
      bucket(0x7FFFFFFF, {dv::testing::Array(0xFFFF, {7, 65533, 65534, 65535})}),
      bucket(0x80000000, {dv::testing::Array(0, {0, 1, 2, 100})}),
      bucket(0xFFFFFFFF, {dv::testing::Array(0xFFFF, {65534, 65535})}),
  };
  Intervals all;
  all.Append(5, 5);
  const uint64_t middle = uint64_t{1} << 63;
  all.Append(middle - 65536 + 7, middle - 65536 + 7);
  all.Append(middle - 3, middle + 2);
  all.Append(middle + 100, middle + 100);
  all.Append(kLast - 1, kLast);
  const roaring::View view = ViewOf(bitmap.Bytes());
  for (const uint64_t first : {uint64_t{0}, uint64_t{5}, uint64_t{6}, middle - 65000, middle - 2}) {
    for (const uint64_t last : {kLast, kLast - 1, kLast - 2, middle + 1}) {
      ReadSpec spec;
      spec.range = roaring::Range{first, last};
      for (const pb::Encoding encoding : ListEncodings()) {
        SCOPED_TRACE(pb::Encoding_Name(encoding));
        SCOPED_TRACE(first);
        SCOPED_TRACE(last);
        spec.encoding = encoding;
        ExpectRight(Collect(view, spec, 3), all, spec);
      }
    }
  }
  // Nothing but the last row: two parts, the first of them without a position.
  bitmap.buckets = {bucket(0xFFFFFFFF, {dv::testing::Array(0xFFFF, {65535})})};
  Intervals end;
  end.Append(kLast, kLast);
  const roaring::View end_view = ViewOf(bitmap.Bytes());
  for (const pb::Encoding encoding : ListEncodings()) {
    ReadSpec spec;
    spec.encoding = encoding;
    const Collected answer = Collect(end_view, spec, std::nullopt);
    ASSERT_EQ(answer.parts.size(), 2u);
    EXPECT_EQ(answer.parts[0].position_count(), 0u);
    EXPECT_EQ(answer.parts[0].row_count(), middle);
    EXPECT_FALSE(answer.parts[1].has_next_start());
    ExpectRight(answer, end, spec);
  }
}

TEST(Answer, MemoryGoesWithTheMessage) {
  const roaring::View view = ViewOf(
      dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Array(0, {1, 3, 5})})).Bytes());
  bytes::Chain message;
  {
    Answer answer(view, ReadSpec(), std::nullopt);
    message = answer.Next();
  }
  pb::ReadPositionsResponse response;
  ASSERT_TRUE(response.ParseFromString(message.ToString()));
  EXPECT_THAT(response.part().positions().values(), ::testing::ElementsAre(1, 3, 5));
}

TEST(Encode, WritesVarintsOfEverySize) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t value = bits == 64 ? kLast : (uint64_t{1} << bits) - (bits % 2);
    uint8_t buffer[kMaxVarintBytes];
    const size_t size = static_cast<size_t>(WriteVarint(value, buffer) - buffer);
    EXPECT_EQ(size, VarintSize(value));
    pb::PositionRange range;
    std::string bytes = "\x08";
    bytes.append(reinterpret_cast<const char*>(buffer), size);
    ASSERT_TRUE(range.ParseFromString(bytes));
    EXPECT_EQ(range.start(), value);
  }
}

}  // namespace
}  // namespace dv::rpc
