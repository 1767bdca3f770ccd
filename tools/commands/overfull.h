// Finds filters that contain far more keys than they were sized for.
#ifndef TAMIS_TOOLS_COMMANDS_OVERFULL_H_
#define TAMIS_TOOLS_COMMANDS_OVERFULL_H_

#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/sizing.h>

#include <algorithm>

namespace tamis::tools {

// Returns the false-positive rate that a filter was sized for: the larger of `asked` and the rate
// at the filter's capacity. If the rate at the capacity exceeds kMaxFpr, kMaxFpr replaces it.
inline double RateSizedFor(const Filter& filter, double asked) {
  const double at_capacity =
      FilterFpr(filter.kind(), static_cast<double>(filter.capacity()), filter.bytes());
  return std::max(asked, std::min(at_capacity, kMaxFpr));
}

// Returns whether `rate` exceeds the smaller of 10 * r and (1 + r) / 2 for the rate r =
// `sized_for`.
inline bool IsTooHigh(double rate, double sized_for) {
  return rate > std::min(10 * sized_for, (1 + sized_for) / 2);
}

// Does the same for the rate that the filter was sized for.
inline bool IsTooHigh(double rate, const Filter& filter, double asked) {
  return IsTooHigh(rate, RateSizedFor(filter, asked));
}

// Returns whether the expected rate is too high. A scalable filter is never overfull.
inline bool IsOverfull(const Filter& filter, double asked) {
  return !KindInfo(filter.kind()).has_layers && IsTooHigh(filter.expected_fpr(), filter, asked);
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_OVERFULL_H_
