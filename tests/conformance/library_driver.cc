// Drives the library in this process.
#include <string>
#include <utility>
#include <vector>

#include "server/format/decode.h"
#include "server/roaring/cursor.h"
#include "tests/conformance/driver.h"
#include "tests/testing/sha256.h"

namespace dv::conformance {
namespace {

void ReadPositions(const roaring::View& view, Outcome& outcome) {
  testing::Sha256 digest;
  std::vector<uint64_t> first_positions;
  roaring::PositionCursor cursor(view, roaring::Range());
  std::vector<uint8_t> buffer(8 * 4096);
  while (const size_t count = cursor.Next(buffer.data(), buffer.size() / 8)) {
    for (size_t i = 0; i < count && first_positions.size() < 8; ++i) {
      uint64_t position = 0;
      for (size_t byte = 8; byte > 0; --byte) position = position << 8 | buffer[8 * i + byte - 1];
      first_positions.push_back(position);
    }
    digest.Update({reinterpret_cast<const char*>(buffer.data()), 8 * count});
  }
  outcome.first_positions = std::move(first_positions);
  outcome.positions_digest = digest.Finish();
}

void ReadRuns(const roaring::View& view, Outcome& outcome) {
  testing::Sha256 digest;
  roaring::RunCursor cursor(view, roaring::Range());
  std::vector<roaring::Run> runs(1024);
  while (const size_t count = cursor.Next(runs.data(), runs.size())) {
    for (size_t i = 0; i < count; ++i) {
      digest.UpdateLe64(runs[i].start);
      digest.UpdateLe64(runs[i].length);
    }
  }
  outcome.runs_digest = digest.Finish();
}

class LibraryDriver : public Driver {
 public:
  std::vector<Outcome> ReadWhole(const Case& tested) override {
    Outcome outcome = Read(tested, {});
    outcome.way = "whole";
    return {std::move(outcome)};
  }

  std::vector<Outcome> ReadCut(const Case& tested,
                               const std::vector<testing::Cuts>& cuts) override {
    std::vector<Outcome> outcomes;
    for (const testing::Cuts& these : cuts) outcomes.push_back(Read(tested, these));
    return outcomes;
  }

  uint64_t MaxBytesOneByOne() const override { return ~uint64_t{0}; }

  absl::StatusCode CodeOf(const std::string& reason) const override {
    return testing::LibraryCode(reason);
  }

 private:
  static Outcome Read(const Case& tested, const testing::Cuts& cuts) {
    Outcome outcome;
    const auto decoded = format::Decode(testing::MakeChain(tested.bytes, cuts), tested.options);
    outcome.status = decoded.status();
    if (!decoded.ok()) return outcome;
    const roaring::View& view = decoded->view;
    outcome.cardinality = view.cardinality();
    outcome.first = view.First();
    outcome.last = view.Last();
    ReadRuns(view, outcome);
    if (view.cardinality() <= kMaxListedPositions) ReadPositions(view, outcome);
    return outcome;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Driver>> MakeDriver() { return std::make_unique<LibraryDriver>(); }

}  // namespace dv::conformance
