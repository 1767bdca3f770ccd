// The exact forms of join filters: ranges, bitmaps and short lists of values.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/join.cc"
#include <hwy/foreach_target.h>  // compiles the rest of this file once per target
//
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "simd/families.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/join_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tamis::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

namespace join {

// Values that become one word of the result.
inline constexpr size_t kWord = 64;
// Calls visit(values, bits) for 64 values at a time, and then for the rest, which is copied because
// visit reads 64 values.
template <typename Visit>
HWY_INLINE void ForEachWord(const uint64_t* values, size_t n, uint64_t* HWY_RESTRICT bits,
                            const Visit& visit) {
  size_t i = 0;
  for (; i + kWord <= n; i += kWord) bits[i / kWord] = visit(values + i);
  if (i == n) return;
  alignas(64) uint64_t rest[kWord] = {};
  std::copy_n(values + i, n - i, rest);
  bits[i / kWord] = visit(rest) & ((uint64_t{1} << (n - i)) - 1);
}

// Returns a word with a bit for each of 64 bytes: whether it has the bit of its mask.
template <typename MaskAt>
HWY_INLINE uint64_t TestBytes(const uint8_t* HWY_RESTRICT bytes, const MaskAt& mask_at) {
  const hn::CappedTag<uint8_t, kWord> d;
  alignas(8) uint8_t word[8 + 8] = {};  // StoreMaskBits may write 8 bytes from any of the first 8
  for (size_t i = 0; i < kWord; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::TestBit(hn::Load(d, bytes + i), mask_at(d, i)), word + i / 8);
  }
  uint64_t bits;
  hwy::CopyBytes<8>(word, &bits);
  return bits;
}

void InRange(const ValueRange& range, const uint64_t* values, size_t n, uint64_t* bits) {
  const hn::CappedTag<uint64_t, 8> d;
  const auto low = hn::Set(d, range.low);
  const auto span = hn::Set(d, range.span);
  ForEachWord(values, n, bits, [&](const uint64_t* HWY_RESTRICT from) HWY_ATTR {
    uint64_t word = 0;
    TAMIS_UNROLL
    for (size_t i = 0; i < kWord; i += hn::Lanes(d)) {
      const auto offset = hn::Sub(hn::LoadU(d, from + i), low);
      alignas(8) uint8_t lanes[8] = {};
      hn::StoreMaskBits(d, hn::Eq(hn::Min(offset, span), offset), lanes);
      word |= uint64_t{lanes[0]} << i;
    }
    return word;
  });
}

void InList(const ValueList& list, const uint64_t* values, size_t n, uint64_t* bits) {
  const uint64_t* HWY_RESTRICT slots = list.slots;
  const uint64_t multiplier = list.multiplier;
  const int shift = list.shift;
  ForEachWord(values, n, bits, [&](const uint64_t* HWY_RESTRICT from) HWY_ATTR {
    alignas(64) uint8_t equal[kWord];
    TAMIS_UNROLL
    for (size_t i = 0; i < kWord; ++i) equal[i] = slots[(from[i] * multiplier) >> shift] == from[i];
    return TestBytes(equal, [](auto d, size_t) HWY_ATTR { return hn::Set(d, uint8_t{1}); });
  });
}

// Values that pass a stage before the first of them passes the next one. A processor cannot forward
// an element from a store of a whole vector that is still in flight, nor a vector from stores of
// its elements. Locating the values of the next stage takes no time of its own, because reading the
// bitmap waits for the caches.
inline constexpr size_t kStage = 128;
// Values that are located at a time.
inline constexpr size_t kLocated = 8;

// Finds the byte and the bit of each value. A value outside of the range gets the offset span + 1,
// whose bit is 0, so no branch is needed.
struct Located {
  HWY_INLINE void Find(const ValueRange& range, const uint64_t* HWY_RESTRICT values, size_t begin) {
    const hn::CappedTag<uint64_t, kLocated> d;
    const hn::Rebind<uint8_t, decltype(d)> d_byte;
    const auto low = hn::Set(d, range.low);
    const auto last = hn::Set(d, range.span + 1);
    const auto one = hn::Set(d, uint64_t{1});
    const auto seven = hn::Set(d, uint64_t{7});
    for (size_t i = begin; i < begin + kLocated; i += hn::Lanes(d)) {
      const auto offset = hn::Min(hn::Sub(hn::LoadU(d, values + i), low), last);
      hn::StoreU(hn::ShiftRight<3>(offset), d, indices + i);
      const auto mask = hn::Shl(one, hn::And(offset, seven));
      hn::StoreU(hn::TruncateTo(d_byte, mask), d_byte, masks + i);
    }
  }

  alignas(64) uint64_t indices[kStage];  // of the bytes
  alignas(64) uint8_t masks[kStage];     // the bits
};

// `n` is a multiple of kWord.
HWY_INLINE void InBitmapWords(const uint8_t* HWY_RESTRICT bitmap, const ValueRange& range,
                              const uint64_t* values, size_t n, uint64_t* HWY_RESTRICT bits) {
  Located located[2];
  alignas(64) uint8_t bytes[kStage];
  for (size_t i = 0; i < n && i < kStage; i += kLocated) located[0].Find(range, values, i);
  for (size_t begin = 0, stage = 0; begin < n; begin += kStage, ++stage) {
    const size_t count = std::min(kStage, n - begin);
    const size_t next_count = std::min(kStage, n - begin - count);
    const Located& now = located[stage % 2];
    Located& next = located[(stage + 1) % 2];
    for (size_t i = 0; i < count; i += kLocated) {
      TAMIS_UNROLL
      for (size_t j = i; j < i + kLocated; ++j) bytes[j] = bitmap[now.indices[j]];
      if (i < next_count) next.Find(range, values + begin + kStage, i);
    }
    for (size_t i = 0; i < count; i += kWord) {
      bits[(begin + i) / kWord] = TestBytes(
          bytes + i, [&](auto d, size_t j) HWY_ATTR { return hn::Load(d, now.masks + i + j); });
    }
  }
}

void InBitmap(const uint64_t* words, const ValueRange& range, const uint64_t* values, size_t n,
              uint64_t* bits) {
  const auto* const bitmap = reinterpret_cast<const uint8_t*>(words);
  const size_t rest = n % kWord;
  InBitmapWords(bitmap, range, values, n - rest, bits);
  if (rest == 0) return;
  alignas(64) uint64_t last[kWord] = {};
  std::copy_n(values + n - rest, rest, last);
  InBitmapWords(bitmap, range, last, kWord, bits + n / kWord);
  bits[n / kWord] &= (uint64_t{1} << rest) - 1;
}

}  // namespace join

[[maybe_unused]] constexpr JoinKernels kJoin = {
    .in_range = join::InRange, .in_bitmap = join::InBitmap, .in_list = join::InList};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace tamis::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tamis::detail::simd {

TAMIS_DEFINE_FAMILY(JoinKernels, join, kJoin)

}  // namespace tamis::detail::simd
#endif  // HWY_ONCE
