#include "core/src/bulk/regions.h"

#include <cmath>

namespace tamis::detail {
namespace {

constexpr double kLineBytes = 64;

// Every thread has a buffer for each region, which it has to touch and to write however few keys
// there are: 0.8 us on an Intel Xeon (family 6, model 167).
constexpr double kSecondsPerRegion = 0.8e-6;

// The share of keys that are the first of a call in their cache line, if each line gets `load` of
// them on average: (1 - e^-load) / load.
double FirstInLine(double load) noexcept { return load > 0 ? -std::expm1(-load) / load : 1; }

}  // namespace

double DirectSeconds(const Cost& cost, double keys, double speed) noexcept {
  return 1e-9 * cost.insert_ns * keys / speed;
}

// Ordering saves the way to memory for all keys but the first one in a line. The calibration has
// the cost with several keys in each line; with fewer, more of them pay what a direct write pays.
// What is to be done for each region, every thread has to do.
double PartitionedSeconds(const Cost& cost, uint64_t filter_bytes, double keys,
                          double speed) noexcept {
  const double lines = static_cast<double>(filter_bytes) / kLineBytes;
  const double calibrated = static_cast<double>(CalibratedKeys(filter_bytes));
  const double more_first =
      std::max(0.0, FirstInLine(keys / lines) - FirstInLine(calibrated / lines));
  return 1e-9 * (cost.partitioned_insert_ns + more_first * cost.insert_ns) * keys / speed +
         kSecondsPerRegion * static_cast<double>(NumRegions(filter_bytes));
}

}  // namespace tamis::detail
