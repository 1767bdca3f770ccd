// Prints a table in Markdown for each kind, with stated and measured false-positive rates of
// filters that are sized by capacity and rate: from 16 to ten million keys and from 1e-2 to 1e-9. A
// cell is the measured rate divided by the stated one, and the bits per key of the filter. A static
// kind has one rate, which is below the requested rate.
//
// Usage: tamis_rate_grid [SECONDS [KIND...]], by default at most 20 seconds for each cell, and all
// kinds.
//
// A cell counts if at least 400 false positives were seen. Its stated rate is computed by the
// formulas of sizing.h for a full filter. In a cell that counts, the stated rate may differ from
// the measured rate by at most 10% and three standard deviations. A cell with fewer false positives
// shows "computed": its rate is too low to be measured in the time. Small filters are averaged over
// up to 20,000 seeds of the hash, because a few of them, with many keys in one block, have most of
// the false positives.
//
// Exit status: 0 if all cells that count agree, no filter missed a key, and no filter states a
// higher rate than was requested. 1 otherwise. 2 for bad arguments.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/arguments.h"
#include "bench/workload.h"
#include "tamis/engine/build.h"
#include "tamis/error.h"
#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/changeable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/units.h"

namespace tamis::bench {
namespace {

constexpr uint64_t kLeastHits = 400;
constexpr uint64_t kEnoughHits = 4000;
constexpr double kTolerance = 0.1;
constexpr uint64_t kKeys[] = {16, 256, 4096, 65'536, 1'000'000, 10'000'000};
constexpr double kRates[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};

struct Cell {
  double stated = 0;  // mean of all filters
  uint64_t bytes = 0;
  uint64_t hits = 0;
  uint64_t absent = 0;
  uint64_t missed = 0;
};

uint64_t SeedsFor(uint64_t keys) { return std::clamp<uint64_t>(4'000'000 / keys, 1, 20'000); }

// Makes a filter of keys [first, first + n) of the sequence.
AnyFilter FilterOf(FilterKind kind, uint64_t first, uint64_t n, FilterOptions options) {
  const RepeatableSource keys = [&](const auto& visit) { ForEachBatch(first, n, visit); };
  if (KindInfo(kind).is_static) return BuildFilter(kind, keys, options);
  options.capacity = n;
  AnyFilter filter = MakeFilter(kind, options);
  // If there is no room for a key, the key counts as missed. BuildFilter would throw.
  keys([&](const Keys& some) { RequireChangeable(*filter).Insert(some); });
  return filter;
}

// Fills `keys` with keys of the sequence, from `next` on, and queries them. Returns the number of
// false positives.
uint64_t AskAbsent(const Filter& filter, uint64_t& next, std::vector<uint64_t>& keys) {
  for (uint64_t& key : keys) key = KeyAt(next++);
  return filter.Count(keys);
}

// Measures a cell with keys from its own part of an endless sequence. Every filter gets the same
// number of absent keys. Otherwise, filters with a higher rate would count less.
Cell Measure(FilterKind kind, uint64_t num_keys, double fpr, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr uint64_t kAtOnce = 1 << 12;
  const uint64_t seeds = SeedsFor(num_keys);
  Cell cell;
  uint64_t next = 0, batches = 0;
  std::vector<uint64_t> absent(kAtOnce);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const uint64_t first = next;
    const AnyFilter filter = FilterOf(kind, first, num_keys, {.fpr = fpr, .hash = {.seed = seed}});
    ForEachBatch(first, num_keys,
                 [&](const auto& keys) { cell.missed += keys.size() - filter->Count(keys); });
    next += num_keys;
    cell.bytes = filter->bytes();
    const double stated = FilterFpr(kind, static_cast<double>(num_keys), filter->bytes());
    cell.stated += stated / static_cast<double>(seeds);
    if (seed == 0) {
      const double enough = kEnoughHits / stated / static_cast<double>(seeds * kAtOnce);
      const Clock::time_point begin = Clock::now();
      AskAbsent(*filter, next, absent);
      const std::chrono::duration<double> one = Clock::now() - begin;
      const double possible = seconds / one.count() / static_cast<double>(seeds);
      batches = static_cast<uint64_t>(std::ceil(std::min(enough, possible)));
    }
    for (uint64_t i = 0; i < batches; ++i) cell.hits += AskAbsent(*filter, next, absent);
    cell.absent += batches * kAtOnce;
  }
  return cell;
}

// Prints a cell. Returns whether it is correct.
bool PrintCell(FilterKind kind, uint64_t num_keys, double fpr, double seconds) {
  Cell cell;
  try {
    cell = Measure(kind, num_keys, fpr, seconds);
  } catch (const Error& error) {
    std::printf(" refused |");
    return error.code() == ErrorCode::kInvalidArgument;
  }
  const auto absent = static_cast<double>(cell.absent);
  const double measured = static_cast<double>(cell.hits) / absent;
  const double sigma = std::sqrt(static_cast<double>(cell.hits)) / absent;
  const bool counts = cell.hits >= kLeastHits;
  const bool agrees = std::abs(measured - cell.stated) <= kTolerance * cell.stated + 3 * sigma;
  const bool kept = cell.stated <= fpr * (1 + 1e-9);
  const bool good = cell.missed == 0 && kept && (agrees || !counts);
  std::printf(" %s, %.1f |", counts ? FixedText(measured / cell.stated, 2).c_str() : "computed",
              8 * static_cast<double>(cell.bytes) / static_cast<double>(num_keys));
  if (!good) {
    std::fprintf(stderr, "%s, %llu keys, requested %g: stated %g, measured %g, missed %llu\n",
                 FilterKindName(kind), static_cast<unsigned long long>(num_keys), fpr, cell.stated,
                 measured, static_cast<unsigned long long>(cell.missed));
  }
  std::fflush(stdout);
  return good;
}

bool PrintTable(FilterKind kind, double seconds) {
  std::printf("| %s, keys |", FilterKindName(kind));
  for (const double rate : kRates) std::printf(" %g |", rate);
  std::printf("\n|--:|");
  for ([[maybe_unused]] const double rate : kRates) std::printf("---|");
  bool good = true;
  for (const uint64_t keys : kKeys) {
    std::printf("\n| %llu |", static_cast<unsigned long long>(keys));
    for (const double rate : kRates) good &= PrintCell(kind, keys, rate, seconds);
  }
  std::printf("\n\n");
  return good;
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  uint64_t seconds = 20;
  std::vector<tamis::FilterKind> kinds;
  bool good = argc < 2 || tamis::bench::ParseCount(argv[1], seconds, 0);
  for (int i = 2; i < argc; ++i) {
    tamis::FilterKind kind{};
    good &= tamis::ParseFilterKind(argv[i], kind) && !tamis::KindInfo(kind).has_layers;
    kinds.push_back(kind);
  }
  if (!good) {
    std::fprintf(stderr, "usage: %s [SECONDS [KIND...]]\n", argv[0]);
    return 2;
  }
  for (const tamis::FilterKindInfo& info : tamis::FilterKinds()) {
    if (argc < 3 && !info.has_layers) kinds.push_back(info.kind);
  }
  try {
    bool as_stated = true;
    for (const tamis::FilterKind kind : kinds) {
      as_stated &= tamis::bench::PrintTable(kind, static_cast<double>(seconds));
    }
    return as_stated ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}
