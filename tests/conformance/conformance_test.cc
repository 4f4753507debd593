// Every case, whole and in pieces, through the driver that this program is linked with.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/bytes/error.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/driver.h"
#include "tests/conformance/manifest.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"

namespace dv::conformance {
namespace {

using testing::Cuts;
using testing::Random;

// Vectors up to this size are cut at every position.
constexpr uint64_t kMaxBytesCutEverywhere = 4096;
// Largest piece of a random cut, and how many such cuts.
constexpr uint64_t kMaxPieceBytes = 65536;
constexpr int kRandomCuts = 4;

class ConformanceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto driver = MakeDriver();
    if (driver.ok()) {
      driver_ = driver->release();
    } else {
      ADD_FAILURE() << driver.status();
    }
  }

  static void TearDownTestSuite() {
    delete driver_;
    driver_ = nullptr;
  }

  void SetUp() override { ASSERT_NE(driver_, nullptr) << "nothing to drive"; }

  // Checks one case whole and in all pieces.
  static void Check(const Case& tested, Random& random) {
    SCOPED_TRACE(tested.name);
    for (const Outcome& outcome : driver_->ReadWhole(tested)) Expect(tested, outcome);
    if (tested.bytes.empty()) return;
    const uint64_t size = tested.bytes.size();
    std::vector<Cuts> cuts;
    if (size <= kMaxBytesCutEverywhere) {
      for (uint64_t at = 0; at <= size; ++at) cuts.push_back({at});
    }
    if (size <= driver_->MaxBytesOneByOne()) cuts.push_back(testing::CutsEverywhere(size));
    for (int i = 0; i < kRandomCuts; ++i) {
      cuts.push_back(testing::RandomCuts(size, std::min(size, kMaxPieceBytes), random));
    }
    const std::vector<Outcome> outcomes = driver_->ReadCut(tested, cuts);
    ASSERT_EQ(outcomes.size(), cuts.size());
    for (size_t i = 0; i < cuts.size(); ++i) {
      SCOPED_TRACE(::testing::Message()
                   << "in " << cuts[i].size() + 1 << " pieces, the second one from byte "
                   << (cuts[i].empty() ? size : cuts[i].front()));
      Expect(tested, outcomes[i]);
      EXPECT_EQ(outcomes[i].cardinality.has_value(), tested.valid());
      EXPECT_EQ(outcomes[i].runs_digest.has_value(), tested.valid());
      // One message is enough.
      if (HasFailure()) return;
    }
  }

  static void CheckAll(const std::vector<Case>& cases) {
    const uint64_t seed = testing::TestSeed();
    SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << seed);
    Random random(seed);
    for (const Case& tested : cases) Check(tested, random);
  }

 private:
  static void Expect(const Case& tested, const Outcome& outcome) {
    ExpectOutcome(
        tested, outcome,
        tested.valid() ? absl::StatusCode::kOk : driver_->CodeOf(ReasonOf(outcome.status)));
  }

  static Driver* driver_;
};

Driver* ConformanceTest::driver_ = nullptr;

TEST_F(ConformanceTest, BugVectors) { CheckAll(BugVectorCases()); }

TEST_F(ConformanceTest, Shapes) { CheckAll(ShapeCases()); }

TEST_F(ConformanceTest, Vectors) {
  const std::string folder = VectorsFolder();
  if (folder.empty()) {
    std::cout << "SKIPPED vectors: there is no folder shared/vectors beside the project, and "
                 "DV_VECTORS names none"
              << std::endl;
    GTEST_SKIP();
  }
  const auto manifest = ReadManifest(folder);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_FALSE(manifest->cases.empty());
  std::cout << manifest->cases.size() << " vectors; " << manifest->skipped
            << " of other formats are not read yet" << std::endl;
  CheckAll(manifest->cases);
}

}  // namespace
}  // namespace dv::conformance
