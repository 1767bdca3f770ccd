// Vector forms of the hashes of integer keys, mirroring tamis/hash.h.

#if defined(TAMIS_SIMD_HASH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_HASH_INL_H_
#undef TAMIS_SIMD_HASH_INL_H_
#else
#define TAMIS_SIMD_HASH_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "tamis/detail/batch.h"
#include "tamis/hash.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Keys are hashed and located in steps of eight, in as many vectors as that takes.
inline constexpr size_t kStep = 8;
// Keys are read this far ahead of the vector at hand: hardware prefetchers stop at the ends of
// pages, and a late key delays all stages behind it (bench/NOTES.md).
inline constexpr size_t kReadAhead = 256;
using D64 = hn::CappedTag<uint64_t, kStep>;
using V64 = hn::Vec<D64>;
using D32 = hn::Repartition<uint32_t, D64>;
using V32 = hn::Vec<D32>;

// Exchanges the halves of each lane. On x86 a shuffle, which unlike a shift runs on a port that the
// multiplications leave free.
HWY_INLINE V64 SwapHalves(D64 d, V64 v) {
  return hn::BitCast(d, hn::Shuffle2301(hn::BitCast(D32(), v)));
}

// x rotated left by 24 bits: whole bytes, hence a shuffle for the same reason.
HWY_INLINE V64 RotateLeft24(D64 d, V64 v) {
#if HWY_ARCH_X86
  alignas(16) static constexpr uint8_t kBytes[16] = {5,  6,  7,  0, 1, 2,  3,  4,
                                                     13, 14, 15, 8, 9, 10, 11, 12};
  const hn::Repartition<uint8_t, D64> d8;
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, kBytes)));
#else
  (void)d;
  return hn::RotateRight<64 - 24>(v);
#endif
}

template <Source kSource>
HWY_INLINE V64 HashLanes(D64 d, V64 value, V64 seed_term) {
  if constexpr (kSource == Source::kXxh3) {
    const V64 mix = hn::Set(d, hash::kXxh3Mix);
    const V64 x = hn::Xor(SwapHalves(d, value), seed_term);
    V64 h = hn::Xor(x, hn::Xor(hn::RotateRight<64 - 49>(x), RotateLeft24(d, x)));
    h = hn::Mul(h, mix);
    h = hn::Xor(h, hn::Add(hn::ShiftRight<35>(h), hn::Set(d, hash::kKeyBytes)));
    h = hn::Mul(h, mix);
    return hn::Xor(h, hn::ShiftRight<28>(h));
  } else if constexpr (kSource == Source::kXxh64) {
    const V64 prime1 = hn::Set(d, hash::kXxh64Prime1);
    const V64 prime2 = hn::Set(d, hash::kXxh64Prime2);
    V64 h = hn::Mul(hn::RotateRight<64 - 31>(hn::Mul(value, prime2)), prime1);
    h = hn::RotateRight<64 - 27>(hn::Xor(seed_term, h));
    h = hn::Add(hn::Mul(h, prime1), hn::Set(d, hash::kXxh64Prime4));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<33>(h)), prime2);
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<29>(h)), hn::Set(d, hash::kXxh64Prime3));
    return hn::Xor(h, hn::ShiftRight<32>(h));
  } else {
    return value;
  }
}

// Calls fn with the source of a batch as a compile-time constant.
template <typename Fn>
HWY_INLINE void WithSource(Source source, const Fn& fn) {
  if (source == Source::kXxh3) return fn(std::integral_constant<Source, Source::kXxh3>());
  if (source == Source::kXxh64) return fn(std::integral_constant<Source, Source::kXxh64>());
  return fn(std::integral_constant<Source, Source::kHashes>());
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
