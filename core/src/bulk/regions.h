// The regions of a filter that a bulk insertion is ordered by, and when it pays to do so.
#ifndef TAMIS_CORE_SRC_BULK_REGIONS_H_
#define TAMIS_CORE_SRC_BULK_REGIONS_H_

#include <algorithm>
#include <cstdint>

namespace tamis::detail {

// Measured: bench/NOTES.md. Smaller regions make more streams to scatter to, and larger ones leave
// the second-level cache.
inline constexpr uint64_t kRegionBytes = uint64_t{2} << 20;
inline constexpr uint64_t kMaxRegions = 256;

inline uint64_t NumRegions(uint64_t filter_bytes) noexcept {
  return std::clamp<uint64_t>(filter_bytes / kRegionBytes, 1, kMaxRegions);
}

// What one thread takes to insert a key into a filter of some size, in nanoseconds, as a
// calibration has it: the partitioned way with CalibratedKeys() keys.
struct InsertCost {
  double direct_ns = 0;
  double partitioned_ns = 0;
};

// Many for each cache line of the filter, as in building one, within limits.
inline uint64_t CalibratedKeys(uint64_t filter_bytes) noexcept {
  return std::min(filter_bytes / 8, uint64_t{32} << 20);
}

// Seconds that one thread takes to insert `keys` keys: straight into the filter, or ordered by
// region first. Whoever chooses between both ways asks this.
double DirectSeconds(const InsertCost& cost, double keys) noexcept;
double RegionSeconds(uint64_t filter_bytes) noexcept;  // of these for the regions, however few keys
double PartitionedSeconds(const InsertCost& cost, uint64_t filter_bytes, double keys) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_REGIONS_H_
