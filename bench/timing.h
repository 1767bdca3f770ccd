// Repeated measurements, and their medians and quartiles.
#ifndef TAMIS_BENCH_TIMING_H_
#define TAMIS_BENCH_TIMING_H_

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ratio>
#include <utility>
#include <vector>

#include "core/src/os/process.h"

namespace tamis::bench {

// The clock of a measurement. A single thread has a clock of its own, which stands still while
// another process uses its processor. The wall clock measures several threads, and a single thread
// on a system without such clocks. On an idle machine both clocks agree.
enum class Time { kThread, kWall };

inline double NowNs(Time time) {
  if (time == Time::kThread) {
    if (const std::optional<double> seconds = tamis::os::ThreadSeconds()) return 1e9 * *seconds;
  }
  const std::chrono::duration<double, std::nano> now =
      std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

template <typename Call>
double Nanoseconds(Time time, const Call& call) {
  const double start = NowNs(time);
  call();
  return NowNs(time) - start;
}

// Returns the value that `share` of the samples do not exceed, interpolated between two samples.
// Requires `share` in [0, 1] and at least one sample.
inline double Quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  const double at = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], at - static_cast<double>(below));
}

inline double Median(std::vector<double> samples) { return Quantile(std::move(samples), 0.5); }

// Returns the median time of `passes` calls.
template <typename Call>
double MedianNanoseconds(Time time, int passes, const Call& call) {
  std::vector<double> samples;
  for (int i = 0; i < passes; ++i) samples.push_back(Nanoseconds(time, call));
  return Median(std::move(samples));
}

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_TIMING_H_
