// The classic filter: bulk probes against a loop over one key a call, in one process and the same
// filter, for queries of which none, half and all are hits.
//
// Usage: tamis_bloom_speed [KEYS [REPETITIONS]], by default ten million keys (12 bits each) and 9.
// Run it pinned, with nothing else running: `taskset -c 1 tamis_bloom_speed`.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <vector>

#include "bench/arguments.h"
#include "bench/huge_memory.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/bloom_filter.h"

namespace tamis::bench {
namespace {

constexpr size_t kMaxQueries = 4'000'000;

void MeasureHits(const BloomFilter& filter, uint64_t num_keys, int hit_percent, int repetitions) {
  const Queries made =
      MakeQueries(num_keys, std::clamp<size_t>(num_keys, 100'000, kMaxQueries), hit_percent);
  const std::span<const uint64_t> queries = made.keys;
  std::vector<uint64_t> bits(BitmapWords(queries.size()));
  std::vector<uint8_t> bytes(queries.size());
  const auto n = static_cast<double>(queries.size());
  std::vector<double> one, bulk, ratio;
  for (int i = 0; i <= repetitions; ++i) {
    const double one_ns = Nanoseconds(Time::kThread, [&] {
      for (size_t q = 0; q < queries.size(); ++q) bytes[q] = filter.Contains(queries[q]);
    });
    const double bulk_ns =
        Nanoseconds(Time::kThread, [&] { filter.Contains(queries, Bitmap(bits)); });
    if (i == 0) continue;  // to warm up
    one.push_back(one_ns / n);
    bulk.push_back(bulk_ns / n);
    ratio.push_back(one_ns / bulk_ns);
  }
  for (size_t q = 0; q < queries.size(); ++q) {
    if (Bitmap(bits).Test(q) != (bytes[q] != 0) || (made.present[q] && !bytes[q])) {
      throw std::runtime_error("bulk and one key disagree, or there is a false negative");
    }
  }
  std::printf("%4d%%  %8.2f  %8.2f  %6.2f  (%.2f to %.2f)\n", hit_percent, Median(one),
              Median(bulk), Median(ratio), Quantile(ratio, 0.25), Quantile(ratio, 0.75));
  std::fflush(stdout);
}

void Measure(uint64_t num_keys, int repetitions) {
  Arena arena(FilterBytes(num_keys) + (size_t{4} << 20));
  BloomFilter filter(
      {.capacity = num_keys, .bytes = FilterBytes(num_keys), .memory = {.resource = &arena}});
  filter.Insert(std::span<const uint64_t>(MakeKeys(num_keys)));
  std::printf("%llu keys, %.1f bits each, %u hashes, backend %s; medians of %d, ns per key\n",
              static_cast<unsigned long long>(num_keys), filter.bits_per_key(), filter.num_hashes(),
              filter.backend().name.data(), repetitions);
  std::printf(" hits   one key      bulk   ratio  (quartiles)\n");
  for (const int hit_percent : {0, 50, 100}) {
    MeasureHits(filter, num_keys, hit_percent, repetitions);
  }
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t num_keys = 10'000'000, repetitions = 9;
  if (argc > 3 ||
      (argc > 1 && !tamis::bench::ParseCount(argv[1], num_keys, 1, uint64_t{1} << 32)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], repetitions, 1, 1000))) {
    std::fprintf(stderr, "usage: %s [KEYS up to 2^32 [REPETITIONS up to 1000]]\n", argv[0]);
    return 2;
  }
  try {
    tamis::bench::Measure(num_keys, static_cast<int>(repetitions));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
