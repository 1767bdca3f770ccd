// Strings sorted by lengths, and the last steps of XXH3: see tamis/detail/string_kernels.h.

#if defined(TAMIS_SIMD_STRINGS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_STRINGS_INL_H_
#undef TAMIS_SIMD_STRINGS_INL_H_
#else
#define TAMIS_SIMD_STRINGS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>

#include "simd/hash-inl.h"
#include "tamis/detail/string_kernels.h"
#include "tamis/hash.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3_DL

inline void SortByLength(const LengthClasses& classes, const uint8_t* lengths, size_t n,
                         SortedStrings& sorted) {
  const hn::CappedTag<uint8_t, 64> d;
  uint8_t* ends[LengthClasses::kCount];
  for (size_t c = 0; c < LengthClasses::kCount; ++c) ends[c] = sorted.numbers[c];
  for (size_t i = 0; i < n; i += 64) {
    const auto length = hn::LoadU(d, lengths + i);
    const auto number = hn::Iota(d, static_cast<uint8_t>(i));
    uint64_t left = n - i < 64 ? (uint64_t{1} << (n - i)) - 1 : ~uint64_t{0};
    for (size_t c = 0; c < LengthClasses::kCount; ++c) {
      uint64_t in = left;
      if (c < classes.longest.size()) {
        const auto longest = hn::Set(d, classes.longest[c]);
        in &= _mm512_cmple_epu8_mask(length.raw, longest.raw);
      }
      if (in == 0) continue;
      // Highway 1.0.3 cannot compress bytes.
      _mm512_storeu_si512(ends[c], _mm512_maskz_compress_epi8(in, number.raw));
      ends[c] += std::popcount(in);
      left &= ~in;
    }
  }
  for (size_t c = 0; c < LengthClasses::kCount; ++c) {
    sorted.counts[c] = static_cast<size_t>(ends[c] - sorted.numbers[c]);
  }
}

#else

inline void SortByLength(const LengthClasses& classes, const uint8_t* lengths, size_t n,
                         SortedStrings& sorted) {
  const hn::CappedTag<uint8_t, 64> d;
  uint8_t bits[kStringsAtOnce];
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto length = hn::LoadU(d, lengths + i);
    auto bit = hn::Set(d, uint8_t{1});
    for (size_t c = 0; c < classes.longest.size(); ++c) {
      bit = hn::IfThenElse(hn::Gt(length, hn::Set(d, classes.longest[c])),
                           hn::Set(d, static_cast<uint8_t>(2 << c)), bit);
    }
    hn::StoreU(bit, d, bits + i);
  }
  SortByClass(bits, n, sorted);
}

#endif

inline void EndAllXxh3(const uint8_t* lengths, size_t n, uint64_t* hashes) {
  size_t i = 0;
#if !TAMIS_SCALAR_HASHES
  const D64 d;
  const hn::Rebind<uint32_t, D64> d32;
  const hn::Rebind<uint8_t, D64> d8;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const V64 length = hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(d8, lengths + i)));
    const V64 factor = hn::IfThenElse(hn::Gt(length, hn::Set(d, kXxh3ShortLength)),
                                      hn::Set(d, hash::kXxh64Prime1), hn::Set(d, 1));
    V64 h = hn::Add(hn::LoadU(d, hashes + i), hn::Mul(length, factor));
    h = hn::Mul(hn::Xor(h, hn::ShiftRight<37>(h)), hn::Set(d, kXxh3Avalanche));
    hn::StoreU(hn::Xor(h, hn::ShiftRight<32>(h)), d, hashes + i);
  }
#endif
  for (; i < n; ++i) hashes[i] = EndXxh3(lengths[i], hashes[i]);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
