#include "tests/conformance/cases.h"

#include <utility>

#include "tests/testing/bug_vectors.h"
#include "tests/testing/reference.h"
#include "tests/testing/shapes.h"

namespace dv::conformance {
namespace {

Case FromSample(const testing::Sample& sample) {
  Case tested;
  tested.name = sample.name;
  tested.bytes = sample.bytes;
  tested.options = sample.options;
  if (sample.valid()) {
    FillFromReference(tested);
  } else {
    tested.reasons.push_back(sample.reason);
  }
  return tested;
}

}  // namespace

std::string FillFromReference(Case& tested) {
  const testing::ReferenceResult result = tested.options.format == format::Format::kRoaring64
                                              ? testing::ReadRoaring64(tested.bytes, 0xFFFFFFFF)
                                              : testing::ReadFrame64(tested.bytes);
  if (!result.ok()) return result.reason;
  tested.cardinality = result.positions.Cardinality();
  tested.first = result.positions.First();
  tested.last = result.positions.Last();
  tested.first_positions = result.positions.Positions(8);
  tested.runs_digest = result.positions.RunsDigest();
  if (tested.cardinality <= kMaxListedPositions) {
    tested.positions_digest = result.positions.PositionsDigest();
  }
  return "";
}

std::vector<Case> BugVectorCases() {
  std::vector<Case> cases;
  for (const testing::BugVector& vector : testing::BugVectors()) {
    Case tested = FromSample(vector.sample);
    tested.cardinality = vector.cardinality;
    tested.first = vector.first;
    tested.last = vector.last;
    cases.push_back(std::move(tested));
  }
  return cases;
}

std::vector<Case> ShapeCases() {
  std::vector<Case> cases;
  for (const testing::Sample& sample : testing::ValidShapes()) cases.push_back(FromSample(sample));
  for (const testing::Sample& sample : testing::BrokenShapes()) cases.push_back(FromSample(sample));
  return cases;
}

}  // namespace dv::conformance
