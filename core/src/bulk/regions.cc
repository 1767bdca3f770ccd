#include "core/src/bulk/regions.h"

#include <bit>
#include <cmath>

namespace tamis::detail {
namespace {

constexpr double kLineBytes = 64;

// Every thread has a buffer for each region, which it must touch and write even if there are few
// keys: 0.8 us on an Intel Xeon (family 6, model 167).
constexpr double kSecondsPerRegion = 0.8e-6;

// Every thread but one allocates as many bytes as the filter has, and then all threads share the
// work of making the union: bench/NOTES_BLOOM.md.
constexpr double kSecondsPerUnionByte = 0.3e-9;

// Cost of a walk through page tables, for a key in a filter that the TLB does not cover. Measured
// on an AMD EPYC (family 25, model 1) in a virtual machine, where the host has page tables as well:
// bench/NOTES_LARGE.md.
constexpr double kWalkNs = 13;

// Cost of touching the memory of the list of one region, once for each slice.
constexpr double kSecondsPerList = 5e-6;

// Cost of an ordered lookup of a key that is not the first in its line: hashing it, distributing
// it, finding it in the second-level cache, and fetching its bit.
constexpr double kOrderedNs = 6.5;

// Returns the share of keys that are the first of a call in their cache line, if each line gets
// `load` keys on average: (1 - e^-load) / load.
double FirstInLine(double load) noexcept { return load > 0 ? -std::expm1(-load) / load : 1; }

}  // namespace

uint64_t RegionBlocks(uint64_t filter_bytes, uint64_t num_blocks) noexcept {
  return uint64_t{1} << std::bit_width((num_blocks - 1) / NumRegions(filter_bytes));
}

double DirectSeconds(const Cost& cost, double keys, double speed) noexcept {
  return 1e-9 * cost.insert_ns * keys / speed;
}

// Ordering saves the access to memory for all keys except the first one in a line. The calibration
// measures several keys in each line. With fewer keys per line, more keys take as long as a direct
// write. Every thread spends the time for all regions.
double PartitionedSeconds(const Cost& cost, uint64_t filter_bytes, double keys,
                          double speed) noexcept {
  const double lines = static_cast<double>(filter_bytes) / kLineBytes;
  const double calibrated = static_cast<double>(CalibratedKeys(filter_bytes));
  const double more_first =
      std::max(0.0, FirstInLine(keys / lines) - FirstInLine(calibrated / lines));
  return 1e-9 * (cost.partitioned_insert_ns + more_first * cost.insert_ns) * keys / speed +
         kSecondsPerRegion * static_cast<double>(NumRegions(filter_bytes));
}

double UnionSeconds(const Cost& cost, uint64_t filter_bytes, double keys, double speed) noexcept {
  return DirectSeconds(cost, keys, speed) +
         kSecondsPerUnionByte * static_cast<double>(filter_bytes);
}

LookupCost LookupCostOf(std::span<const CostAtSize> points, uint64_t filter_bytes,
                        double contains_ns) noexcept {
  if (filter_bytes <= kTlbBytes) return {contains_ns, contains_ns};
  const bool has_walks = points.back().filter_bytes > kTlbBytes;
  return {has_walks ? contains_ns : contains_ns + kWalkNs,
          CostOfSize(points, kTlbBytes).contains_ns};
}

double LookupSeconds(const LookupCost& cost, double keys, double speed) noexcept {
  return 1e-9 * cost.direct_ns * keys / speed;
}

double OrderedLookupSeconds(const LookupCost& cost, uint64_t filter_bytes, double keys,
                            double slice_keys, double speed) noexcept {
  const double lines = static_cast<double>(filter_bytes) / kLineBytes;
  const double ns = kOrderedNs + FirstInLine(slice_keys / lines) * cost.covered_ns;
  const double lists = static_cast<double>(NumRegions(filter_bytes)) * std::ceil(keys / slice_keys);
  return (1e-9 * ns * keys + kSecondsPerList * lists) / speed;
}

}  // namespace tamis::detail
