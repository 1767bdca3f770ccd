// The times of many calls as the few numbers that say how long one has to wait.
#ifndef TAMIS_BENCH_SUITE_PERCENTILES_H_
#define TAMIS_BENCH_SUITE_PERCENTILES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis::bench {

// Nanoseconds. Each but the maximum is the nearest rank: the smallest of the times that at least
// that share of all times is not above. Of fewer than 1,000 calls p999 is the maximum.
struct Percentiles {
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;

  friend bool operator==(const Percentiles&, const Percentiles&) = default;
};

// The place of a percentile among n times in ascending order, from 0: ceil(n * share) - 1. There is
// at least one time; per_mille is in [1, 1000].
constexpr size_t RankOf(size_t n, size_t per_mille) {
  return n / 1000 * per_mille + (n % 1000 * per_mille + 999) / 1000 - 1;
}

// Of at least one time, in any order.
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
