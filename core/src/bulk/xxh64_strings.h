// XXH64 of many strings in one class of lengths.
#ifndef TAMIS_CORE_SRC_BULK_XXH64_STRINGS_H_
#define TAMIS_CORE_SRC_BULK_XXH64_STRINGS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/src/base/xxh64_steps.h"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"

namespace tamis::detail::xxh64 {

template <typename T>
uint64_t Read(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Returns the last n % 8 bytes of a string of n bytes, n in [kMin, kMax], the first byte lowest.
template <size_t kMin, size_t kMax>
uint64_t Last(const char* p, size_t n) {
  if constexpr (kMin >= 8) {
    return Read<uint64_t>(p + n - 8) >> 1 >> (63 - 8 * (n % 8));
  } else if constexpr (kMin >= 4) {
    static_assert(kMax <= 7);
    return Read<uint32_t>(p) | Read<uint32_t>(p + n - 4) >> (8 * (8 - n)) << 32;
  } else {
    static_assert(kMin == 0 && kMax <= 3);
    static constexpr char kNothing = 0;
    if (n == 0) p = &kNothing;  // `p` may be null
    const size_t middle = n / 2, last = n - (n != 0);
    return Read<uint8_t>(p) | Read<uint8_t>(p + middle) << (8 * middle) |
           Read<uint8_t>(p + last) << (8 * last);
  }
}

// Steps 1 to 3 for at least one stripe. Moves `p` past the stripes.
inline uint64_t TakeStripes(const char*& p, size_t stripes, uint64_t seed) {
  uint64_t a = seed + hash::kXxh64Prime1 + hash::kXxh64Prime2;
  uint64_t b = seed + hash::kXxh64Prime2;
  uint64_t c = seed;
  uint64_t d = seed - hash::kXxh64Prime1;
  do {
    a = Round(a, Read<uint64_t>(p));
    b = Round(b, Read<uint64_t>(p + 8));
    c = Round(c, Read<uint64_t>(p + 16));
    d = Round(d, Read<uint64_t>(p + 24));
    p += 32;
  } while (--stripes != 0);
  const uint64_t h = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return Merge(Merge(Merge(Merge(h, a), b), c), d);
}

// Fills the rests of string i, whose length must be in [kMin, kMax]. Reads only the string's bytes.
template <size_t kMin, size_t kMax>
TAMIS_INLINE void Prepare(std::string_view string, uint64_t seed, size_t i, Xxh64Rests& rests) {
  const char* p = string.data();
  const size_t n = string.size();
  Assume(n >= kMin && n <= kMax);
  rests.lengths[i] = n;
  rests.last[i] = Last<kMin, kMax>(p, n);
  if constexpr (kMin < 32) {
    static_assert(kMin / 8 == kMax / 8);
    rests.states[i] = seed + hash::kXxh64Prime5 + n;
    for (size_t lane = 0; lane < kMin / 8; ++lane) {
      rests.lanes[lane][i] = Read<uint64_t>(p + 8 * lane);
    }
  } else {
    const char* const end = p + n;
    rests.states[i] = TakeStripes(p, n / 32, seed) + n;
    for (size_t lane = 0; lane < Xxh64Rests::kLanes; ++lane) {
      rests.lanes[lane][i] = Read<uint64_t>(std::min(p + 8 * lane, end - 8));
    }
  }
}

template <size_t kMin>
inline constexpr Xxh64Lanes kLanesLeft = kMin < 32 ? static_cast<Xxh64Lanes>(kMin / 8)
                                                   : Xxh64Lanes::kAny;

}  // namespace tamis::detail::xxh64

#endif  // TAMIS_CORE_SRC_BULK_XXH64_STRINGS_H_
