// The Highway backends: one table of kernels for each target that the compiler can build.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/kernels.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include "core/src/backend/providers.h"
#include "simd/bloom-inl.h"
#include "simd/counting-inl.h"
#include "simd/cuckoo-inl.h"
#include "simd/hash-inl.h"
#include "simd/outputs-inl.h"
#include "simd/split_block-inl.h"
#include "simd/visit_targets.h"
#include "tamis/detail/kernels.h"

// No HWY_BEFORE_NAMESPACE: there is no code here, only constants.
namespace tamis {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
[[maybe_unused]] constexpr Kernels kKernels = {
    .hash = Hash,
    .bits_to_bytes = BitsToBytes,
    .bits_to_indices32 = BitsToIndices<uint32_t>,
    .bits_to_indices64 = BitsToIndices<uint64_t>,
    .popcount = PopCount,
    .merge = Merge,
    .intersect = Intersect,
    .split_block = {.contains = SplitBlockContains,
                    .insert = SplitBlockInsert,
                    .contains_one = SplitBlockContainsOne,
                    .insert_one = SplitBlockInsertOne},
    .cuckoo8 = kCuckoo<8>,
    .cuckoo12 = kCuckoo<12>,
    .cuckoo16 = kCuckoo<16>,
    .bloom = {.contains = BloomContains,
              .insert = BloomInsert,
              .contains_one = bloom::Contains,
              .insert_one = bloom::Insert},
    .counting = {.contains = CountingContains,
                 .insert = CountingInsert,
                 .contains_one = CountingContainsOne,
                 .insert_one = CountingInsertOne,
                 .erase_one = CountingEraseOne},
};
[[maybe_unused]] constexpr const char* kDescription = HWY_MAX_BYTES == 16   ? "128-bit vectors"
                                                      : HWY_MAX_BYTES == 32 ? "256-bit vectors"
                                                      : HWY_MAX_BYTES == 64 ? "512-bit vectors"
                                                                            : "scalable vectors";
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tamis

#if HWY_ONCE
namespace tamis {
namespace {

struct Entry {
  int64_t target;
  const char* description;
  const Kernels* kernels;
};

#define TAMIS_ENTRY(TARGET, NAMESPACE) Entry{TARGET, NAMESPACE::kDescription, &NAMESPACE::kKernels},
constexpr Entry kEntries[] = {TAMIS_VISIT_TARGETS(TAMIS_ENTRY) Entry{0, nullptr, nullptr}};
#undef TAMIS_ENTRY

}  // namespace

std::vector<Backend> SimdBackends() {
  const int64_t supported = hwy::SupportedTargets();
  std::vector<Backend> backends;
  for (const Entry& entry : kEntries) {
    if ((entry.target & supported) == 0) continue;
    backends.push_back({hwy::TargetName(entry.target), entry.description, entry.kernels});
  }
  return backends;
}

}  // namespace tamis
#endif  // HWY_ONCE
