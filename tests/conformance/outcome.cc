#include "tests/conformance/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace dv::conformance {

void ExpectOutcome(const Case& tested, const Outcome& outcome, absl::StatusCode code) {
  SCOPED_TRACE(outcome.way);
  if (!tested.valid()) {
    EXPECT_THAT(outcome.status, testing::HasCode(code));
    EXPECT_THAT(tested.reasons, ::testing::Contains(ReasonOf(outcome.status)))
        << outcome.status.ToString();
    EXPECT_FALSE(outcome.positions_digest.has_value() || outcome.runs_digest.has_value())
        << "positions of a broken vector were answered";
    return;
  }
  EXPECT_THAT(outcome.status, testing::IsOk());
  EXPECT_TRUE(outcome.cardinality.has_value() || outcome.positions_digest.has_value() ||
              outcome.runs_digest.has_value())
      << "nothing was answered";
  if (outcome.cardinality.has_value()) {
    EXPECT_EQ(*outcome.cardinality, tested.cardinality);
    EXPECT_EQ(outcome.first, tested.first);
    EXPECT_EQ(outcome.last, tested.last);
  }
  if (outcome.first_positions.has_value()) {
    EXPECT_EQ(*outcome.first_positions, tested.first_positions);
  }
  if (outcome.positions_digest.has_value()) {
    EXPECT_EQ(*outcome.positions_digest, tested.positions_digest);
  }
  if (outcome.runs_digest.has_value()) {
    EXPECT_EQ(*outcome.runs_digest, tested.runs_digest);
  }
}

}  // namespace dv::conformance
