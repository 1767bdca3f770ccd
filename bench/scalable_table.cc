// Compares scalable filters that began small with one filter of the right size, and their
// false-positive rates with the bounds, for every kind of layers.
//
// Usage: tamis_scalable_table [KEYS [ABSENT]], by default a million keys in filters that began with
// room for a thousand, and ten million other keys. Exit status: 0 if no key was missed at any
// doubling and no rate exceeds its bound by more than chance explains. 1 if not. 2 for bad
// arguments. The sizes are not checked.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "bench/arguments.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/scalable_filter.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kInitialCapacity = 1000;

template <typename F>
uint64_t CountHits(const F& filter, uint64_t first, uint64_t n) {
  uint64_t hits = 0;
  ForEachBatch(first, n, [&](const auto& keys) { hits += filter.Count(keys); });
  return hits;
}

// Returns the bytes of one filter for all keys, or nothing if no filter has such a rate.
template <typename F>
std::optional<double> RightBytes(uint64_t num_keys, double fpr) {
  try {
    return static_cast<double>(F({.capacity = num_keys, .fpr = fpr}).bytes());
  } catch (const Error&) {
    return std::nullopt;
  }
}

template <typename F>
bool PrintRow(const char* name, double fpr, double tightening, uint64_t num_keys,
              uint64_t num_absent) {
  ScalableFilter<F> filter({.initial_capacity = kInitialCapacity,
                            .fpr = fpr,
                            .tightening = tightening,
                            .max_bytes = uint64_t{4} << 30});
  uint64_t missed = 0, refused = 0;
  for (uint64_t in = 0, next = kInitialCapacity; in < num_keys; next *= 2) {
    const uint64_t want = std::min(next, num_keys);
    ForEachBatch(in, want - in,
                 [&](const auto& keys) { refused += keys.size() - filter.Insert(keys); });
    if (refused > 0) {
      std::printf("%-11s  %6.4f  %5.2f  does not fit into 4 GiB\n", name, fpr, tightening);
      return true;
    }
    in = want;
    missed += in - CountHits(filter, 0, in);
  }
  const auto bytes = static_cast<double>(filter.bytes());
  const double measured = static_cast<double>(CountHits(filter, num_keys, num_absent)) /
                          static_cast<double>(num_absent);
  const double ratio = bytes / RightBytes<F>(num_keys, fpr).value_or(NAN);
  // Five standard errors of the number of hits if the rate is at the bound.
  const double chance = 5 * std::sqrt(fpr / static_cast<double>(num_absent));
  const bool good = missed == 0 && measured <= fpr + chance;
  std::printf("%-11s  %6.4f  %5.2f  %6zu  %8.2f  %6.2f  %.3e  %.3e  %6llu  %s%s\n", name, fpr,
              tightening, filter.layers().size(), 8 * bytes / static_cast<double>(num_keys), ratio,
              measured, filter.expected_fpr(), static_cast<unsigned long long>(missed),
              good ? "ok" : "NOT AS IT SHOULD BE", ratio <= 2.2 ? "" : ", larger than 2.2");
  std::fflush(stdout);
  return good;
}

bool PrintTable(uint64_t num_keys, uint64_t num_absent) {
  std::printf("%llu keys, %llu others; backend %s\n", static_cast<unsigned long long>(num_keys),
              static_cast<unsigned long long>(num_absent), DefaultBackend().name.data());
  std::printf(
      "layers       bound   tight  number  bits/key   ratio  measured   expected   missed\n");
  bool good = true;
  for (const double tightening : {ScalableOptions().tightening, 0.5}) {
    for (const double fpr : {0.05, 0.01, 0.001}) {
      good &= PrintRow<SplitBlockBloomFilter>("split-block", fpr, tightening, num_keys, num_absent);
      good &= PrintRow<BloomFilter>("bloom", fpr, tightening, num_keys, num_absent);
      good &= PrintRow<CuckooFilter<12>>("cuckoo12", fpr, tightening, num_keys, num_absent);
      good &= PrintRow<CuckooFilter<16>>("cuckoo16", fpr, tightening, num_keys, num_absent);
    }
  }
  return good;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t num_keys = 1'000'000;
  uint64_t num_absent = 10'000'000;
  if (argc > 3 || (argc > 1 && !tamis::bench::ParseCount(argv[1], num_keys)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], num_absent))) {
    std::fprintf(stderr, "usage: %s [KEYS [ABSENT]], each a number in [1, 2^40]\n", argv[0]);
    return 2;
  }
  try {
    return tamis::bench::PrintTable(num_keys, num_absent) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
