// Code that the sizing functions of all kinds share.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_SIZING_CHECKS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_SIZING_CHECKS_H_

#include <cstdint>

#include "tamis/filters/filter.h"

namespace tamis::detail {

// Throws Error(kInvalidArgument) unless fpr is in [kMinFpr, kMaxFpr].
void CheckFpr(double fpr);

// Returns the rate in the options, or kDefaultFpr if it is 0. Checks it even if bytes set the size.
double FprOrDefault(const FilterOptions& options);

// The rates by which versions before 1.0 sized filters. Both assume that no two keys have all bits
// in common. The first also assumes that the keys of a block are Poisson-distributed even if there
// are few blocks. Apache Kudu uses the first formula.
double PoissonSplitBlockFpr(double keys, uint64_t num_blocks);
double OldBloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes);

// Returns the last x in [low, high] for which holds(x) is true. holds(low) must be true, and
// holds(x) must change at most once.
template <typename Holds>
uint64_t LastThatHolds(uint64_t low, uint64_t high, const Holds& holds) {
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Returns the first x in [low, high] for which holds(x) is true. holds(high) must be true, and
// holds(x) must change at most once.
template <typename Holds>
uint64_t FirstThatHolds(uint64_t low, uint64_t high, const Holds& holds) {
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_SIZING_CHECKS_H_
