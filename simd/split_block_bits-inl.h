// The bits of keys in the blocks of split-block filters, and masks of them.

#if defined(TAMIS_SIMD_SPLIT_BLOCK_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAMIS_SIMD_SPLIT_BLOCK_BITS_INL_H_
#undef TAMIS_SIMD_SPLIT_BLOCK_BITS_INL_H_
#else
#define TAMIS_SIMD_SPLIT_BLOCK_BITS_INL_H_
#endif

#include <hwy/highway.h>

#include "tamis/layout/split_block.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// A block, in one or two vectors. Blocks of a view may begin at any multiple of 4 bytes, so loads
// and stores are unaligned. With AVX2 and later, unaligned instructions are as fast for aligned
// blocks.
using DBlock = hn::CappedTag<uint32_t, split_block::kWords>;
using VBlock = hn::Vec<DBlock>;

alignas(64) inline constexpr uint32_t kSalts[2 * split_block::kWords] = {
    split_block::Salt(0), split_block::Salt(1), split_block::Salt(2), split_block::Salt(3),
    split_block::Salt(4), split_block::Salt(5), split_block::Salt(6), split_block::Salt(7),
    split_block::Salt(0), split_block::Salt(1), split_block::Salt(2), split_block::Salt(3),
    split_block::Salt(4), split_block::Salt(5), split_block::Salt(6), split_block::Salt(7)};

// Returns the bits of one key in words [w, w + Lanes).
template <class D>
HWY_INLINE hn::Vec<D> WordBits(D d, hn::Vec<D> hash, const uint32_t* HWY_RESTRICT salts) {
  const auto product = hn::Mul(hash, hn::Load(d, salts));
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  // These targets lack a shift with a count for each lane. Instead, converts the float 2^count,
  // whose exponent is the count, to an integer. 2^31 becomes the least integer, which is bit 31.
  const auto exponent = hn::And(hn::ShiftRight<4>(product), hn::Set(d, 31u << 23));
  const auto power = hn::Add(exponent, hn::Set(d, 127u << 23));
  return hn::Vec<D>{_mm_cvttps_epi32(_mm_castsi128_ps(power.raw))};
#else
  return hn::Shl(hn::Set(d, 1u), hn::ShiftRight<27>(product));
#endif
}

HWY_INLINE void SetBits(uint32_t* HWY_RESTRICT block, uint64_t h) {
  const DBlock d;
  const VBlock hash = hn::Set(d, static_cast<uint32_t>(h));
  for (size_t w = 0; w < split_block::kWords; w += hn::Lanes(d)) {
    hn::StoreU(hn::Or(hn::LoadU(d, block + w), WordBits(d, hash, kSalts + w)), d, block + w);
  }
}

// Returns one bit for each of 64 bytes: whether it is `all`.
HWY_INLINE uint64_t PresentBits(const uint8_t* HWY_RESTRICT present, uint8_t all) {
  const hn::CappedTag<uint8_t, 64> d;
  alignas(8) uint8_t bits[8 + 8] = {};  // StoreMaskBits writes whole bytes
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::Eq(hn::Load(d, present + i), hn::Set(d, all)), bits + i / 8);
  }
  uint64_t word;
  hwy::CopyBytes<8>(bits, &word);
  return word;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#endif  // include guard
