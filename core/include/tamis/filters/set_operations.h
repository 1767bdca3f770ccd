// Union and intersection of filters of any class. Each class that has them has members for it, too.
#ifndef TAMIS_FILTERS_SET_OPERATIONS_H_
#define TAMIS_FILTERS_SET_OPERATIONS_H_

#include <string>

#include "tamis/filters/filter.h"

namespace tamis {

// Yes, or why not.
struct MergeCheck {
  std::string reason;  // empty if the filters can be merged; one sentence without a period

  explicit operator bool() const noexcept { return reason.empty(); }
};

// Whether `a` and `b` can be merged or intersected: both must be of the same kind, one that can be
// merged at all, and agree in geometry, hash and seed.
MergeCheck CanMerge(const Filter& a, const Filter& b);

// Adds all keys of `other` to `filter`, as Merge of its class does. Throws Error(kIncompatible)
// with the reason unless CanMerge(filter, other), Error(kReadOnly).
void Merge(Filter& filter, const Filter& other);

// Keeps the keys that are in both, as Intersect of its class does. Throws Error(kUnsupported) for a
// kind without intersections. Its other errors are those of Merge.
void Intersect(Filter& filter, const Filter& other);

}  // namespace tamis

#endif  // TAMIS_FILTERS_SET_OPERATIONS_H_
