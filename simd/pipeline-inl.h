// The pipeline that the bulk operations of filters run keys through.
//
// Keys pass a ring in three stages, a few dozen keys apart: locate (hash, addresses), prefetch, and
// visit. The distance between locating and prefetching matters as much as the one behind it: the
// addresses are written as vectors and read one by one, which the processor cannot forward from a
// store that is still in flight.

#if defined(TAMIS_SIMD_PIPELINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_PIPELINE_INL_H_
#undef TAMIS_SIMD_PIPELINE_INL_H_
#else
#define TAMIS_SIMD_PIPELINE_INL_H_
#endif

#include <hwy/highway.h>

#include "simd/hash-inl.h"
#include "simd/unroll.h"
#include "tamis/detail/batch.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Distances in keys, ahead of the visit. Measured: bench/NOTES.md.
inline constexpr size_t kPrefetchAhead = 64;
inline constexpr size_t kLocateAhead = 128;
inline constexpr size_t kRing = 256;  // a power of two above kLocateAhead + kStep
static_assert((kRing & (kRing - 1)) == 0 && kRing >= kLocateAhead + kStep);

// How filters are prefetched, by their size.
enum class Prefetch {
  kNone,
  kL1,
  kL2,  // only as far as the second-level cache: more lines can be under way
};
inline constexpr uint64_t kFarBytes = uint64_t{64} << 20;  // from here on kL2

using Ring = uint64_t[kRing];

template <Prefetch kPrefetch>
HWY_INLINE void PrefetchStep(const char* base, const uint64_t* HWY_RESTRICT offsets) {
  if constexpr (kPrefetch == Prefetch::kNone) return;
  TAMIS_UNROLL
  for (size_t i = 0; i < kStep; ++i) {
    if constexpr (kPrefetch == Prefetch::kL2) {
      __builtin_prefetch(base + offsets[i], 0, 2);
    } else {
      __builtin_prefetch(base + offsets[i], 0, 3);
    }
  }
}

// For each kStep values from i on calls, in this order, locate(i, at), which writes the offsets of
// what is to be prefetched to positions `at` of the rings, and visit(i, at). n is a multiple of
// kStep. locate is called for i >= n, too, for values that are not there: nobody reads what it then
// writes to the rings, and compilers keep the constants of what has no branch in registers.
// (Prefetching is not a function of the caller's as well, for g++ takes one that does nothing else
// for one without effects, and leaves it out.)
template <Prefetch kPrefetch, size_t kRings, typename Locate, typename Visit>
HWY_INLINE void ForEachStep(const uint64_t* values, size_t n, const char* base,
                            const Ring (&offsets)[kRings], const Locate& locate,
                            const Visit& visit) {
  for (size_t i = 0; i < n && i < kLocateAhead; i += kStep) locate(i, i);
  for (size_t i = 0; i < n && i < kPrefetchAhead; i += kStep) {
    for (size_t r = 0; r < kRings; ++r) PrefetchStep<kPrefetch>(base, offsets[r] + i);
  }
  for (size_t i = 0; i < n; i += kStep) {
    __builtin_prefetch(values + i + kLocateAhead + kReadAhead);
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
