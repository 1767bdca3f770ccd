// Prints a table of measured and predicted false-positive rates: both hashes, sequential and random
// keys, from few to many bits per key.
//
// Usage: tamis_fpr_table [KEYS [ABSENT]], by default ten million keys and a hundred million others.
// Exit status: 0 if every measured rate is within 3% of the predicted one and no key is missed, 1
// if not, 2 for bad arguments.
#include <cmath>
#include <cstdio>
#include <exception>

#include "bench/arguments.h"
#include "bench/workload.h"
#include "tamis/backends.h"
#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"

namespace tamis::bench {
namespace {

constexpr double kTolerance = 0.03;

// An order of keys without repetition.
struct Order {
  const char* name;
  uint64_t (*at)(uint64_t);
};
constexpr Order kOrders[] = {{"sequential", [](uint64_t i) { return i; }}, {"random", KeyAt}};

uint64_t CountHits(const Filter& filter, const Order& order, uint64_t first, uint64_t n) {
  uint64_t hits = 0;
  ForEachBatch(
      first, n, [&](const auto& keys) { hits += filter.Count(keys); }, order.at);
  return hits;
}

// Returns the variance of the rate among filters of that size with the same number of random keys.
// For one block, the rate is the product of the shares of set bits in its words. The rate of the
// filter is the mean over all blocks. Because the total number of keys is fixed, the variance that
// a varying total would cause is subtracted.
double FilterVariance(double keys, double num_blocks) {
  const double load = keys / num_blocks;
  double mean = 0, square = 0, with_k = 0;
  for (double k = 1; k < load + 20 * std::sqrt(load) + 50; ++k) {
    const double weight = std::exp(k * std::log(load) - load - std::lgamma(k + 1));
    // The probabilities that k keys leave one given bit of a word unset, or two given bits.
    const double one = std::pow(31.0 / 32, k);
    const double two = std::pow(30.0 / 32, k);
    const double share = std::pow(1 - one, split_block::kWords);
    mean += weight * share;
    square += weight * std::pow((1 - one + 31 * (1 - 2 * one + two)) / 32, split_block::kWords);
    with_k += weight * share * k;
  }
  const double covariance = with_k - mean * load;
  return (square - mean * mean - covariance * covariance / load) / num_blocks;
}

// Measures one row and prints it. Returns whether it is correct.
bool PrintRow(HashKind kind, const Order& order, uint64_t bits_per_key, uint64_t num_keys,
              uint64_t num_absent) {
  SplitBlockBloomFilter filter(
      {.capacity = num_keys, .bytes = num_keys * bits_per_key / 8, .hash = {kind, 0}});
  ForEachBatch(
      0, num_keys, [&](const auto& keys) { filter.Insert(keys); }, order.at);
  const uint64_t missed = num_keys - CountHits(filter, order, 0, num_keys);
  const uint64_t hits = CountHits(filter, order, num_keys, num_absent);

  const auto n = static_cast<double>(num_absent);
  const double measured = static_cast<double>(hits) / n;
  const double predicted = SplitBlockFpr(static_cast<double>(num_keys), filter.num_blocks());
  const double difference = measured / predicted - 1;
  const double variance =
      predicted * (1 - predicted) / n +
      FilterVariance(static_cast<double>(num_keys), static_cast<double>(filter.num_blocks()));
  const double standard_error = std::sqrt(variance) / predicted;
  const bool good = missed == 0 && std::abs(difference) <= kTolerance;
  std::printf("%-5s  %-10s  %4llu  %9llu  %.4e  %.4e  %+7.2f%%  %6.2f%%  %6llu  %s\n",
              HashKindName(kind), order.name, static_cast<unsigned long long>(bits_per_key),
              static_cast<unsigned long long>(hits), measured, predicted, 100 * difference,
              100 * standard_error, static_cast<unsigned long long>(missed),
              good ? "ok" : "BEYOND 3%");
  std::fflush(stdout);
  return good;
}

bool PrintTable(uint64_t num_keys, uint64_t num_absent) {
  std::printf("%llu keys, %llu others; backend %s\n", static_cast<unsigned long long>(num_keys),
              static_cast<unsigned long long>(num_absent), DefaultBackend().name.data());
  std::printf(
      "hash   keys        bits       hits  measured    predicted   differs  std.err  missed\n");
  bool good = true;
  for (const HashKind kind : {HashKind::kXxh3, HashKind::kXxh64}) {
    for (const Order& order : kOrders) {
      for (const uint64_t bits_per_key : {8, 12, 16, 24}) {
        good &= PrintRow(kind, order, bits_per_key, num_keys, num_absent);
      }
    }
  }
  return good;
}

constexpr uint64_t kLeastKeys = 32;  // room for one block at 8 bits per key

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t num_keys = 10'000'000;
  uint64_t num_absent = 100'000'000;
  if (argc > 3 ||
      (argc > 1 && !tamis::bench::ParseCount(argv[1], num_keys, tamis::bench::kLeastKeys)) ||
      (argc > 2 && !tamis::bench::ParseCount(argv[2], num_absent, tamis::bench::kLeastKeys))) {
    std::fprintf(stderr, "usage: %s [KEYS [ABSENT]], each a number in [32, 2^40]\n", argv[0]);
    return 2;
  }
  try {
    return tamis::bench::PrintTable(num_keys, num_absent) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
