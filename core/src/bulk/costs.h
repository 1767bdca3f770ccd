// What operations of one backend cost, as a calibration has it: data, which whoever chooses between
// ways goes by.
#ifndef TAMIS_CORE_SRC_BULK_COSTS_H_
#define TAMIS_CORE_SRC_BULK_COSTS_H_

#include <cstdint>
#include <span>

namespace tamis::detail {

// Nanoseconds per key on one thread, for filters of one kind and size.
struct Cost {
  double contains_ns = 0;
  double insert_ns = 0;
  double partitioned_insert_ns = 0;
};

struct CostAtSize {
  uint64_t filter_bytes = 0;
  Cost cost;
};

// At a size between those of two points, which ascend: on a straight line over the logarithm of the
// size, as caches give way to the next one gradually; beyond the outer ones, theirs. At least one
// point.
Cost CostOfSize(std::span<const CostAtSize> points, uint64_t filter_bytes) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_COSTS_H_
