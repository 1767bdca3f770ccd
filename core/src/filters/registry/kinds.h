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

// The false-positive rate with `header.capacity` keys. Of a kind that has no layers.
double FprWhenFull(const FileHeader& header);
// By Kind::old_fpr_when_full.
double OldFprWhenFull(const FileHeader& header);

// The figures of a typical machine for filters of that kind on a backend: none if it is not
// measured.
std::span<const CostAtSize> TypicalCostsOf(const Kind& kind, std::string_view backend) noexcept;

// Whether ordering `keys` insertions by region is expected to beat writing them straight into a
// filter of so many bytes, on one thread of a typical machine.
bool PartitioningPays(FilterKind kind, std::string_view backend, uint64_t filter_bytes,
                      uint64_t keys) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_REGISTRY_KINDS_H_
