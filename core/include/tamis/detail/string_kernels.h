// Strings as the kernels see them. A loop over strings of different lengths mispredicts branches.
// So strings are sorted by classes of lengths, and their hashes are finished by vectors.
#ifndef TAMIS_DETAIL_STRING_KERNELS_H_
#define TAMIS_DETAIL_STRING_KERNELS_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tamis/cpp20.h"
#include "tamis/detail/compiler.h"
#include "tamis/hash.h"

namespace tamis::detail {

inline constexpr size_t kStringsAtOnce = 256;  // the number of each fits in a byte

// Eight classes of lengths. A length is a byte, and 255 stands for all longer lengths.
struct LengthClasses {
  static constexpr size_t kCount = 8;  // one class for each bit of a byte
  // The longest length of each class except the last one, ascending, at most 254.
  using Longest = std::array<uint8_t, kCount - 1>;

  constexpr explicit LengthClasses(const Longest& of_classes) : longest(of_classes) {
    for (size_t length = 0; length < bits.size(); ++length) {
      size_t c = 0;
      while (c < longest.size() && length > longest[c]) ++c;
      bits[length] = static_cast<uint8_t>(1 << c);
    }
  }

  Longest longest;
  std::array<uint8_t, 256> bits{};  // the class of each length, as one bit
};

// The numbers of the strings of each class, ascending.
struct SortedStrings {
  size_t counts[LengthClasses::kCount];
  uint8_t numbers[LengthClasses::kCount][kStringsAtOnce + 64];  // written in vectors
};

// For each byte, the positions of its bits that are set, ascending. A position is a byte of a word.
inline constexpr auto kBitNumbers = [] {
  std::array<uint64_t, 256> words{};
  for (size_t bits = 0; bits < words.size(); ++bits) {
    int found = 0;
    for (uint64_t i = 0; i < 8; ++i) {
      if (bits >> i & 1) words[bits] |= i << (8 * found++);
    }
  }
  return words;
}();

// The number of bits that are set: not every baseline processor has an instruction for that.
inline constexpr auto kBitCounts = [] {
  std::array<uint8_t, 256> counts{};
  for (unsigned bits = 0; bits < counts.size(); ++bits) {
    counts[bits] = static_cast<uint8_t>(std::popcount(bits));
  }
  return counts;
}();

// Sorts `n` strings whose classes are `bits`, one bit in each byte. Sets the elements of `bits`
// from `n` to the next multiple of 8.
TAMIS_INLINE void SortByClass(uint8_t* bits, size_t n, SortedStrings& sorted) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kLowBits = 0x0101010101010101;
  const size_t words = (n + 7) / 8;
  std::fill(bits + n, bits + 8 * words, uint8_t{0});
  uint64_t of_eight[kStringsAtOnce / 8];
  std::memcpy(of_eight, bits, 8 * words);
  uint64_t all = 0;
  for (size_t w = 0; w < words; ++w) all |= of_eight[w];
  // Sorts eight strings at a time, because a branch or a counter for each string would take most of
  // the time.
  for (size_t c = 0; c < LengthClasses::kCount; ++c) {
    uint8_t* end = sorted.numbers[c];
    if ((all >> c & kLowBits) != 0) {
      for (size_t w = 0; w < words; ++w) {
        // The product moves bit 8i to 56 + i.
        const size_t in = (of_eight[w] >> c & kLowBits) * 0x0102040810204080 >> 56;
        const uint64_t numbers = kBitNumbers[in] + 8 * w * kLowBits;
        std::memcpy(end, &numbers, sizeof numbers);
        end += kBitCounts[in];
      }
    }
    sorted.counts[c] = static_cast<size_t>(end - sorted.numbers[c]);
  }
}

// XXH3 of strings of 9 to 128 bytes ends with these steps: the length is added, times a prime if it
// exceeds kXxh3ShortLength, and the bits of the sum are mixed ("XXH3_avalanche" in xxhash_spec.md).
inline constexpr uint64_t kXxh3ShortLength = 16;
inline constexpr uint64_t kXxh3Avalanche = 0x165667919E3779F9;  // PRIME_MX1

TAMIS_INLINE uint64_t EndXxh3(uint64_t length, uint64_t sum) {
  // Not a conditional expression: compilers would make a branch of it.
  const uint64_t is_long = -static_cast<uint64_t>(length > kXxh3ShortLength);
  uint64_t h = sum + length * (1 + ((hash::kXxh64Prime1 - 1) & is_long));
  h = (h ^ (h >> 37)) * kXxh3Avalanche;
  return h ^ (h >> 32);
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_STRING_KERNELS_H_
