// The kernels of one target of Highway, by family. Each family is a constant in a file of its own.
#ifndef TAMIS_SIMD_FAMILIES_H_
#define TAMIS_SIMD_FAMILIES_H_

#include <cstdint>

#include "simd/visit_targets.h"
#include "tamis/detail/kernels.h"

namespace tamis::detail::simd {

// Returns nullptr if the compiler could not build the target (HWY_AVX2 ...), or if the build leaves
// the family out.
const CommonKernels* common(int64_t target);
#define TAMIS_FAMILY(Type, name) const Type* name(int64_t target);
TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY

// Defines one of these functions. `constant` is the name of the kernels in the namespace of each
// target.
#define TAMIS_DEFINE_FAMILY(Type, name, constant)      \
  const Type* name([[maybe_unused]] int64_t target) {  \
    TAMIS_VISIT_TARGETS(TAMIS_RETURN_FAMILY, constant) \
    return nullptr;                                    \
  }
#define TAMIS_RETURN_FAMILY(TARGET, NAMESPACE, constant) \
  if (target == TARGET) return &NAMESPACE::constant;

}  // namespace tamis::detail::simd

#endif  // TAMIS_SIMD_FAMILIES_H_
