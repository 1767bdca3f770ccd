// The kernels of one target of Highway, family by family: each is a constant in a file of its own.
#ifndef TAMIS_SIMD_FAMILIES_H_
#define TAMIS_SIMD_FAMILIES_H_

#include <cstdint>

#include "tamis/detail/kernels.h"

namespace tamis::detail::simd {

// nullptr where the compiler could not build that target (HWY_AVX2 ...).
const CommonKernels* common(int64_t target);
#define TAMIS_FAMILY(Type, name) const Type* name(int64_t target);
TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY

}  // namespace tamis::detail::simd

#endif  // TAMIS_SIMD_FAMILIES_H_
