// Measures cuckoo filters: their maximum load, their false-positive rates against those of
// sizing.h, and the latencies of single insertions.
//
// Usage: tamis_cuckoo_table fill [TRIALS]   loads at the first key that is refused, and whether
//                                           `capacity` keys fit, for 10^3 to 10^8 keys
//        tamis_cuckoo_table fpr [KEYS [ABSENT]]   at 50%, 80% and 100% of the capacity; by default
//                                           ten million keys and a hundred million others
//        tamis_cuckoo_table latency [MAX_KEYS]   of one insertion into a filter that stays full to
//                                           its capacity, for 10^5, 10^6 and 10^7 keys
//
// Exit status: 0 if all filters held their capacity, no insertion failed, no key was missed, and
// every rate is within 5% of the predicted one. 1 if not. 2 for bad arguments.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include "bench/arguments.h"
#include "bench/timing.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/sizing.h"

namespace tamis::bench {
namespace {

constexpr double kTolerance = 0.05;

struct Fills {
  uint64_t trials = 0;
  uint64_t held = 0;  // trials in which `capacity` keys fit
  double least = 1, sum = 0, squares = 0;

  void Add(double load, bool holds) {
    ++trials;
    held += holds;
    least = std::min(least, load);
    sum += load;
    squares += load * load;
  }
  double mean() const { return sum / static_cast<double>(trials); }
  double deviation() const {
    return std::sqrt(std::max(0.0, squares / static_cast<double>(trials) - mean() * mean()));
  }
};

// Inserts keys until one is refused, with another seed in every trial.
template <int kBits>
bool PrintFill(uint64_t capacity, uint64_t trials) {
  Fills fills;
  double bits_per_key = 0;
  double full_load = 0;  // load at the capacity
  for (uint64_t seed = 1; seed <= trials; ++seed) {
    CuckooFilter<kBits> filter({.capacity = capacity, .hash = {HashKind::kXxh3, seed}});
    bits_per_key = filter.bits_per_key();
    full_load = static_cast<double>(capacity) / static_cast<double>(filter.num_slots());
    bool holds = true;
    ForEachBatch(0, capacity,
                 [&](const auto& keys) { holds &= filter.Insert(keys) == keys.size(); });
    for (uint64_t i = capacity; holds && filter.Insert(KeyAt(i)); ++i) {
    }
    fills.Add(filter.load_factor(), holds);
  }
  const bool good = fills.held == fills.trials;
  std::printf("%4d  %11llu  %9.2f  %6.2f%%  %8.2f%%  %8.2f%%  %7.3f%%  %6llu of %-6llu %s\n", kBits,
              static_cast<unsigned long long>(capacity), bits_per_key, 100 * full_load,
              100 * fills.least, 100 * fills.mean(), 100 * fills.deviation(),
              static_cast<unsigned long long>(fills.held),
              static_cast<unsigned long long>(fills.trials), good ? "" : "NOT ALL HELD");
  std::fflush(stdout);
  return good;
}

bool PrintFills(uint64_t scale) {
  std::printf("load at the first key that does not go in; backend %s\n",
              DefaultBackend().name.data());
  std::printf("bits     capacity  bits/key     load     least       mean  deviation   held\n");
  bool good = true;
  for (const auto& [capacity, trials] : {std::pair<uint64_t, uint64_t>{1'000, 1000},
                                         {10'000, 1000},
                                         {100'000, 1000},
                                         {1'000'000, 100},
                                         {10'000'000, 20},
                                         {100'000'000, 2}}) {
    const uint64_t n = std::max<uint64_t>(1, trials * scale / 1000);
    good &= PrintFill<8>(capacity, n);
    good &= PrintFill<12>(capacity, n);
    good &= PrintFill<16>(capacity, n);
  }
  return good;
}

template <int kBits>
bool PrintRates(uint64_t capacity, uint64_t num_absent) {
  bool good = true;
  CuckooFilter<kBits> filter({.capacity = capacity});
  for (const int percent : {50, 80, 100}) {
    const uint64_t wanted = capacity / 100 * static_cast<uint64_t>(percent);
    const uint64_t before = filter.size();
    ForEachBatch(before, wanted - before, [&](const auto& keys) { filter.Insert(keys); });
    uint64_t found = 0, hits = 0;
    ForEachBatch(0, wanted, [&](const auto& keys) { found += filter.Count(keys); });
    ForEachBatch(capacity, num_absent, [&](const auto& keys) { hits += filter.Count(keys); });

    const auto n = static_cast<double>(num_absent);
    const double predicted =
        CuckooFpr(kBits, static_cast<double>(wanted), filter.geometry().buckets());
    const double difference = static_cast<double>(hits) / n / predicted - 1;
    // The standard error of the number of hits only: the share of used fingerprint classes varies
    // far less.
    const double standard_error = std::sqrt((1 - predicted) / (predicted * n));
    const bool row_good =
        found == wanted && filter.size() == wanted && std::abs(difference) <= kTolerance;
    good &= row_good;
    std::printf("%4d  %4d%%  %6.2f%%  %10llu  %.4e  %.4e  %+6.2f%%  %5.2f%%  %6llu  %s\n", kBits,
                percent, 100 * filter.load_factor(), static_cast<unsigned long long>(hits),
                static_cast<double>(hits) / n, predicted, 100 * difference, 100 * standard_error,
                static_cast<unsigned long long>(wanted - found), row_good ? "ok" : "BEYOND 5%");
    std::fflush(stdout);
  }
  return good;
}

bool PrintAllRates(uint64_t num_keys, uint64_t num_absent) {
  std::printf("capacity %llu keys, %llu others; backend %s\n",
              static_cast<unsigned long long>(num_keys),
              static_cast<unsigned long long>(num_absent), DefaultBackend().name.data());
  std::printf("bits  fill     load        hits  measured    predicted  differs  std.err  missed\n");
  bool good = PrintRates<8>(num_keys, num_absent);
  good &= PrintRates<12>(num_keys, num_absent);
  good &= PrintRates<16>(num_keys, num_absent);
  return good;
}

// Erases the oldest key and inserts a new one in each turn. Returns whether all insertions
// succeeded.
template <int kBits>
bool PrintLatencies(uint64_t capacity) {
  constexpr size_t kTurns = 1'000'000;
  CuckooFilter<kBits> filter({.capacity = capacity});
  for (uint64_t i = 0; i < capacity; ++i) filter.Insert(KeyAt(i));
  std::vector<double> ns;
  uint64_t failed = 0;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    filter.Erase(KeyAt(turn));
    const uint64_t key = KeyAt(capacity + turn);
    bool inserted = false;
    ns.push_back(Nanoseconds(Time::kWall, [&] { inserted = filter.Insert(key); }));
    failed += !inserted;
  }
  std::printf("%4d  %11llu  %6.2f%%  %6.0f  %6.0f  %6.0f  %9.0f  %llu of %zu\n", kBits,
              static_cast<unsigned long long>(capacity), 100 * filter.load_factor(),
              Quantile(ns, 0.5), Quantile(ns, 0.99), Quantile(ns, 0.999), Quantile(ns, 1),
              static_cast<unsigned long long>(failed), kTurns);
  std::fflush(stdout);
  return failed == 0;
}

bool PrintAllLatencies(uint64_t max_keys) {
  std::printf("ns for one insertion, with the clock's own time; backend %s\n",
              DefaultBackend().name.data());
  std::printf("bits     capacity     load     p50     p99   p99.9        max  failed\n");
  bool good = true;
  for (uint64_t keys = 100'000; keys <= max_keys; keys *= 10) {
    good &= PrintLatencies<8>(keys);
    good &= PrintLatencies<12>(keys);
    good &= PrintLatencies<16>(keys);
  }
  return good;
}

int Run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  uint64_t trials = 1000, num_keys = 10'000'000, num_absent = 100'000'000;
  if (what == "fill" && argc <= 3 && (argc < 3 || ParseCount(argv[2], trials))) {
    return PrintFills(trials) ? 0 : 1;
  }
  if (what == "fpr" && argc <= 4 && (argc < 3 || ParseCount(argv[2], num_keys)) &&
      (argc < 4 || ParseCount(argv[3], num_absent))) {
    return PrintAllRates(num_keys, num_absent) ? 0 : 1;
  }
  uint64_t max_keys = 10'000'000;
  if (what == "latency" && argc <= 3 && (argc < 3 || ParseCount(argv[2], max_keys, 100'000))) {
    return PrintAllLatencies(max_keys) ? 0 : 1;
  }
  std::fprintf(stderr,
               "usage: %s fill [TRIALS of 1000 keys]\n       %s fpr [KEYS [ABSENT]]\n"
               "       %s latency [MAX_KEYS, 100000 or more]\neach a number in [1, 2^40]\n",
               argv[0], argv[0], argv[0]);
  return 2;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  try {
    return tamis::bench::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
