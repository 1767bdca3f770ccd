// What the set operations of several kinds of filters share.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/detail/kernels.h"
#include "tamis/filter.h"

namespace tamis::detail {

// Throws Error(kIncompatible) with the reason unless CanMerge(a, b).
void RequireMergeable(const Filter& a, const Filter& b);

// The number of bits set in either of two payloads of the same size, a multiple of 8.
uint64_t UnionPopCount(const Kernels& kernels, std::span<const std::byte> a,
                       std::span<const std::byte> b) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_
