// dv-bench-instructions: runs one kernel once on a small input that is always the same, for
// callgrind to count its instructions. instructions.sh does the counting.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/roaring/cursor.h"
#include "server/roaring/index.h"
#include "server/roaring/kernels.h"
#include "server/roaring/mask.h"
#include "server/roaring/validate.h"
#include "server/roaring/view.h"
#include "server/roaring/writer.h"
#include "tests/bench/payloads.h"

// The function that is counted, with all that it calls. Not mangled, so that callgrind is told its
// name, and never put into another one.
extern "C" __attribute__((noinline)) void dv_bench_counted(const std::function<uint64_t()>& run,
                                                           uint64_t* result) {
  *result = run();
}

namespace dv::bench {
namespace {

using roaring::Range;

// The part of each payload that queries are about, neither aligned nor whole.
constexpr uint64_t kStart = 20'483;
constexpr uint64_t kRows = 200'000;

struct Case {
  std::string name;
  // Prepares, and returns what is counted.
  std::function<std::function<uint64_t()>()> make;
};

// An open payload that stays open.
struct Input {
  explicit Input(const std::string& name) : payload(MakePayload(name).bytes), pieces(payload) {
    absl::StatusOr<roaring::View> opened =
        roaring::View::Open(pieces.chain(), 0, pieces.chain().size());
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", opened.status().ToString().c_str());
      std::exit(1);
    }
    view = *std::move(opened);
  }

  const std::string payload;
  const PiecedBytes pieces;
  roaring::View view;
};

Case Index(const std::string& payload) {
  return {"index/" + payload, [=]() -> std::function<uint64_t()> {
            auto input = std::make_shared<Input>(payload);
            auto index = std::make_shared<roaring::Index>();
            const auto run = [=] {
              const bytes::Chain& chain = input->view.chain();
              const bool ok = roaring::BuildIndex64(chain, 0, chain.size(), {}, *index).ok();
              return ok ? index->total() : 0;
            };
            // Once before, so that the index has its memory.
            run();
            return run;
          }};
}

// A case that asks something of a view.
Case Query(const std::string& kernel, const std::string& payload,
           std::function<uint64_t(const roaring::View&, std::vector<uint8_t>&)> query) {
  return {kernel + "/" + payload, [=]() -> std::function<uint64_t()> {
            auto input = std::make_shared<Input>(payload);
            auto out = std::make_shared<std::vector<uint8_t>>(8 * (kRows + 8));
            return [=] { return query(input->view, *out); };
          }};
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const std::string payload : {"small_sparse", "gaps_sparse_keys", "0.1m_of_100m"}) {
    cases.push_back(Index(payload));
  }
  const Range range = Range::HalfOpen(kStart, kStart + kRows);
  // Arrays, bitsets, runs.
  for (const std::string payload : {"10k_of_1m", "64k_of_250k", "250k_of_250k"}) {
    cases.push_back(
        Query("validate", payload, [](const roaring::View& view, std::vector<uint8_t>&) {
          return uint64_t{roaring::Validate(view.chain(), view.index()).ok()};
        }));
    cases.push_back(
        Query("contains", payload, [](const roaring::View& view, std::vector<uint8_t>&) {
          uint64_t found = 0;
          for (uint64_t i = 0; i < 1'000; ++i) found += view.Contains(i * 199) ? 1 : 0;
          return found;
        }));
    cases.push_back(Query("count", payload, [](const roaring::View& view, std::vector<uint8_t>&) {
      uint64_t total = 0;
      for (uint64_t i = 0; i < 100; ++i) {
        total += view.Count(Range::HalfOpen(i * 1'999, i * 1'999 + 4'096));
      }
      return total;
    }));
    cases.push_back(
        Query("positions", payload, [=](const roaring::View& view, std::vector<uint8_t>& out) {
          return uint64_t{roaring::PositionCursor(view, range).Next(out.data(), kRows + 1)};
        }));
    cases.push_back(Query("runs", payload, [=](const roaring::View& view, std::vector<uint8_t>&) {
      roaring::Run runs[256];
      roaring::RunCursor cursor(view, range);
      uint64_t total = 0;
      for (;;) {
        const size_t n = cursor.Next(runs, std::size(runs));
        total += n;
        if (n < std::size(runs)) return total;
      }
    }));
    for (const bool live : {false, true}) {
      for (const bool aligned : {false, true}) {
        const std::string kernel = std::string("mask_") + (live ? "live" : "deleted") +
                                   (aligned ? "_aligned" : "_unaligned");
        const uint64_t start = aligned ? 20'480 : kStart;
        cases.push_back(
            Query(kernel, payload, [=](const roaring::View& view, std::vector<uint8_t>& out) {
              return roaring::WriteMask(
                  view, start, kRows, live ? roaring::Polarity::kLive : roaring::Polarity::kDeleted,
                  out.data());
            }));
      }
    }
    cases.push_back(
        Query("roaring", payload, [=](const roaring::View& view, std::vector<uint8_t>&) {
          std::string text;
          roaring::RoaringCursor cursor(view, range);
          uint64_t total = 0;
          while (const uint64_t n = cursor.Next(262'144, ~uint64_t{0}, text).position_count) {
            total += n;
          }
          return total;
        }));
  }
  return cases;
}

bool UseLevel(std::string_view name) {
  using roaring::CpuLevel;
  for (const CpuLevel level : {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (name == roaring::CpuLevelName(level)) return roaring::UseKernels(level);
  }
  return false;
}

int Main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 2 && first == "--list") {
    for (const Case& c : Cases()) std::puts(c.name.c_str());
    return 0;
  }
  if (argc == 2 && first == "--build") {
    // What the counts depend on.
    std::printf("%s, %s\n", DV_BENCH_COMPILER, DV_BENCH_FLAGS);
    return 0;
  }
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: dv-bench-instructions --list | --build | LEVEL CASE\n\n"
                 "Runs a case once with the kernels of a level (portable, avx2, avx512). Exit "
                 "status 77: this CPU has no such level.\n");
    return 2;
  }
  if (!UseLevel(first)) return 77;
  for (const Case& c : Cases()) {
    if (c.name != argv[2]) continue;
    const std::function<uint64_t()> run = c.make();
    uint64_t result = 0;
    dv_bench_counted(run, &result);
    std::printf("%llu\n", static_cast<unsigned long long>(result));
    return 0;
  }
  std::fprintf(stderr, "dv-bench-instructions: there is no case %s\n", argv[2]);
  return 2;
}

}  // namespace
}  // namespace dv::bench

int main(int argc, char** argv) { return dv::bench::Main(argc, argv); }
