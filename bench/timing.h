// Repeated measurements, and their medians and quartiles.
#ifndef TAMIS_BENCH_TIMING_H_
#define TAMIS_BENCH_TIMING_H_

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tamis::bench {

using Clock = std::chrono::steady_clock;

template <typename Call>
double Nanoseconds(const Call& call) {
  const Clock::time_point start = Clock::now();
  call();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// The value below which a share of the samples lies, in [0, 1], linear between two of them. There is
// at least one sample.
inline double Quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  const double at = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], at - static_cast<double>(below));
}

inline double Median(std::vector<double> samples) { return Quantile(std::move(samples), 0.5); }

// The median time of `passes` calls.
template <typename Call>
double MedianNanoseconds(int passes, const Call& call) {
  std::vector<double> samples;
  for (int i = 0; i < passes; ++i) samples.push_back(Nanoseconds(call));
  return Median(std::move(samples));
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_TIMING_H_
