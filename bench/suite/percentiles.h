// Percentiles of the times of many calls.
#ifndef TAMIS_BENCH_SUITE_PERCENTILES_H_
#define TAMIS_BENCH_SUITE_PERCENTILES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis::bench {

// Percentiles in nanoseconds. Each except the maximum is the nearest rank: the smallest time such
// that at least the given share of all times is not greater. With fewer than 1,000 calls, p999 is
// the maximum.
struct Percentiles {
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;

  friend bool operator==(const Percentiles&, const Percentiles&) = default;
};

// Returns the index of a percentile among `n` times in ascending order: ceil(n * share) - 1.
// Requires n >= 1 and `per_mille` in [1, 1000].
constexpr size_t RankOf(size_t n, size_t per_mille) {
  return n / 1000 * per_mille + (n % 1000 * per_mille + 999) / 1000 - 1;
}

// Returns the percentiles of `times`, which may be in any order. Requires at least one time.
inline Percentiles PercentilesOf(std::vector<uint64_t> times) {
  const auto at = [&](size_t per_mille) {
    const auto place = times.begin() + static_cast<ptrdiff_t>(RankOf(times.size(), per_mille));
    std::nth_element(times.begin(), place, times.end());
    return static_cast<double>(*place);
  };
  return {at(500), at(990), at(999), at(1000)};
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_PERCENTILES_H_
