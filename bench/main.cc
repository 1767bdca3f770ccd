// tamis_bench: every operation of every backend at every size, with Google Benchmark. Choose by
// name:
//   tamis_bench --benchmark_filter='split_block/contains/bitmap/.*/keys:10000000/hits:50'
#include <benchmark/benchmark.h>

#include "bench/fixture.h"
#include "bench/machine.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const auto& [name, value] : tamis::bench::MachineFacts()) {
    benchmark::AddCustomContext(name, value);
  }
  // All of one size follow one another, so that its keys and its filter are made once.
  for (const uint64_t num_keys : {100'000, 1'000'000, 10'000'000, 100'000'000}) {
    tamis::bench::RegisterContains(num_keys);
    tamis::bench::RegisterInsert(num_keys);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
