// Random damage to small vectors, with the CRC put right: what the decoder takes and refuses,
// against a strict reader that was written from the rules, and against CRoaring where it has an
// opinion.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/bytes/error.h"
#include "server/format/decode.h"
#include "server/roaring/cursor.h"
#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/chains.h"
#include "tests/testing/hex.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/reference.h"
#include "tests/testing/shapes.h"

namespace dv::conformance {
namespace {

using testing::Oracle;
using testing::Random;

constexpr size_t kDefaultMutations = 100000;
constexpr size_t kMaxSeedBytes = 700;
constexpr uint64_t kMaxPositions = 300000;

// Rules of the formats that CRoaring does not check: it may take what breaks them.
const std::set<std::string>& RulesOfOurOwn() {
  static const auto* rules = new std::set<std::string>{
      "OFFSETS_INCONSISTENT", "RUN_CARDINALITY_MISMATCH", "KEY_OUT_OF_RANGE",
      // Both look at the space that is there; CRoaring counts the buckets as it reads them.
      "BITMAP_COUNT_TOO_LARGE"};
  return *rules;
}

// Small vectors of every shape, without their frames.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const testing::Sample& sample : testing::ValidShapes()) {
    if (sample.bytes.size() > kMaxSeedBytes) continue;
    const bool framed = sample.options.format == format::Format::kIceberg;
    seeds.push_back(framed ? sample.bytes.substr(8, sample.bytes.size() - 12) : sample.bytes);
  }
  using testing::Array;
  using testing::Bitmap;
  using testing::Runs;
  testing::Bitmap64 mixed;
  mixed.buckets.push_back(
      {1, Bitmap({Array(0, {1, 3}), Runs(1, {{0, 9}, {20, 0}}), Array(7, {65535})}).Bytes()});
  mixed.buckets.push_back({2, testing::Bitmap32().Bytes()});
  mixed.buckets.push_back({5, Bitmap({Array(2, {9, 11, 13})}).Bytes()});
  seeds.push_back(mixed.Bytes());
  return seeds;
}

// Numbers that readers stumble over.
uint64_t OddNumber(Random& random) {
  static constexpr uint64_t kNumbers[] = {
      0,     1,     2,          3,          4,          7,          8,       255,    256,
      4095,  4096,  4097,       12345,      12346,      12347,      12348,   32767,  32768,
      65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x3303B, 0x1303A};
  return kNumbers[random.Below(std::size(kNumbers))];
}

std::string Mutate(std::string bytes, Random& random) {
  const uint64_t changes = random.Between(1, 3);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = random.Below(bytes.size() + 1);
    const size_t rest = bytes.size() - at;
    switch (random.Below(10)) {
      case 0:
        if (rest > 0) bytes[at] = static_cast<char>(random.Bits());
        break;
      case 1:
      case 2:
        if (rest > 0) bytes[at] = static_cast<char>(bytes[at] ^ 1 << random.Below(8));
        break;
      case 3: {
        // A number of 2, 4 or 8 bytes.
        const size_t size = size_t{2} << random.Below(3);
        if (rest >= size) {
          bytes.replace(at, size, testing::Le64(OddNumber(random)).substr(0, size));
        }
        break;
      }
      case 4: {
        // A little more or less of a number of 2 bytes: lengths, counts, offsets.
        if (rest >= 2) {
          const uint32_t number = static_cast<uint8_t>(bytes[at]) |
                                  static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + 1])) << 8;
          bytes.replace(at, 2, testing::Le16(number + random.Below(5) - 2));
        }
        break;
      }
      case 5:
        bytes.erase(at, random.Below(9));
        break;
      case 6:
        bytes.insert(at, std::string(random.Below(9), random.OneIn(2) ? '\0' : '\x3A'));
        break;
      case 7:
        bytes.insert(at, bytes.substr(random.Below(bytes.size() + 1), random.Below(24)));
        break;
      case 8: {
        // Two words change places.
        const size_t other = random.Below(bytes.size() + 1);
        const size_t size = size_t{2} << random.Below(2);
        if (at + size <= bytes.size() && other + size <= bytes.size()) {
          const std::string word = bytes.substr(at, size);
          bytes.replace(at, size, bytes.substr(other, size));
          bytes.replace(other, size, word);
        }
        break;
      }
      default:
        if (random.OneIn(4)) bytes.resize(at);
        break;
    }
  }
  return bytes;
}

std::vector<uint64_t> Positions(const roaring::View& view) {
  std::vector<uint8_t> buffer(8 * std::min(view.cardinality(), kMaxPositions) + 8);
  roaring::PositionCursor cursor(view, roaring::Range());
  const size_t count = cursor.Next(buffer.data(), std::min(view.cardinality(), kMaxPositions));
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < count; ++i) {
    uint64_t position = 0;
    for (size_t byte = 8; byte > 0; --byte) position = position << 8 | buffer[8 * i + byte - 1];
    positions.push_back(position);
  }
  return positions;
}

// Numbers of what came out, so that a run shows that it tested something.
struct Tally {
  size_t accepted = 0;
  std::map<std::string, size_t> refused;
};

void Compare(const std::string& vector, bool framed, Random& random, Tally& tally) {
  const std::string bytes = framed ? testing::FrameOf(vector) : vector;
  SCOPED_TRACE(::testing::Message() << (framed ? "frame " : "bare ") << testing::ToHex(bytes));
  const testing::ReferenceResult expected =
      framed ? testing::ReadFrame64(bytes) : testing::ReadRoaring64(bytes, 0xFFFFFFFF);
  const testing::Cuts cuts =
      testing::RandomCuts(bytes.size(), std::max<uint64_t>(1, random.Below(100)), random);
  const auto decoded =
      format::Decode(testing::MakeChain(bytes, cuts),
                     {framed ? format::Format::kIceberg : format::Format::kRoaring64, {}, {}});
  const Oracle::Verdict verdict = Oracle::Judge(vector);

  if (decoded.ok()) {
    ++tally.accepted;
    ASSERT_EQ(expected.reason, "") << "the decoder takes what breaks a rule";
    ASSERT_TRUE(verdict.accepted) << "the decoder takes what CRoaring refuses: " << verdict.why;
    const Oracle oracle(vector);
    ASSERT_EQ(decoded->view.cardinality(), oracle.Cardinality());
    ASSERT_EQ(Positions(decoded->view), oracle.Positions(0, ~uint64_t{0}, kMaxPositions));
    ASSERT_EQ(decoded->view.First(), oracle.First());
    ASSERT_EQ(decoded->view.Last(), oracle.Last());
    return;
  }
  const std::string reason = ReasonOf(decoded.status());
  ++tally.refused[reason];
  ASSERT_NE(expected.reason, "") << "the decoder refuses what keeps all rules: "
                                 << decoded.status();
  // Bytes that look like something else are refused as that, when they are not what was asked for.
  if (reason != "LAYOUT_MISMATCH") {
    ASSERT_EQ(reason, expected.reason) << decoded.status();
    const auto details = DetailsOf(decoded.status());
    const auto offset = details.find("offset");
    if (offset != details.end()) {
      ASSERT_EQ(offset->second, std::to_string(expected.offset)) << decoded.status();
    }
  }
  if (verdict.accepted && framed && reason == "FRAME_TOO_SHORT") return;
  if (verdict.accepted) {
    ASSERT_EQ(RulesOfOurOwn().count(reason), 1u) << "CRoaring takes it: " << decoded.status();
  }
}

TEST(MutationTest, AgreesWithStrictReaderAndCRoaring) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GT(seeds.size(), 20u);
  const uint64_t seed = testing::TestSeed();
  SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << seed);
  Random random(seed);
  Tally tally;
  const size_t mutations = testing::Iterations("DV_MUTATIONS", kDefaultMutations);
  for (size_t i = 0; i < mutations; ++i) {
    const std::string vector = Mutate(seeds[random.Below(seeds.size())], random);
    ASSERT_NO_FATAL_FAILURE(Compare(vector, !random.OneIn(4), random, tally));
  }
  std::cout << tally.accepted << " of " << mutations << " accepted; refused:";
  for (const auto& [reason, count] : tally.refused) std::cout << " " << reason << " " << count;
  std::cout << std::endl;
  if (mutations >= kDefaultMutations) {
    EXPECT_GT(tally.accepted, mutations / 100);
    // Every rule of the bitmap was broken by something, but for the popcount: seeds have no bitset.
    EXPECT_GE(tally.refused.size(), 14u);
  }
}

}  // namespace
}  // namespace dv::conformance
