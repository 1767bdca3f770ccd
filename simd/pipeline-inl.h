// The pipeline of keys in the bulk operations of filters.
//
// Keys pass a ring in three stages, a few dozen keys apart: locate (hash and addresses), prefetch,
// visit. The distance between locating and prefetching matters as much as the distance between
// prefetching and visiting. Addresses are written as vectors and read one by one. A processor
// cannot forward one address from a store of a whole vector that is still in flight.

#if defined(TAMIS_SIMD_PIPELINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_PIPELINE_INL_H_
#undef TAMIS_SIMD_PIPELINE_INL_H_
#else
#define TAMIS_SIMD_PIPELINE_INL_H_
#endif

#include <hwy/highway.h>

#include "simd/hash-inl.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Distances in keys ahead of the visit. Measured in bench/NOTES.md.
inline constexpr size_t kPrefetchAhead = 64;
inline constexpr size_t kLocateAhead = 128;
inline constexpr size_t kRing = 256;  // a power of two above kLocateAhead + kStep
static_assert((kRing & (kRing - 1)) == 0 && kRing >= kLocateAhead + kStep);

// How a filter is prefetched. Its size decides.
enum class Prefetch {
  kNone,
  kL1,
  kL2,  // into the second-level cache only: more lines can be in flight
};
// Filters of at most this size are taken to be in the second-level cache. Larger filters use kL2.
// Measured in bench/NOTES_PREFETCH.md.
inline constexpr uint64_t kFarBytes = uint64_t{2} << 20;

using Ring = uint64_t[kRing];

template <Prefetch kPrefetch>
HWY_INLINE void PrefetchStep(const char* base, const uint64_t* HWY_RESTRICT offsets) {
  if constexpr (kPrefetch == Prefetch::kNone) return;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
    if constexpr (kPrefetch == Prefetch::kL2) {
      PrefetchReadToL2(base + offsets[i]);
    } else {
      PrefetchRead(base + offsets[i]);
    }
  }
}

// Calls locate(i, at) and then visit(i, at) for each kStep values from i on. locate writes the
// offsets to prefetch to positions `at` of the rings. n must be a multiple of kStep. locate is also
// called for i >= n, beyond the values; nothing reads the results of these calls. A branch that
// avoids the calls would keep compilers from holding constants in registers. (The caller does not
// provide a function that prefetches, because GCC treats a function that only prefetches as free of
// effects and removes it.)
template <Prefetch kPrefetch, size_t kRings, typename Locate, typename Visit>
HWY_INLINE void ForEachStep(const uint64_t* values, size_t n, const char* base,
                            const Ring (&offsets)[kRings], const Locate& locate,
                            const Visit& visit) {
  for (size_t i = 0; i < n && i < kLocateAhead; i += kStep) locate(i, i);
  for (size_t i = 0; i < n && i < kPrefetchAhead; i += kStep) {
    for (size_t r = 0; r < kRings; ++r) PrefetchStep<kPrefetch>(base, offsets[r] + i);
  }
  for (size_t i = 0; i < n; i += kStep) {
    PrefetchRead(values + i + kLocateAhead + kReadAhead);
    locate(i + kLocateAhead, (i + kLocateAhead) % kRing);
    if (i + kPrefetchAhead < n) {
      const size_t at = (i + kPrefetchAhead) % kRing;
      for (size_t r = 0; r < kRings; ++r) PrefetchStep<kPrefetch>(base, offsets[r] + at);
    }
    visit(i, i % kRing);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
