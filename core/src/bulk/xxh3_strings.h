// XXH3 of strings in one class of lengths, without its last steps (string_kernels.h).
#ifndef TAMIS_CORE_SRC_BULK_XXH3_STRINGS_H_
#define TAMIS_CORE_SRC_BULK_XXH3_STRINGS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tamis/detail/compiler.h"
#include "tamis/detail/string_kernels.h"
#include "tamis/hash.h"

namespace tamis::detail::xxh3 {

// The beginning of the default secret (kSecret in xxhash_spec.md).
inline constexpr uint8_t kSecret[] = {
    0xB8, 0xFE, 0x6C, 0x39, 0x23, 0xA4, 0x4B, 0xBE, 0x7C, 0x01, 0x81, 0x2C, 0xF7, 0x21, 0xAD, 0x1C,
    0xDE, 0xD4, 0x6D, 0xE9, 0x83, 0x90, 0x97, 0xDB, 0x72, 0x40, 0xA4, 0xA4, 0xB7, 0xB3, 0x67, 0x1F,
    0xCB, 0x79, 0xE6, 0x4E, 0xCC, 0xC0, 0xE5, 0x78, 0x82, 0x5A, 0xD0, 0x7D, 0xCC, 0xFF, 0x72, 0x21,
    0xB8, 0x08, 0x46, 0x74, 0xF7, 0x43, 0x24, 0x8E, 0xE0, 0x35, 0x90, 0xE6, 0x81, 0x3A, 0x26, 0x4C,
    0x3C, 0x28, 0x52, 0xBB, 0x91, 0xC3, 0x00, 0xCB, 0x88, 0xD0, 0x65, 0x8B, 0x1B, 0x53, 0x2E, 0xA3,
    0x71, 0x64, 0x48, 0x97, 0xA2, 0x0D, 0xF9, 0x4E, 0x38, 0x19, 0xEF, 0x46, 0xA9, 0xDE, 0xAC, 0xD8,
    0xA8, 0xFA, 0x76, 0x3F, 0xE3, 0x9C, 0x34, 0x3F, 0xF9, 0xDC, 0xBB, 0xC7, 0xC7, 0x0B, 0x4F, 0x1D,
    0x8A, 0x51, 0xE0, 0x4B, 0xCD, 0xB4, 0x59, 0x31, 0xC8, 0x9F, 0x7E, 0xC9, 0xD9, 0x78, 0x73, 0x64,
    0xEA, 0xC5, 0xAC, 0x83, 0x34, 0xD3, 0xEB, 0xC3};

// Returns 8 bytes of the secret.
constexpr uint64_t Secret(size_t at) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) word |= static_cast<uint64_t>(kSecret[at + i]) << (8 * i);
  return word;
}

// Whether Sum is defined for the strings whose length is in [kMin, kMax]: all of them need the same
// steps.
template <size_t kMin, size_t kMax>
inline constexpr bool kHasSum = (kMin > 8 && kMax <= 16) ||
                                (kMin > 16 && kMax <= 128 && (kMin - 1) / 32 == (kMax - 1) / 32) ||
                                (kMin > 128 && kMax < 240 && kMin / 16 == kMax / 16);

TAMIS_INLINE uint64_t Read(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// Returns the halves of a product, combined by xor.
TAMIS_INLINE uint64_t FoldedProduct(uint64_t a, uint64_t b) {
#if TAMIS_GNU && defined(__x86_64__)
  // g++ 12 would multiply twice, or store the halves and load them again.
  uint64_t low, high;
  asm("mulq %3" : "=a"(low), "=d"(high) : "%0"(a), "rm"(b) : "cc");
  return low ^ high;
#else
  return (a * b) ^ HighProduct(a, b);
#endif
}

TAMIS_INLINE uint64_t Avalanche(uint64_t h) {
  h = (h ^ (h >> 37)) * kXxh3Avalanche;
  return h ^ (h >> 32);
}

// Adds 16 bytes, combined with 16 bytes of the secret.
template <size_t kSecretAt>
TAMIS_INLINE void Add(const char* p, uint64_t seed, uint64_t& sum) {
  sum += FoldedProduct(Read(p) ^ (Secret(kSecretAt) + seed),
                       Read(p + 8) ^ (Secret(kSecretAt + 8) - seed));
#if TAMIS_GNU
  // Otherwise, g++ begins with all multiplications, and does not have enough registers for that.
  asm("" : "+r"(sum));
#endif
}

// Returns the sum for a string whose length is in [kMin, kMax]. EndXxh3 makes the hash from it.
template <size_t kMin, size_t kMax>
TAMIS_INLINE uint64_t Sum(std::string_view string, uint64_t seed) {
  static_assert(kHasSum<kMin, kMax>);
  const char* const p = string.data();
  const char* const end = p + string.size();
  if constexpr (kMax <= 16) {
    const uint64_t low = Read(p) ^ ((Secret(24) ^ Secret(32)) + seed);
    const uint64_t high = Read(end - 8) ^ ((Secret(40) ^ Secret(48)) - seed);
    return ByteSwap(low) + high + FoldedProduct(low, high);
  }
  uint64_t sum = 0;
  const auto for_each = [](auto count, const auto& add) {
    [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      (add(std::integral_constant<size_t, kIndex>()), ...);
    }
    (std::make_index_sequence<count()>());
  };
  if constexpr (kMax <= 128) {
    // Pairs of 16 bytes, one from each end.
    for_each(std::integral_constant<size_t, (kMax + 31) / 32>(), [&](auto pair) {
      Add<32 * pair()>(p + 16 * pair(), seed, sum);
      Add<32 * pair() + 16>(end - 16 * (pair() + 1), seed, sum);
    });
    return sum;
  } else {
    const uint64_t length = string.size() * hash::kXxh64Prime1;
    for_each(std::integral_constant<size_t, 8>(),
             [&](auto round) { Add<16 * round()>(p + 16 * round(), seed, sum); });
    sum = Avalanche(sum + length);
    for_each(std::integral_constant<size_t, kMin / 16 - 8>(),
             [&](auto round) { Add<16 * round() + 3>(p + 128 + 16 * round(), seed, sum); });
    Add<119>(end - 16, seed, sum);
    return sum - length;  // EndXxh3 adds it, as for shorter strings
  }
}

}  // namespace tamis::detail::xxh3

#endif  // TAMIS_CORE_SRC_BULK_XXH3_STRINGS_H_
