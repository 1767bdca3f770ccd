// Filters that hold far more keys than they were sized for.
#ifndef TAMIS_TOOLS_COMMANDS_OVERFULL_H_
#define TAMIS_TOOLS_COMMANDS_OVERFULL_H_

#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/sizing.h>

#include <algorithm>

namespace tamis::tools {

// The false-positive rate that a filter was sized for: `asked`, or a higher rate at its capacity.
inline double RateSizedFor(const Filter& filter, double asked) {
  const double at_capacity =
      FilterFpr(filter.kind(), static_cast<double>(filter.capacity()), filter.bytes());
  return std::max(asked, std::min(at_capacity, kMaxFpr));
}

// Whether the rate is ten times the one that the filter was sized for, or halfway to always "maybe"
// for rates that cannot get ten times as high. A scalable filter is never overfull.
inline bool IsOverfull(const Filter& filter, double asked) {
  if (KindInfo(filter.kind()).has_layers) return false;
  const double rate = RateSizedFor(filter, asked);
  return filter.expected_fpr() > std::min(10 * rate, (1 + rate) / 2);
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_OVERFULL_H_
