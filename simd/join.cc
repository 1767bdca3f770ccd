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
// Distance in values of the prefetch of the values themselves.
inline constexpr size_t kValuesAhead = 512;

// Returns a word with the lowest bit of each of 64 bytes.
HWY_INLINE uint64_t LowestBits(const uint8_t* HWY_RESTRICT bytes) {
  const hn::CappedTag<uint8_t, kWord> d;
  const auto one = hn::Set(d, uint8_t{1});
  alignas(8) uint8_t word[8 + 8] = {};  // StoreMaskBits may write 8 bytes from any of the first 8
  for (size_t i = 0; i < kWord; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::TestBit(hn::Load(d, bytes + i), one), word + i / 8);
  }
  uint64_t bits;
  hwy::CopyBytes<8>(word, &bits);
  return bits;
}

// Calls word_of(values) for 64 values at a time, and writes the words. The last values are copied,
// because word_of reads 64 values.
template <typename WordOf>
HWY_INLINE void ForEachWord(const uint64_t* values, size_t n, uint64_t* HWY_RESTRICT bits,
                            const WordOf& word_of) {
  size_t i = 0;
  for (; i + kWord <= n; i += kWord) {
    for (size_t line = 0; line < kWord; line += 8) PrefetchRead(values + i + kValuesAhead + line);
    bits[i / kWord] = word_of(values + i);
  }
  if (i == n) return;
  alignas(64) uint64_t rest[kWord] = {};
  std::copy_n(values + i, n - i, rest);
  bits[i / kWord] = word_of(rest) & ((uint64_t{1} << (n - i)) - 1);
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

// Values outside of the range get the offset span + 1, whose bit is 0. So no branch is needed.
void InBitmap(const uint64_t* HWY_RESTRICT words, const ValueRange& range, const uint64_t* values,
              size_t n, uint64_t* bits) {
  const uint64_t low = range.low;
  const uint64_t last = range.span + 1;
  ForEachWord(values, n, bits, [&](const uint64_t* HWY_RESTRICT from) HWY_ATTR {
    alignas(64) uint8_t present[kWord];
    TAMIS_UNROLL
    for (size_t i = 0; i < kWord; ++i) {
      const uint64_t offset = std::min(from[i] - low, last);
      present[i] = static_cast<uint8_t>(words[offset / 64] >> (offset % 64));
    }
    return LowestBits(present);
  });
}

void InList(const ValueList& list, const uint64_t* values, size_t n, uint64_t* bits) {
  const uint64_t* HWY_RESTRICT slots = list.slots;
  const uint64_t multiplier = list.multiplier;
  const int shift = list.shift;
  ForEachWord(values, n, bits, [&](const uint64_t* HWY_RESTRICT from) HWY_ATTR {
    alignas(64) uint8_t present[kWord];
    TAMIS_UNROLL
    for (size_t i = 0; i < kWord; ++i) {
      present[i] = slots[(from[i] * multiplier) >> shift] == from[i];
    }
    return LowestBits(present);
  });
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
