// The regions of a filter that a bulk insertion is ordered by, and when it pays to do so.
#ifndef TAMIS_CORE_SRC_BULK_REGIONS_H_
#define TAMIS_CORE_SRC_BULK_REGIONS_H_

#include <algorithm>
#include <cstdint>

#include "core/src/bulk/costs.h"

namespace tamis::detail {

// Measured: bench/NOTES.md. Smaller regions make more streams to scatter to, and larger ones leave
// the second-level cache.
inline constexpr uint64_t kRegionBytes = uint64_t{2} << 20;
inline constexpr uint64_t kMaxRegions = 256;

inline uint64_t NumRegions(uint64_t filter_bytes) noexcept {
  return std::clamp<uint64_t>(filter_bytes / kRegionBytes, 1, kMaxRegions);
}

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

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_REGIONS_H_
