// dv-bench: the micro benchmarks. Takes the flags of Google Benchmark and two of its own.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "server/roaring/kernels.h"
#include "tests/bench/croaring.h"
#include "tests/bench/micro.h"

namespace {

constexpr char kUsage[] =
    "usage: dv-bench [--cpu=portable|avx2|avx512] [--min_time=SECONDS] [flags of Google "
    "Benchmark]\n";

// Returns the value of `argument` if it is the flag `name`, such as "--cpu=", else null.
const char* Value(const char* argument, std::string_view name) {
  return std::string_view(argument).substr(0, name.size()) == name ? argument + name.size()
                                                                   : nullptr;
}

bool UseLevel(std::string_view name) {
  using dv::roaring::CpuLevel;
  for (const CpuLevel level : {CpuLevel::kPortable, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (name == dv::roaring::CpuLevelName(level)) return dv::roaring::UseKernels(level);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  dv::bench::MicroOptions options;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (const char* level = Value(argv[i], "--cpu=")) {
      if (!UseLevel(level)) {
        std::fprintf(stderr, "dv-bench: this CPU or this build has no level \"%s\"\n%s", level,
                     kUsage);
        return 2;
      }
    } else if (const char* seconds = Value(argv[i], "--min_time=")) {
      options.min_time = std::strtod(seconds, nullptr);
      if (!(options.min_time > 0)) {
        std::fprintf(stderr, "dv-bench: --min_time: expected a number of seconds\n%s", kUsage);
        return 2;
      }
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  rest.push_back(nullptr);
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;

  benchmark::AddCustomContext("kernels",
                              dv::roaring::CpuLevelName(dv::roaring::ActiveKernels().level));
  benchmark::AddCustomContext("croaring", dv::bench::CRoaringVersion());
  benchmark::AddCustomContext("compiler", DV_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", DV_BENCH_FLAGS);
  benchmark::AddCustomContext("crc", DV_BENCH_CRC);
  dv::bench::RegisterDecode(options);
  dv::bench::RegisterQueries(options);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
