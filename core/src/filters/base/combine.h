// Code that the set operations of several filter kinds share.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/src/filters/base/kind.h"
#include "tamis/detail/kernels.h"
#include "tamis/filters/filter.h"
#include "tamis/filters/set_operations.h"

namespace tamis::detail {

// Compares the headers of two filters of this kind. The filters can be merged if geometry, hash and
// seed are equal.
MergeCheck CompareForMerge(const Kind& kind, const FileHeader& a, const FileHeader& b);

// Throws Error(kIncompatible) with the reason if two filters of this kind cannot be merged.
void RequireMergeable(const Kind& kind, const Filter& a, const Filter& b);

// Returns the number of bits set in either of two payloads of the same size, a multiple of 8.
uint64_t UnionPopCount(const Kernels& kernels, std::span<const std::byte> a,
                       std::span<const std::byte> b) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_COMBINE_H_
