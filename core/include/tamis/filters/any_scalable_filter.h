// Scalable filters whose kind of layers is known at run time.
#ifndef TAMIS_FILTERS_ANY_SCALABLE_FILTER_H_
#define TAMIS_FILTERS_ANY_SCALABLE_FILTER_H_

#include <optional>
#include <vector>

#include "tamis/file/file.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/scalable_filter.h"

namespace tamis {

// Returns a scalable filter with layers of a kind whose FilterKindInfo::can_be_layer is true.
// Throws Error(kInvalidArgument) for any other kind, and the errors of the constructor.
AnyFilter MakeScalableFilter(FilterKind layers, const ScalableOptions& options);

// A scalable filter with layers of any kind.
struct ScalableView {
  ScalableOptions options;            // the options of the filter
  std::vector<const Filter*> layers;  // oldest first; valid until the filter changes
};

// Returns std::nullopt for a filter that is not scalable.
std::optional<ScalableView> ViewScalable(const Filter& filter);

}  // namespace tamis

#endif  // TAMIS_FILTERS_ANY_SCALABLE_FILTER_H_
