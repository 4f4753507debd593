// File: micro.h
//
// The micro benchmarks. They are named group/…/column: those that differ in the column only are one
// row of the table that table.py makes.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>

namespace dv::bench {

// Settings of all benchmarks.
struct MicroOptions {
  // Least time that one repetition takes, in seconds.
  double min_time = 0.1;
};

// Registers decode/<payload>/<index|content|all>/<column>. Columns of ours are `ours` (index and
// content: the memory of the index is used again), `ours_fresh` (index only: a new one each time)
// and both with `_pieces`, on pieces of 16 KiB.
void RegisterDecode(const MicroOptions& options);

// Registers query/<kernel>/<payload>/<range>/<column>. Columns of ours are `ours` and
// `ours_pieces`.
void RegisterQueries(const MicroOptions& options);

// Registers the benchmark `name`. `make()` prepares it and returns what one iteration calls, after
// one call that is not measured; the uint64_t that this returns is kept from the optimizer and
// reported as the counter `result`.
template <typename Make>
void Register(const MicroOptions& options, const std::string& name, Make make) {
  benchmark::RegisterBenchmark(name.c_str(), [make](benchmark::State& state) {
    auto run = make();
    uint64_t result = run();
    for (auto _ : state) {
      result = run();
      benchmark::DoNotOptimize(result);
      benchmark::ClobberMemory();
    }
    state.counters["result"] = static_cast<double>(result);
  })->MinTime(options.min_time);
}

}  // namespace dv::bench
