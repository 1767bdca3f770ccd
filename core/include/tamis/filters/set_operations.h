// Union and intersection of filters of any class. The classes have member functions for both as
// well.
#ifndef TAMIS_FILTERS_SET_OPERATIONS_H_
#define TAMIS_FILTERS_SET_OPERATIONS_H_

#include <string>

#include "tamis/filters/filter.h"

namespace tamis {

// Converts to true if two filters can be merged. Otherwise `reason` explains why not.
struct MergeCheck {
  std::string reason;  // empty, or one sentence without a period

  // True if the filters can be merged.
  explicit operator bool() const noexcept { return reason.empty(); }
};

// Returns whether `a` and `b` can be merged or intersected. This requires the same geometry, the
// same hash with the same seed or secret, and the same kind. The kind must support merging.
MergeCheck CanMerge(const Filter& a, const Filter& b);

// Adds all keys of `other` to `filter`, like Merge of its class. Throws Error(kIncompatible), with
// the reason, if CanMerge(filter, other) is false. Also throws the other errors of Merge.
void Merge(Filter& filter, const Filter& other);

// Keeps the keys that are in both filters, like Intersect of the class of `filter`. Throws
// Error(kUnsupported) for a kind without intersections, and the errors of Merge.
void Intersect(Filter& filter, const Filter& other);

}  // namespace tamis

#endif  // TAMIS_FILTERS_SET_OPERATIONS_H_
