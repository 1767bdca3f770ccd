// The costs of operations of one backend, as a calibration contains them. These costs determine the
// route of a call.
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

// Returns the cost at a size, from at least one point; points must ascend by size. Between two
// points the cost is on a straight line over the logarithm of the size, because each cache gives
// way to the next one gradually. Below the first and above the last point, the result is the cost
// of that point.
Cost CostOfSize(std::span<const CostAtSize> points, uint64_t filter_bytes) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_COSTS_H_
