// The regions of a filter that order a bulk insertion or lookup, and the estimates of whether
// ordering is faster.
#ifndef TAMIS_CORE_SRC_BULK_REGIONS_H_
#define TAMIS_CORE_SRC_BULK_REGIONS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/src/bulk/costs.h"
#include "tamis/detail/block_index.h"

namespace tamis::detail {

// Measured: bench/NOTES.md. Smaller regions mean more streams to scatter to. Larger regions do not
// fit in the second-level cache.
inline constexpr uint64_t kRegionBytes = uint64_t{2} << 20;
inline constexpr uint64_t kMaxRegions = 256;

inline uint64_t NumRegions(uint64_t filter_bytes) noexcept {
  return std::clamp<uint64_t>(filter_bytes / kRegionBytes, 1, kMaxRegions);
}

// Returns the blocks of each region, a power of two. The last region may have fewer.
uint64_t RegionBlocks(uint64_t filter_bytes, uint64_t num_blocks) noexcept;

// Calls run(block_of), where block_of(hash) is BlockIndex(hash, num_blocks). Decides
// once which bits of a hash make the index, and not for each hash.
template <typename Run>
void WithBlockIndex(uint64_t num_blocks, const Run& run) {
  if (num_blocks <= kMaxBlocks32) {
    run([=](uint64_t hash) { return BlockIndex32(hash, num_blocks); });
  } else {
    run([=](uint64_t hash) { return BlockIndex64(hash, num_blocks); });
  }
}

// Returns the number of keys that a calibration uses to measure partitioned insertion: within
// limits, many keys for each cache line of the filter, as in the construction of a filter.
inline uint64_t CalibratedKeys(uint64_t filter_bytes) noexcept {
  return std::min(filter_bytes / 8, uint64_t{32} << 20);
}

// Return the seconds that inserting `keys` keys takes: directly, ordered by region first, or into
// words of each thread, whose union is the filter. `speed` is the speed of all threads together,
// relative to one thread. Callers compare the times and choose the fastest route.
double DirectSeconds(const Cost& cost, double keys, double speed = 1) noexcept;
double PartitionedSeconds(const Cost& cost, uint64_t filter_bytes, double keys,
                          double speed = 1) noexcept;
double UnionSeconds(const Cost& cost, uint64_t filter_bytes, double keys, double speed) noexcept;

// The memory that the second-level TLB of today's processors covers: 1,536 to 3,072 entries, with
// huge pages. In larger filters most lookups walk through page tables.
inline constexpr uint64_t kTlbBytes = uint64_t{4} << 30;

// The largest number of keys of a lookup that one thread orders at a time, and the largest number
// for all threads together. If more keys are ordered at a time, more keys share a cache line, but
// the lists take more memory.
inline constexpr uint64_t kMaxOrderedKeys = uint64_t{1} << 22;
inline constexpr uint64_t kMaxOrderedByAll = uint64_t{1} << 24;

// Nanoseconds for one key on one thread: for a probe anywhere in the filter (`direct_ns`), and for
// a probe within a part that the TLB covers, such as a region (`covered_ns`).
struct LookupCost {
  double direct_ns;
  double covered_ns;
};
// `contains_ns` must be the value of CostOfSize(points, filter_bytes).
LookupCost LookupCostOf(std::span<const CostAtSize> points, uint64_t filter_bytes,
                        double contains_ns) noexcept;

// Return the seconds that looking up `keys` keys takes: one after the other, or ordered by region,
// `slice_keys` at a time, which saves the walks.
double LookupSeconds(const LookupCost& cost, double keys, double speed = 1) noexcept;
double OrderedLookupSeconds(const LookupCost& cost, uint64_t filter_bytes, double keys,
                            double slice_keys, double speed = 1) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_REGIONS_H_
