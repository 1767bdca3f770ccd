// The regions of a filter that a bulk insertion or lookup is ordered by, and when it pays to do so.
#ifndef TAMIS_CORE_SRC_BULK_REGIONS_H_
#define TAMIS_CORE_SRC_BULK_REGIONS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/src/bulk/costs.h"

namespace tamis::detail {

// Measured: bench/NOTES.md. Smaller regions make more streams to scatter to, and larger ones leave
// the second-level cache.
inline constexpr uint64_t kRegionBytes = uint64_t{2} << 20;
inline constexpr uint64_t kMaxRegions = 256;

inline uint64_t NumRegions(uint64_t filter_bytes) noexcept {
  return std::clamp<uint64_t>(filter_bytes / kRegionBytes, 1, kMaxRegions);
}

// The blocks of a region, but for the last one, which may have fewer: a power of two.
uint64_t RegionBlocks(uint64_t filter_bytes, uint64_t num_blocks) noexcept;

// The keys that a calibration measures partitioned insertion with: many for each cache line of the
// filter, as in building one, within limits.
inline uint64_t CalibratedKeys(uint64_t filter_bytes) noexcept {
  return std::min(filter_bytes / 8, uint64_t{32} << 20);
}

// Seconds that it takes to insert `keys` keys, straight into the filter or ordered by region first,
// on threads that together have `speed` times that of one. Whoever chooses between both ways asks
// this.
double DirectSeconds(const Cost& cost, double keys, double speed = 1) noexcept;
double PartitionedSeconds(const Cost& cost, uint64_t filter_bytes, double keys,
                          double speed = 1) noexcept;

// What the second-level TLB of processors of today covers: 1,536 to 3,072 entries, for huge pages.
// In larger filters most lookups walk through page tables.
inline constexpr uint64_t kTlbBytes = uint64_t{4} << 30;

// The keys of a lookup that a thread orders at a time, and all threads: the more there are, the
// more of them share cache lines, and the more memory it takes.
inline constexpr uint64_t kMaxOrderedKeys = uint64_t{1} << 22;
inline constexpr uint64_t kMaxOrderedByAll = uint64_t{1} << 24;

// Nanoseconds for a key on one thread: in the filter, and in one that the TLB covers, as it covers
// each region of a larger one.
struct LookupCost {
  double direct_ns;
  double covered_ns;
};
// `contains_ns` is that of CostOfSize(points, filter_bytes).
LookupCost LookupCostOf(std::span<const CostAtSize> points, uint64_t filter_bytes,
                        double contains_ns) noexcept;

// Seconds that it takes to look up `keys` keys, one after the other, or `slice_keys` at a time
// ordered by region first, which saves the walks.
double LookupSeconds(const LookupCost& cost, double keys, double speed = 1) noexcept;
double OrderedLookupSeconds(const LookupCost& cost, uint64_t filter_bytes, double keys,
                            double slice_keys, double speed = 1) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_REGIONS_H_
