// Compares a build of billions of keys and bulk queries in the filter with the limits of the
// machine: random lines, and reading from end to end. The limits are measured in the same memory
// right after.
//
// Usage: tamis_build_limits [KEYS], by default 5 billion at an error of 1%, which takes 7 GiB.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "bench/arguments.h"
#include "bench/limits.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kBatch = uint64_t{1} << 26;  // keys per call
constexpr size_t kLines = size_t{1} << 24;

void Fill(std::vector<uint64_t>& keys, uint64_t first, unsigned threads) {
  std::vector<std::thread> fillers;
  for (unsigned t = 0; t < threads; ++t) {
    fillers.emplace_back([&, t] {
      for (size_t i = t * keys.size() / threads; i < (t + 1) * keys.size() / threads; ++i) {
        keys[i] = KeyAt(first + i);
      }
    });
  }
  for (std::thread& filler : fillers) filler.join();
}

void Run(uint64_t num_keys) {
  SplitBlockBloomFilter filter({.capacity = num_keys, .fpr = 0.01});
  Engine engine;
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const auto n = static_cast<double>(num_keys);
  std::vector<uint64_t> keys;
  double build_ns = 0;
  for (uint64_t done = 0; done < num_keys; done += keys.size()) {
    keys.resize(std::min(kBatch, num_keys - done));
    Fill(keys, done, threads);
    build_ns += Nanoseconds(Time::kWall, [&] { engine.Insert(filter, keys); });
  }
  Fill(keys, num_keys - keys.size() / 2, threads);  // half of these keys are in the filter
  size_t hits = 0;
  const double lookup_ns = Nanoseconds(Time::kWall, [&] { hits = engine.Count(filter, keys); }) /
                           static_cast<double>(keys.size());

  const std::span<const std::byte> memory = filter.payload();
  const RandomLines lines(memory.size(), kLines);
  const double one_ns = lines.Measure(memory, 3).ns;
  const double all_ns = lines.Measure(memory, 3, threads).ns;
  const double pass_s =
      static_cast<double>(memory.size()) / SequentialReadRate(memory, 3) / 1e9 / threads;
  std::printf("%.4g keys, filter of %.2f GiB, %u threads, backend %s\n", n,
              static_cast<double>(memory.size()) / 0x1p30, threads, filter.backend().name.data());
  std::printf("%-44s %8.2f ns, %.2f with all threads\n", "one random line of it", one_ns, all_ns);
  std::printf("%-44s %8.2f s a pass, %llu passes: one per call\n",
              "reading all of it, threads added up", pass_s,
              static_cast<unsigned long long>((num_keys + kBatch - 1) / kBatch));
  std::printf("%-44s %8.2f s, %.2f ns a key, %.2f of a random line\n", "build", build_ns / 1e9,
              build_ns / n, build_ns / n / all_ns);
  std::printf("%-44s %8.2f ns a key, %.2f of a random line; %zu hits of %zu\n", "bulk query",
              lookup_ns, lookup_ns / all_ns, hits, keys.size());
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t num_keys = 5'000'000'000;
  if (argc > 2 || (argc > 1 && !tamis::bench::ParseCount(argv[1], num_keys, 100'000))) {
    std::fprintf(stderr, "usage: %s [KEYS], in [100000, 2^40]\n", argv[0]);
    return 2;
  }
  try {
    tamis::bench::Run(num_keys);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tamis_build_limits: %s\n", error.what());
    return 1;
  }
  return 0;
}
