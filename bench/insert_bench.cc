// Builds: an iteration empties the filter and inserts all keys.
#include <functional>
#include <optional>

#include "bench/fixture.h"
#include "tamis/engine.h"

namespace tamis::bench {
namespace {

template <typename InsertAll>
void Build(benchmark::State& state, Time time, Fixture& fixture, const Backend& backend,
           const InsertAll& insert_all) {
  SplitBlockBloomFilter& filter = fixture.FilterWith(backend);
  Measure(state, time, fixture.keys().size(), filter.bits_per_key(), 0, [&] {
    filter.Clear();
    insert_all(filter);
  });
}

void OneKey(benchmark::State& state, uint64_t num_keys, const Backend& backend) {
  Fixture& fixture = Fixture::ForKeys(num_keys);
  Build(state, Time::kThread, fixture, backend, [&](SplitBlockBloomFilter& filter) {
    for (const uint64_t key : fixture.keys()) filter.Insert(key);
  });
}

// What Filter::Insert chooses.
void Bulk(benchmark::State& state, uint64_t num_keys, const Backend& backend) {
  Fixture& fixture = Fixture::ForKeys(num_keys);
  Build(state, Time::kThread, fixture, backend,
        [&](SplitBlockBloomFilter& filter) { filter.Insert(fixture.keys()); });
}

// By way of an Engine: one way, or where there is none given, what the Engine chooses.
void WithEngine(benchmark::State& state, uint64_t num_keys, const Backend& backend,
                unsigned threads, std::optional<PlanStep> way) {
  Fixture& fixture = Fixture::ForKeys(num_keys);
  const Engine engine({.threads = threads, .backend = &backend, .pin = way});
  Build(state, threads == 1 ? Time::kThread : Time::kWall, fixture, backend,
        [&](SplitBlockBloomFilter& filter) { engine.Insert(filter, fixture.keys()); });
}

}  // namespace

void RegisterInsert(uint64_t num_keys) {
  using benchmark::RegisterBenchmark;
  const unsigned most = Engine().threads();
  for (const Backend& backend : Backends()) {
    const auto name = [&](const char* operation) {
      return BenchmarkName(operation, backend, num_keys);
    };
    const auto one_way = [&](bool partitioned) {
      return PlanStep{.backend = &backend, .threads = 1, .partitioned = partitioned};
    };
    const auto unit = benchmark::kMillisecond;
    const auto ref = std::cref(backend);
    RegisterBenchmark(name("insert/one").c_str(), OneKey, num_keys, ref)->Unit(unit);
    RegisterBenchmark(name("insert/bulk").c_str(), Bulk, num_keys, ref)->Unit(unit);
    RegisterBenchmark(name("insert/direct").c_str(), WithEngine, num_keys, ref, 1, one_way(false))
        ->Unit(unit);
    RegisterBenchmark(name("insert/partitioned").c_str(), WithEngine, num_keys, ref, 1,
                      one_way(true))
        ->Unit(unit);
    for (unsigned threads : {1u, most}) {
      const std::string threaded = name("insert/engine") + "/threads:" + std::to_string(threads);
      RegisterBenchmark(threaded.c_str(), WithEngine, num_keys, ref, threads, std::nullopt)
          ->Unit(unit)
          ->UseRealTime();
      if (most == 1) break;
    }
  }
}

}  // namespace tamis::bench
