// Vector forms of the hashes of integer keys, mirroring tamis/hash.h.

#if defined(TAMIS_SIMD_HASH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_HASH_INL_H_
#undef TAMIS_SIMD_HASH_INL_H_
#else
#define TAMIS_SIMD_HASH_INL_H_
#endif

#include <hwy/highway.h>

#include <cassert>
#include <type_traits>

#include "tamis/detail/batch.h"
#include "tamis/detail/compiler.h"
#include "tamis/hash.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

#undef TAMIS_NEON64
#if defined(HWY_ALL_NEON)  // Highway has more than one NEON target
#define TAMIS_NEON64 (HWY_ARCH_ARM_A64 && (HWY_TARGET & HWY_ALL_NEON) != 0)
#else
#define TAMIS_NEON64 (HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON)
#endif

// With two lanes, 64-bit multiplications made of smaller ones, or lane by lane, are slower than one
// key at a time.
#undef TAMIS_SCALAR_HASHES
#define TAMIS_SCALAR_HASHES (HWY_TARGET == HWY_SSE4 || TAMIS_NEON64)

// Keys are hashed and located in steps of eight, in one or more vectors.
inline constexpr size_t kStep = 8;
// Number of keys by which keys are prefetched ahead. Hardware prefetchers stop at the ends of
// pages, and a late key delays all later stages (bench/NOTES.md).
inline constexpr size_t kReadAhead = 256;
using D64 = hn::CappedTag<uint64_t, kStep>;
using V64 = hn::Vec<D64>;
using D32 = hn::Repartition<uint32_t, D64>;
using V32 = hn::Vec<D32>;

// Exchanges the halves of each lane. On x86 this is a shuffle. In contrast to shifts, shuffles use
// a port that the multiplications leave free.
HWY_INLINE V64 SwapHalves(D64 d, V64 v) {
  return hn::BitCast(d, hn::Shuffle2301(hn::BitCast(D32(), v)));
}

// Returns x rotated left by 24 bits. This is also a shuffle, because 24 bits are whole bytes.
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

// A vector of keys is hashed in stages of about one multiplication each, so that other work can run
// between the stages. Ready hashes stay unchanged.
inline constexpr int kHashStages = 6;

template <Source kSource, int kStage>
HWY_INLINE V64 HashStage(D64 d, V64 h, V64 seed_term) {
  static_assert(kStage >= 0 && kStage < kHashStages);
  if constexpr (kSource == Source::kXxh3Of4) {
    if constexpr (kStage == 0) {
      return hn::Xor(hn::BitCast(d, hn::DupEven(hn::BitCast(D32(), h))), seed_term);
    }
    if constexpr (kStage == 3) {
      return hn::Xor(h, hn::Add(hn::ShiftRight<35>(h), hn::Set(d, hash::kKeyBytesOf4)));
    }
    return HashStage<Source::kXxh3, kStage>(d, h, seed_term);
  } else if constexpr (kSource == Source::kXxh64Of4) {
    if constexpr (kStage == 0) {
      return hn::Mul(hn::And(h, hn::Set(d, 0xFFFFFFFF)), hn::Set(d, hash::kXxh64Prime1));
    }
    if constexpr (kStage == 1) return hn::Xor(h, seed_term);
    if constexpr (kStage == 2) {
      return hn::Add(hn::Mul(hn::RotateRight<64 - 23>(h), hn::Set(d, hash::kXxh64Prime2)),
                     hn::Set(d, hash::kXxh64Prime3));
    }
    if constexpr (kStage >= 3) return HashStage<Source::kXxh64, kStage>(d, h, seed_term);
  } else if constexpr (kSource == Source::kXxh3) {
    if constexpr (kStage == 0) return hn::Xor(SwapHalves(d, h), seed_term);
    if constexpr (kStage == 1) {
      return hn::Xor(h, hn::Xor(hn::RotateRight<64 - 49>(h), RotateLeft24(d, h)));
    }
    if constexpr (kStage == 2 || kStage == 4) return hn::Mul(h, hn::Set(d, hash::kXxh3Mix));
    if constexpr (kStage == 3) {
      return hn::Xor(h, hn::Add(hn::ShiftRight<35>(h), hn::Set(d, hash::kKeyBytes)));
    }
    if constexpr (kStage == 5) return hn::Xor(h, hn::ShiftRight<28>(h));
  } else if constexpr (kSource == Source::kXxh64) {
    const V64 prime1 = hn::Set(d, hash::kXxh64Prime1);
    const V64 prime2 = hn::Set(d, hash::kXxh64Prime2);
    if constexpr (kStage == 0) return hn::Mul(h, prime2);
    if constexpr (kStage == 1) return hn::Mul(hn::RotateRight<64 - 31>(h), prime1);
    if constexpr (kStage == 2) {
      return hn::Add(hn::Mul(hn::RotateRight<64 - 27>(hn::Xor(seed_term, h)), prime1),
                     hn::Set(d, hash::kXxh64Prime4));
    }
    if constexpr (kStage == 3) return hn::Mul(hn::Xor(h, hn::ShiftRight<33>(h)), prime2);
    if constexpr (kStage == 4) {
      return hn::Mul(hn::Xor(h, hn::ShiftRight<29>(h)), hn::Set(d, hash::kXxh64Prime3));
    }
    if constexpr (kStage == 5) return hn::Xor(h, hn::ShiftRight<32>(h));
  } else {
    return h;
  }
}

// Returns the argument of hash::Xxh3Middle.
HWY_INLINE V64 Xxh3Front(D64 d, V64 value, V64 seed_term) {
  const V64 x = HashStage<Source::kXxh3, 0>(d, value, seed_term);
  return HashStage<Source::kXxh3, 1>(d, x, seed_term);
}

template <Source kSource>
HWY_INLINE V64 HashLanes(D64 d, V64 h, V64 seed_term) {
  h = HashStage<kSource, 0>(d, h, seed_term);
  h = HashStage<kSource, 1>(d, h, seed_term);
  h = HashStage<kSource, 2>(d, h, seed_term);
  h = HashStage<kSource, 3>(d, h, seed_term);
  h = HashStage<kSource, 4>(d, h, seed_term);
  return HashStage<kSource, 5>(d, h, seed_term);
}

// Returns the hash of one key.
template <Source kSource>
HWY_INLINE uint64_t HashOne(uint64_t value, uint64_t seed_term) {
  if constexpr (kSource == Source::kXxh3) return hash::Xxh3(value, seed_term);
  if constexpr (kSource == Source::kXxh64) return hash::Xxh64(value, seed_term);
  const uint32_t four = static_cast<uint32_t>(value);
  if constexpr (kSource == Source::kXxh3Of4) return hash::Xxh3Of4(four, seed_term);
  if constexpr (kSource == Source::kXxh64Of4) return hash::Xxh64Of4(four, seed_term);
  return value;
}

// Returns x rotated left by 16 bits.
HWY_INLINE V64 RotateLeft16(D64 d, V64 v) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  alignas(16) static constexpr uint8_t kBytes[16] = {6,  7,  0, 1, 2,  3,  4,  5,
                                                     14, 15, 8, 9, 10, 11, 12, 13};
  const hn::Repartition<uint8_t, D64> d8;
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, kBytes)));
#else
  (void)d;
  return hn::RotateRight<64 - 16>(v);
#endif
}

HWY_INLINE void SipRound(D64 d, V64& v0, V64& v1, V64& v2, V64& v3) {
  v0 = hn::Add(v0, v1);
  v2 = hn::Add(v2, v3);
  v1 = hn::Xor(hn::RotateRight<64 - 13>(v1), v0);
  v3 = hn::Xor(RotateLeft16(d, v3), v2);
  v0 = SwapHalves(d, v0);
  v2 = hn::Add(v2, v1);
  v0 = hn::Add(v0, v3);
  v1 = hn::Xor(hn::RotateRight<64 - 17>(v1), v2);
  v3 = hn::Xor(hn::RotateRight<64 - 21>(v3), v0);
  v2 = SwapHalves(d, v2);
}

template <int kRounds>
HWY_INLINE void SipRounds(D64 d, V64& a0, V64& a1, V64& a2, V64& a3, V64& b0, V64& b1, V64& b2,
                          V64& b3) {
  TAMIS_UNROLL
  for (int i = 0; i < kRounds; ++i) {
    SipRound(d, a0, a1, a2, a3);
    SipRound(d, b0, b1, b2, b3);
  }
}

// Replaces keys by their hashes. Takes two vectors at a time, because the rounds are dependency
// chains (bench/NOTES.md).
template <int kC, int kD>
HWY_INLINE void SipTwo(D64 d, V64 k0, V64 k1, V64& a, V64& b) {
  const V64 length = hn::Set(d, hash::kKeyBytes << 56);
  const V64 last = hn::Set(d, hash::kSipLast);
  V64 a0 = hn::Xor(k0, hn::Set(d, hash::kSip0)), b0 = a0;
  V64 a1 = hn::Xor(k1, hn::Set(d, hash::kSip1)), b1 = a1;
  V64 a2 = hn::Xor(k0, hn::Set(d, hash::kSip2)), b2 = a2;
  V64 a3 = hn::Xor(k1, hn::Set(d, hash::kSip3)), b3 = hn::Xor(a3, b);
  a3 = hn::Xor(a3, a);
  SipRounds<kC>(d, a0, a1, a2, a3, b0, b1, b2, b3);
  a0 = hn::Xor(a0, a);
  b0 = hn::Xor(b0, b);
  a3 = hn::Xor(a3, length);
  b3 = hn::Xor(b3, length);
  SipRounds<kC>(d, a0, a1, a2, a3, b0, b1, b2, b3);
  a0 = hn::Xor(a0, length);
  b0 = hn::Xor(b0, length);
  a2 = hn::Xor(a2, last);
  b2 = hn::Xor(b2, last);
  SipRounds<kD>(d, a0, a1, a2, a3, b0, b1, b2, b3);
  a = hn::Xor(hn::Xor(a0, a1), hn::Xor(a2, a3));
  b = hn::Xor(hn::Xor(b0, b1), hn::Xor(b2, b3));
}

// Calls fn with the source of a batch as a compile-time constant. IsCommon(source) must be true.
template <typename Fn>
HWY_INLINE void WithSource(Source source, const Fn& fn) {
  assert(IsCommon(source));
  if (source == Source::kXxh3) return fn(std::integral_constant<Source, Source::kXxh3>());
  if (source == Source::kXxh64) return fn(std::integral_constant<Source, Source::kXxh64>());
  return fn(std::integral_constant<Source, Source::kHashes>());
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
