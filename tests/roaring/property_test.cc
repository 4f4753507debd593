// Random bitmaps, cut at random places: every query and every encoding against CRoaring and against
// the positions that went into the bitmap.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/roaring/cursor.h"
#include "server/roaring/kernels.h"
#include "server/roaring/mask.h"
#include "server/roaring/view.h"
#include "server/roaring/writer.h"
#include "tests/testing/chains.h"
#include "tests/testing/generators.h"
#include "tests/testing/intervals.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/reference.h"
#include "tests/testing/status_matchers.h"

namespace dv::roaring {
namespace {

using dv::testing::Cuts;
using dv::testing::Intervals;
using dv::testing::IsOk;
using dv::testing::MakeChain;
using dv::testing::Oracle;
using dv::testing::Random;
using dv::testing::RandomBitmap;
using dv::testing::RandomPosition;

constexpr uint64_t kMax = ~uint64_t{0};

// About 20 s of a build with optimisation.
constexpr size_t kDefaultIterations = 3000;

// How many positions or rows one comparison reads: enough for some containers.
constexpr uint64_t kMaxPositions = 300000;
constexpr uint64_t kMaxMaskRows = 200000;

Cuts SomeCuts(uint64_t size, Random& random) {
  switch (random.Below(4)) {
    case 0:
      return {};
    case 1:
      return {random.Between(0, size)};
    case 2:
      // Small pieces, but not millions of them.
      return RandomCuts(size, std::max<uint64_t>(size / 2000, random.Between(1, 40)), random);
    default:
      return RandomCuts(size, uint64_t{1} << random.Between(5, 16), random);
  }
}

// One bitmap, as the view sees it and as others do.
struct Subject {
  const View& view;
  const Oracle& oracle;
  const Intervals& positions;
};

// Returns a range that is neither always empty nor always everything.
Range RandomRange(const Intervals& positions, Random& random) {
  if (random.OneIn(5)) return Range();
  uint64_t first = RandomPosition(positions, random);
  uint64_t last =
      random.OneIn(3) ? first + random.Below(150000) : RandomPosition(positions, random);
  if (first > last && !random.OneIn(10)) std::swap(first, last);
  return {first, last};
}

uint64_t CountWithin(const Subject& subject, const Range& range) {
  return range.empty() ? 0 : subject.oracle.Count(range.first, range.last);
}

Intervals Clip(const Subject& subject, const Range& range) {
  return range.empty() ? Intervals() : subject.positions.Clip(range.first, range.last);
}

void CompareSummary(const Subject& subject) {
  ASSERT_EQ(subject.view.cardinality(), subject.oracle.Cardinality());
  ASSERT_EQ(subject.view.cardinality(), subject.positions.Cardinality());
  ASSERT_EQ(subject.view.First(), subject.oracle.First());
  ASSERT_EQ(subject.view.Last(), subject.oracle.Last());
}

void CompareLookups(const Subject& subject, Random& random) {
  for (int i = 0; i < 100; ++i) {
    const uint64_t row = RandomPosition(subject.positions, random);
    ASSERT_EQ(subject.view.Contains(row), subject.oracle.Contains(row)) << row;
    ASSERT_EQ(subject.view.Rank(row), row == 0 ? 0 : subject.oracle.Count(0, row - 1)) << row;
    const Range range = RandomRange(subject.positions, random);
    ASSERT_EQ(subject.view.Count(range), CountWithin(subject, range))
        << range.first << " to " << range.last;
  }
}

uint64_t LittleEndian(const uint8_t* bytes) {
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

// Reads positions in pieces of random size. Now and then the cursor is thrown away and a new one
// goes on behind the last position, as a client does whose call broke.
void ComparePositions(const Subject& subject, const Range& range, Random& random) {
  const std::vector<uint64_t> expected =
      subject.oracle.Positions(range.first, range.last, kMaxPositions);
  std::vector<uint64_t> found;
  std::optional<PositionCursor> cursor(std::in_place, subject.view, range);
  std::vector<uint8_t> buffer;
  while (found.size() < expected.size()) {
    if (!found.empty() && random.OneIn(6))
      cursor.emplace(subject.view, Range{found.back() + 1, range.last});
    const size_t left = expected.size() - found.size();
    const size_t capacity =
        std::min<size_t>(left, random.Between(1, uint64_t{1} << random.Between(1, 17)));
    buffer.resize(8 * capacity + 1);
    ASSERT_FALSE(cursor->Done());
    const size_t count = cursor->Next(buffer.data() + 1, capacity);
    ASSERT_EQ(count, capacity);
    for (size_t i = 0; i < count; ++i) found.push_back(LittleEndian(buffer.data() + 1 + 8 * i));
  }
  ASSERT_TRUE(found == expected);
  if (expected.size() < kMaxPositions) {
    buffer.resize(8);
    ASSERT_TRUE(cursor->Done());
    ASSERT_EQ(cursor->Next(buffer.data(), 1), 0u);
  }
}

void CompareRuns(const Subject& subject, const Range& range, Random& random) {
  const Intervals expected = Clip(subject, range);
  std::vector<dv::testing::Interval> found;
  RunCursor cursor(subject.view, range);
  while (true) {
    std::vector<Run> runs(random.Between(1, uint64_t{1} << random.Between(0, 12)));
    const size_t count = cursor.Next(runs.data(), runs.size());
    for (size_t i = 0; i < count; ++i) {
      ASSERT_GE(runs[i].length, 1u);
      found.push_back({runs[i].start, runs[i].start + (runs[i].length - 1)});
    }
    if (count < runs.size()) break;
  }
  ASSERT_TRUE(found == expected.list());
}

void CompareMask(const Subject& subject, Random& random) {
  const uint64_t start = RandomPosition(subject.positions, random);
  uint64_t rows = random.Below(uint64_t{1} << random.Between(1, 18));
  rows = std::min(rows, kMaxMaskRows);
  if (rows > 0 && start > kMax - (rows - 1)) rows = kMax - start;
  const Polarity polarity = random.OneIn(2) ? Polarity::kDeleted : Polarity::kLive;
  const size_t size = (rows + 7) / 8;
  const size_t shift = random.Below(8);
  std::string found(shift + size, '\x5A');
  const uint64_t deleted = WriteMask(subject.view, start, rows, polarity,
                                     reinterpret_cast<uint8_t*>(found.data()) + shift);
  std::string expected(size, polarity == Polarity::kDeleted ? '\0' : '\xFF');
  if (polarity == Polarity::kLive && rows % 8 != 0) {
    expected.back() = static_cast<char>((1 << rows % 8) - 1);
  }
  uint64_t expected_count = 0;
  if (rows > 0) {
    for (const uint64_t position : subject.oracle.Positions(start, start + (rows - 1), rows)) {
      const uint64_t i = position - start;
      expected[i / 8] = static_cast<char>(expected[i / 8] ^ 1 << i % 8);
      ++expected_count;
    }
  }
  ASSERT_EQ(deleted, expected_count);
  ASSERT_TRUE(found.substr(shift) == expected) << start << "+" << rows;
}

// Reads Roaring parts with random limits and a start of its own for each part, as a client does
// that resumes. At most some parts: limits may be small and bitmaps large.
void CompareRoaringParts(const Subject& subject, const Range& range, Random& random) {
  const Intervals expected = Clip(subject, range);
  Intervals found;
  std::optional<RoaringCursor> cursor(std::in_place, subject.view, range);
  Range rest = range;
  for (int parts = 0; parts < 12; ++parts) {
    if (random.OneIn(4)) cursor.emplace(subject.view, rest);
    const size_t max_bytes = random.Below(uint64_t{1} << random.Between(1, 20));
    const uint64_t max_positions =
        random.OneIn(3) ? kMax : random.Between(1, uint64_t{1} << random.Between(1, 20));
    std::string bytes;
    const RoaringCursor::Part part = cursor->Next(max_bytes, max_positions, bytes);
    if (part.position_count == 0) {
      ASSERT_EQ(bytes, "");
      ASSERT_TRUE(found == expected);
      return;
    }
    ASSERT_LE(part.position_count, max_positions);
    const Oracle::Verdict verdict = Oracle::Judge(bytes);
    ASSERT_TRUE(verdict.accepted) << verdict.why;
    const dv::testing::ReferenceResult read = dv::testing::ReadRoaring64(bytes, 0xFFFFFFFF);
    ASSERT_EQ(read.reason, "");
    ASSERT_EQ(read.positions.Cardinality(), part.position_count);
    ASSERT_EQ(read.positions.Last(), part.last_position);
    ASSERT_TRUE(found.list().empty() || *found.Last() < *read.positions.First());
    for (const auto& interval : read.positions.list()) {
      found.Append(interval.first, interval.last);
    }
    // All positions up to the last one of the part, and no other.
    ASSERT_TRUE(found == expected.Clip(0, part.last_position));
    rest = part.last_position == kMax ? Range{1, 0} : Range{part.last_position + 1, range.last};
  }
}

void CompareAll(uint64_t seed) {
  Random random(seed);
  // Any of the loops that this CPU has.
  const CpuLevel levels[] = {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512};
  UseKernels(levels[random.Below(3)]);
  SCOPED_TRACE(CpuLevelName(ActiveKernels().level));
  const RandomBitmap bitmap = RandomRoaring64(random, random.OneIn(3) ? 0xFFFFFFFF : 0x7FFFFFFF);
  ASSERT_TRUE(Oracle::Judge(bitmap.bytes).accepted) << Oracle::Judge(bitmap.bytes).why;
  const Oracle oracle(bitmap.bytes);
  const auto view = View::Open(MakeChain(bitmap.bytes, SomeCuts(bitmap.bytes.size(), random)), 0,
                               bitmap.bytes.size());
  ASSERT_THAT(view, IsOk());
  const Subject subject = {*view, oracle, bitmap.positions};
  ASSERT_NO_FATAL_FAILURE(CompareSummary(subject));
  ASSERT_NO_FATAL_FAILURE(CompareLookups(subject, random));
  for (int i = 0; i < 3; ++i) {
    const Range range = RandomRange(bitmap.positions, random);
    SCOPED_TRACE(::testing::Message() << "range " << range.first << " to " << range.last);
    ASSERT_NO_FATAL_FAILURE(ComparePositions(subject, range, random));
    ASSERT_NO_FATAL_FAILURE(CompareRuns(subject, range, random));
    ASSERT_NO_FATAL_FAILURE(CompareRoaringParts(subject, range, random));
  }
  for (int i = 0; i < 6; ++i) ASSERT_NO_FATAL_FAILURE(CompareMask(subject, random));
}

TEST(PropertyTest, QueriesAgreeWithCRoaring) {
  const uint64_t seed = dv::testing::TestSeed();
  const size_t iterations = dv::testing::Iterations("DV_PROPERTY_ITERATIONS", kDefaultIterations);
  for (size_t i = 0; i < iterations; ++i) {
    // To run one case again: this seed and one iteration.
    SCOPED_TRACE(::testing::Message()
                 << "DV_TEST_SEED=" << seed + i << " DV_PROPERTY_ITERATIONS=1");
    ASSERT_NO_FATAL_FAILURE(CompareAll(seed + i));
  }
}

}  // namespace
}  // namespace dv::roaring
