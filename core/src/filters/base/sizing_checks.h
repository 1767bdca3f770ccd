// What the sizing functions of all kinds share.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_SIZING_CHECKS_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_SIZING_CHECKS_H_

#include <cstdint>

#include "tamis/filters/filter.h"

namespace tamis::detail {

// Throws Error(kInvalidArgument) unless fpr is in [kMinFpr, kMaxFpr].
void CheckFpr(double fpr);

// That of the options, checked also where bytes decide the size; kDefaultFpr where it is 0.
double FprOrDefault(const FilterOptions& options);

// The rates by which versions before 1.0 sized filters. Keys never have all bits in common, and the
// keys of a block are Poisson-distributed however few blocks there are. Kudu uses the first.
double PoissonSplitBlockFpr(double keys, uint64_t num_blocks);
double OldBloomFpr(double keys, uint64_t num_bits, uint32_t num_hashes);

// The last x in [low, high] for which holds(x), which is true at low and changes at most once.
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

// The first x in [low, high] for which holds(x), which is true at high and changes at most once.
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
