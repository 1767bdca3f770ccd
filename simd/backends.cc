// The Highway backends: one for each target that the compiler can build and this machine runs.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/backends.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <vector>

#include "core/src/backend/providers.h"
#include "simd/families.h"
#include "simd/visit_targets.h"

// HWY_BEFORE_NAMESPACE is only for code, and this namespace contains only a constant.
namespace tamis::detail {
namespace HWY_NAMESPACE {

[[maybe_unused]] constexpr const char* kDescription = HWY_MAX_BYTES == 16   ? "128-bit vectors"
                                                      : HWY_MAX_BYTES == 32 ? "256-bit vectors"
                                                      : HWY_MAX_BYTES == 64 ? "512-bit vectors"
                                                                            : "scalable vectors";

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail

#if HWY_ONCE
namespace tamis::detail {
namespace {

struct Target {
  int64_t target;
  const char* description;
};

#define TAMIS_TARGET(TARGET, NAMESPACE, ...) Target{TARGET, NAMESPACE::kDescription},
constexpr Target kTargets[] = {TAMIS_VISIT_TARGETS(TAMIS_TARGET, ) Target{0, nullptr}};
#undef TAMIS_TARGET

// Families that the build leaves out (TAMIS_KERNELS) have portable kernels.
Kernels KernelsOf(int64_t target) {
  Kernels kernels = PortableKernels();
  static_cast<CommonKernels&>(kernels) = *simd::common(target);
#define TAMIS_FAMILY(Type, name) \
  if (const Type* const family = simd::name(target)) kernels.name = *family;
  TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY
  return kernels;
}

}  // namespace

std::vector<ProvidedBackend> SimdBackends() {
  const int64_t supported = hwy::SupportedTargets();
  std::vector<ProvidedBackend> backends;
  for (const Target& target : kTargets) {
    if ((target.target & supported) == 0) continue;
    backends.push_back(
        {hwy::TargetName(target.target), target.description, KernelsOf(target.target)});
  }
  return backends;
}

}  // namespace tamis::detail
#endif  // HWY_ONCE
