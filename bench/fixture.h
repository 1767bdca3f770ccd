// What benchmarks of one size share, made when the first of them runs.
#ifndef TAMIS_BENCH_FIXTURE_H_
#define TAMIS_BENCH_FIXTURE_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "bench/huge_memory.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backend.h"
#include "tamis/split_block_filter.h"

namespace tamis::bench {

class Fixture {
 public:
  // One exists at a time: asking for another size destroys the one before.
  static Fixture& ForKeys(uint64_t num_keys);

  explicit Fixture(uint64_t num_keys);

  std::span<const uint64_t> keys() const noexcept { return keys_; }
  // Half, all or none of them hits: 1 M queries for filters up to 1 M keys, else 4 M.
  const Queries& QueriesFor(int hit_percent);
  // Random cache lines of this memory: nanoseconds each, measured once.
  double LimitNs();

  // Holds all keys; all backends give the same bits, so benchmarks only exchange the backend.
  SplitBlockBloomFilter& FilterWith(const Backend& backend);
  // Holds the Strings of all keys.
  SplitBlockBloomFilter& StringFilterWith(const Backend& backend);

 private:
  size_t num_queries_;
  Arena arena_;
  Arena string_arena_;
  HugeVector<uint64_t> keys_;
  std::map<int, Queries> queries_;
  std::optional<double> limit_ns_;
  SplitBlockBloomFilter filter_;
  std::optional<SplitBlockBloomFilter> string_filter_;
};

// Times call() over and over and reports what a call with `keys` keys comes to: items per second,
// ns/key, bits/key, and (for lookups) the share of the limit.
template <typename Call>
void Measure(benchmark::State& state, Time time, size_t keys, double bits_per_key, double limit_ns,
             const Call& call) {
  const double start = NowNs(time);
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
  const double ns = NowNs(time) - start;
  const double items = static_cast<double>(state.iterations()) * static_cast<double>(keys);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys));
  state.counters["ns/key"] = ns / items;
  state.counters["bits/key"] = bits_per_key;
  if (limit_ns > 0) state.counters["of_limit"] = limit_ns * items / ns;
}

// "split_block/contains/bitmap/AVX2/keys:100000".
std::string BenchmarkName(const std::string& operation, const Backend& backend, uint64_t num_keys);

// Each registers all of its benchmarks for filters of one size.
void RegisterContains(uint64_t num_keys);
void RegisterInsert(uint64_t num_keys);

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_FIXTURE_H_
