#include "tests/testing/reference.h"

#include <gtest/gtest.h>

#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/generators.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random.h"
#include "tests/testing/shapes.h"

namespace dv::testing {
namespace {

ReferenceResult Read(const Sample& sample) {
  return sample.options.format == format::Format::kIceberg
             ? ReadFrame64(sample.bytes)
             : ReadRoaring64(sample.bytes, 0xFFFFFFFF);
}

// The bare bitmap of a sample.
std::string_view Vector(const Sample& sample) {
  const std::string_view bytes = sample.bytes;
  return sample.options.format == format::Format::kIceberg ? bytes.substr(8, bytes.size() - 12)
                                                           : bytes;
}

TEST(ReferenceTest, AgreesWithCRoaringOnValidShapes) {
  for (const Sample& sample : ValidShapes()) {
    SCOPED_TRACE(sample.name);
    const ReferenceResult result = Read(sample);
    ASSERT_EQ(result.reason, "");
    const Oracle::Verdict verdict = Oracle::Judge(Vector(sample));
    ASSERT_TRUE(verdict.accepted) << verdict.why;
    const Oracle oracle(Vector(sample));
    EXPECT_EQ(oracle.Cardinality(), result.positions.Cardinality());
    EXPECT_EQ(oracle.First(), result.positions.First());
    EXPECT_EQ(oracle.Last(), result.positions.Last());
    if (result.positions.Cardinality() < 1000000) {
      EXPECT_EQ(oracle.Positions(0, ~uint64_t{0}, 1000000), result.positions.Positions(1000000));
    }
  }
}

TEST(ReferenceTest, RefusesBrokenShapes) {
  for (const Sample& sample : BrokenShapes()) {
    SCOPED_TRACE(sample.name);
    const ReferenceResult result = Read(sample);
    EXPECT_EQ(result.reason, sample.reason);
    if (sample.offset.has_value()) {
      EXPECT_EQ(result.offset, *sample.offset);
    }
  }
}

TEST(ReferenceTest, ReadsBugVectors) {
  for (const BugVector& vector : BugVectors()) {
    SCOPED_TRACE(vector.sample.name);
    if (vector.sample.name == "A22") continue;  // Not a frame at all.
    const ReferenceResult result = Read(vector.sample);
    EXPECT_EQ(result.reason, vector.sample.reason);
    EXPECT_EQ(result.positions.Cardinality(), vector.cardinality);
    EXPECT_EQ(result.positions.First(), vector.first);
    EXPECT_EQ(result.positions.Last(), vector.last);
  }
}

TEST(ReferenceTest, ReadsRandomBitmaps) {
  Random random(TestSeed());
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const RandomBitmap bitmap = RandomRoaring64(random, 0xFFFFFFFF);
    const ReferenceResult result = ReadRoaring64(bitmap.bytes, 0xFFFFFFFF);
    ASSERT_EQ(result.reason, "");
    ASSERT_EQ(result.positions, bitmap.positions);
    ASSERT_TRUE(Oracle::Judge(bitmap.bytes).accepted) << Oracle::Judge(bitmap.bytes).why;
  }
}

}  // namespace
}  // namespace dv::testing
