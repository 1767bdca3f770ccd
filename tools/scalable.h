// Scalable filters, whose class depends on the kind of their layers.
#ifndef TAMIS_TOOLS_SCALABLE_H_
#define TAMIS_TOOLS_SCALABLE_H_

#include <tamis/any_filter.h>
#include <tamis/file.h>
#include <tamis/scalable_filter.h>

#include <string>
#include <vector>

namespace tamis::tools {

// The names of the kinds that layers can be of.
std::vector<std::string> LayerKindNames();

// Throws Error(kInvalidArgument) as the constructor does, or if layers cannot be of that kind.
AnyFilter MakeScalable(FilterKind layer_kind, const ScalableOptions& options);

struct ScalableView {
  ScalableOptions options;
  std::vector<const Filter*> layers;  // oldest first; as long as the filter lives
};

// Of a filter of kind kScalable.
ScalableView ViewScalable(const AnyFilter& filter);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_SCALABLE_H_
