// The table of filter kinds.
#ifndef TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_
#define TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "core/src/filters/base/kind.h"

namespace tamis::detail {

// Returns all kinds. The first one is the default, which is fast.
std::span<const Kind* const> Kinds() noexcept;

// Returns the row of `kind`, or nullptr for an unknown number.
const Kind* FindKind(FilterKind kind) noexcept;
// Returns the row of `kind`, which must be a known kind, such as the kind of a filter or of a
// header that has passed its checks.
const Kind& KindOf(FilterKind kind) noexcept;

// Returns the costs of filters of this kind on a backend, on a typical machine. Returns nothing if
// the kind is not measured.
std::span<const CostAtSize> TypicalCostsOf(const Kind& kind, std::string_view backend) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_
