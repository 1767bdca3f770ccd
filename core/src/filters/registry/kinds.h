// The table of the kinds of filters.
#ifndef TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_
#define TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "core/src/filters/base/kind.h"

namespace tamis::detail {

// The fast default first.
std::span<const Kind* const> Kinds() noexcept;

// nullptr if there is none of that number.
const Kind* FindKind(FilterKind kind) noexcept;
// For a kind that is one, as those of filters and of headers that have passed their checks.
const Kind& KindOf(FilterKind kind) noexcept;

// The figures of a typical machine for filters of that kind on a backend: none if it is not
// measured.
std::span<const CostAtSize> TypicalCostsOf(const Kind& kind, std::string_view backend) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_
