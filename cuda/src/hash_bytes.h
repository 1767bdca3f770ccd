// Hashes of strings of any length, for a thread of a GPU and for the host.
//
// XXH3 and XXH64 are bit-equal to XXH3_64bits_withSeed and XXH64 of the xxHash library. They follow
// its specification (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), and use its names for the
// steps.
#ifndef TAMIS_CUDA_SRC_HASH_BYTES_H_
#define TAMIS_CUDA_SRC_HASH_BYTES_H_

#include <cstdint>
#ifndef __CUDA_ARCH__
#include <cstring>
#endif

#include "tamis/detail/compiler.h"
#include "tamis/hash.h"

namespace tamis::hash {

inline constexpr uint64_t kPrime32_1 = 0x9E3779B1;
inline constexpr uint64_t kPrime32_2 = 0x85EBCA77;
inline constexpr uint64_t kPrime32_3 = 0xC2B2AE3D;
inline constexpr uint64_t kPrimeMx1 = 0x165667919E3779F9;

// Readers of little-endian numbers in a string. A GPU can read only aligned numbers.

// Reads byte by byte.
struct ByteReader {
  static TAMIS_HD uint64_t Le32(const unsigned char* p) { return Bytes(p, 4); }
  static TAMIS_HD uint64_t Le64(const unsigned char* p) { return Bytes(p, 8); }
  // Calls visit(i, number at p + 8 * i) for kNumbers numbers.
  template <int kNumbers, typename Visit>
  static TAMIS_HD void Row(const unsigned char* p, const Visit& visit) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < kNumbers; ++i) visit(i, Bytes(p + 8 * i, 8));
  }

 private:
  // Few strings are read in this way, so the code is kept small.
  static TAMIS_HD uint64_t Bytes(const unsigned char* p, uint32_t n) {
    uint64_t value = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (uint32_t i = n; i > 0; --i) value = value << 8 | p[i - 1];
    return value;
  }
};

// Reads the aligned words of 4 bytes that contain the numbers, even if only some of their bytes
// belong to the string. This takes less than half of the loads of ByteReader: one for each half of
// a number, and one more for each row.
struct WordReader {
  // Whether reading a string of n bytes at p stays within the memory from `begin` to `end`.
  static TAMIS_HD bool StaysWithin(const unsigned char* p, uint64_t n, const unsigned char* begin,
                                   const unsigned char* end) {
    const auto first = reinterpret_cast<uintptr_t>(p) & ~kInWord;
    const auto last = (reinterpret_cast<uintptr_t>(p + n) + kInWord) & ~kInWord;
    return first >= reinterpret_cast<uintptr_t>(begin) && last <= reinterpret_cast<uintptr_t>(end);
  }

  static TAMIS_HD uint64_t Le32(const unsigned char* p) {
    return Funnel(WordOf(p), WordOf(p + 3), p);
  }
  static TAMIS_HD uint64_t Le64(const unsigned char* p) {
    uint64_t value = 0;
    Row<1>(p, [&](int, uint64_t number) { value = number; });
    return value;
  }
  template <int kNumbers, typename Visit>
  static TAMIS_HD void Row(const unsigned char* p, const Visit& visit) {
    uint32_t low = WordOf(p);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < kNumbers; ++i) {
      const uint32_t middle = WordOf(p + 8 * i + 4);
      // `high` is the word with the last byte of the number, which may be the middle word.
      const uint32_t high = WordOf(p + 8 * i + (i + 1 < kNumbers ? 8 : 7));
      visit(i, Funnel(low, middle, p) | Funnel(middle, high, p) << 32);
      low = high;
    }
  }

 private:
  static constexpr uintptr_t kInWord = 3;

  static TAMIS_HD uint32_t WordOf(const unsigned char* byte) {
    const auto* word =
        reinterpret_cast<const uint32_t*>(reinterpret_cast<uintptr_t>(byte) & ~kInWord);
#ifdef __CUDA_ARCH__
    return __ldg(word);
#else
    uint32_t value;
    std::memcpy(&value, word, sizeof(value));
    return value;
#endif
  }

  // Returns the four bytes from the position of p in the first of two words.
  static TAMIS_HD uint64_t Funnel(uint32_t low, uint32_t high, const unsigned char* p) {
    const auto shift = static_cast<uint32_t>(8 * (reinterpret_cast<uintptr_t>(p) & kInWord));
#ifdef __CUDA_ARCH__
    return __funnelshift_r(low, high, shift);
#else
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> shift);
#endif
  }
};

TAMIS_HD uint64_t Swap64(uint64_t x) {
  x = (x & 0x00FF00FF00FF00FF) << 8 | (x >> 8 & 0x00FF00FF00FF00FF);
  x = (x & 0x0000FFFF0000FFFF) << 16 | (x >> 16 & 0x0000FFFF0000FFFF);
  return x << 32 | x >> 32;
}

// Returns the xor of the halves of the 128-bit product.
TAMIS_HD uint64_t MulFold(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b) ^ (a * b);
#else
  constexpr uint64_t kLow = 0xFFFFFFFF;
  const uint64_t low = (a & kLow) * (b & kLow);
  const uint64_t cross = (a >> 32) * (b & kLow) + (low >> 32);  // at most 2^64 - 2^32
  const uint64_t middle = (a & kLow) * (b >> 32) + (cross & kLow);
  return ((a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32)) ^ (a * b);
#endif
}

// Returns eight bytes of the default secret of XXH3. The seed is added to its 64-bit words with
// even numbers, and subtracted from the others. `offset` is in [0, 184].
TAMIS_HD uint64_t SecretAt(uint32_t offset, uint64_t seed) {
  static constexpr uint64_t kSecret[24] = {
      0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
      0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
      0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
      0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
      0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
      0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af};
  const uint32_t word = offset / 8;
  const uint64_t first = kSecret[word] + (word % 2 == 0 ? seed : 0 - seed);
  const uint32_t shift = offset % 8 * 8;
  if (shift == 0) return first;
  const uint64_t second = kSecret[word + 1] + (word % 2 == 0 ? 0 - seed : seed);
  return first >> shift | second << (64 - shift);
}

TAMIS_HD uint64_t Xxh3Avalanche(uint64_t h) {
  h = (h ^ h >> 37) * kPrimeMx1;
  return h ^ h >> 32;
}

template <typename Reader>
TAMIS_HD uint64_t Xxh3Small(const unsigned char* p, uint64_t n, uint64_t seed) {
  if (n > 8) {
    const uint64_t low = Reader::Le64(p) ^ ((SecretAt(24, 0) ^ SecretAt(32, 0)) + seed);
    const uint64_t high = Reader::Le64(p + n - 8) ^ ((SecretAt(40, 0) ^ SecretAt(48, 0)) - seed);
    return Xxh3Avalanche(n + Swap64(low) + high + MulFold(low, high));
  }
  if (n >= 4) {
    const uint64_t x = (Reader::Le32(p + n - 4) + (Reader::Le32(p) << 32)) ^ Xxh3Flip(seed);
    uint64_t h = (x ^ RotateLeft(x, 49) ^ RotateLeft(x, 24)) * kXxh3Mix;
    h = (h ^ ((h >> 35) + n)) * kXxh3Mix;
    return h ^ h >> 28;
  }
  if (n > 0) {
    const uint64_t combined =
        uint64_t{p[0]} << 16 | uint64_t{p[n >> 1]} << 24 | uint64_t{p[n - 1]} | n << 8;
    const uint64_t flip = ((SecretAt(0, 0) ^ SecretAt(4, 0)) & 0xFFFFFFFF) + seed;
    return Xxh64Avalanche(combined ^ flip);
  }
  return Xxh64Avalanche(seed ^ SecretAt(56, 0) ^ SecretAt(64, 0));
}

template <typename Reader>
TAMIS_HD uint64_t Mix16(const unsigned char* p, uint32_t secret, uint64_t seed) {
  uint64_t halves[2];
  Reader::template Row<2>(p, [&](int i, uint64_t value) { halves[i] = value; });
  return MulFold(halves[0] ^ (SecretAt(secret, 0) + seed),
                 halves[1] ^ (SecretAt(secret + 8, 0) - seed));
}

// Hashes 17 to 128 bytes: pairs of 16 bytes from both ends.
template <typename Reader>
TAMIS_HD uint64_t Xxh3Medium(const unsigned char* p, uint64_t n, uint64_t seed) {
  uint64_t sum = n * kXxh64Prime1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t pair = 0; pair <= (n - 1) / 32; ++pair) {
    sum += Mix16<Reader>(p + 16 * pair, 32 * pair, seed);
    sum += Mix16<Reader>(p + n - 16 * (pair + 1), 32 * pair + 16, seed);
  }
  return Xxh3Avalanche(sum);
}

// Hashes 129 to 240 bytes.
template <typename Reader>
TAMIS_HD uint64_t Xxh3Large(const unsigned char* p, uint64_t n, uint64_t seed) {
  constexpr uint32_t kFirstRounds = 8;
  uint64_t sum = n * kXxh64Prime1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint32_t i = 0; i < n / 16; ++i) {
    sum += Mix16<Reader>(p + 16 * i, i < kFirstRounds ? 16 * i : 16 * (i - kFirstRounds) + 3, seed);
    if (i == kFirstRounds - 1) sum = Xxh3Avalanche(sum);
  }
  return Xxh3Avalanche(sum + Mix16<Reader>(p + n - 16, 136 - 17, seed));
}

// The state of XXH3 for inputs of more than 240 bytes.
struct Xxh3Accumulators {
  uint64_t lanes[8];

  template <typename Reader>
  TAMIS_HD void AddStripe(const unsigned char* p, uint32_t secret, uint64_t seed) {
    Reader::template Row<8>(p, [&](int i, uint64_t value) {
      const uint64_t keyed = value ^ SecretAt(secret + 8 * i, seed);
      lanes[i ^ 1] += value;
      lanes[i] += (keyed & 0xFFFFFFFF) * (keyed >> 32);
    });
  }

  TAMIS_HD void Scramble(uint64_t seed) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < 8; ++i) {
      lanes[i] = (lanes[i] ^ lanes[i] >> 47 ^ SecretAt(128 + 8 * i, seed)) * kPrime32_1;
    }
  }
};

template <typename Reader>
TAMIS_HD uint64_t Xxh3Long(const unsigned char* p, uint64_t n, uint64_t seed) {
  constexpr uint32_t kStripe = 64;
  constexpr uint32_t kStripesPerBlock = 16;
  Xxh3Accumulators sums = {{kPrime32_3, kXxh64Prime1, kXxh64Prime2, kXxh64Prime3, kXxh64Prime4,
                            kPrime32_2, kXxh64Prime5, kPrime32_1}};
  // All whole stripes before the last one. The last stripe ends with the input, and follows below.
  const uint64_t stripes = (n - 1) / kStripe;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (uint64_t i = 0; i < stripes; ++i) {
    const auto in_block = static_cast<uint32_t>(i % kStripesPerBlock);
    sums.AddStripe<Reader>(p + kStripe * i, 8 * in_block, seed);
    if (in_block == kStripesPerBlock - 1) sums.Scramble(seed);
  }
  sums.AddStripe<Reader>(p + n - kStripe, 121, seed);
  uint64_t h = n * kXxh64Prime1;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < 4; ++i) {
    h += MulFold(sums.lanes[2 * i] ^ SecretAt(11 + 16 * i, seed),
                 sums.lanes[2 * i + 1] ^ SecretAt(19 + 16 * i, seed));
  }
  return Xxh3Avalanche(h);
}

template <typename Reader>
TAMIS_HD uint64_t Xxh3OfBytes(const unsigned char* p, uint64_t n, uint64_t seed) {
  if (n <= 16) return Xxh3Small<Reader>(p, n, seed);
  if (n <= 128) return Xxh3Medium<Reader>(p, n, seed);
  if (n <= 240) return Xxh3Large<Reader>(p, n, seed);
  return Xxh3Long<Reader>(p, n, seed);
}

TAMIS_HD uint64_t Xxh64Round(uint64_t sum, uint64_t value) {
  return RotateLeft(sum + value * kXxh64Prime2, 31) * kXxh64Prime1;
}

template <typename Reader>
TAMIS_HD uint64_t Xxh64OfBytes(const unsigned char* p, uint64_t n, uint64_t seed) {
  uint64_t h = seed + kXxh64Prime5;
  uint64_t left = n;
  if (n >= 32) {
    uint64_t a = seed + kXxh64Prime1 + kXxh64Prime2;
    uint64_t b = seed + kXxh64Prime2;
    uint64_t c = seed;
    uint64_t d = seed - kXxh64Prime1;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (; left >= 32; left -= 32, p += 32) {
      uint64_t values[4];
      Reader::template Row<4>(p, [&](int i, uint64_t value) { values[i] = value; });
      a = Xxh64Round(a, values[0]);
      b = Xxh64Round(b, values[1]);
      c = Xxh64Round(c, values[2]);
      d = Xxh64Round(d, values[3]);
    }
    h = RotateLeft(a, 1) + RotateLeft(b, 7) + RotateLeft(c, 12) + RotateLeft(d, 18);
    h = (h ^ Xxh64Round(0, a)) * kXxh64Prime1 + kXxh64Prime4;
    h = (h ^ Xxh64Round(0, b)) * kXxh64Prime1 + kXxh64Prime4;
    h = (h ^ Xxh64Round(0, c)) * kXxh64Prime1 + kXxh64Prime4;
    h = (h ^ Xxh64Round(0, d)) * kXxh64Prime1 + kXxh64Prime4;
  }
  h += n;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (; left >= 8; left -= 8, p += 8) {
    h = RotateLeft(h ^ Xxh64Round(0, Reader::Le64(p)), 27) * kXxh64Prime1 + kXxh64Prime4;
  }
  if (left >= 4) {
    h = RotateLeft(h ^ Reader::Le32(p) * kXxh64Prime1, 23) * kXxh64Prime2 + kXxh64Prime3;
    p += 4, left -= 4;
  }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (; left > 0; --left, ++p) h = RotateLeft(h ^ *p * kXxh64Prime5, 11) * kXxh64Prime1;
  return Xxh64Avalanche(h);
}

template <typename Reader>
TAMIS_HD uint64_t OfBytes(const unsigned char* p, uint64_t n, const HashSpec& spec) {
  if (spec.kind == HashKind::kXxh3) return Xxh3OfBytes<Reader>(p, n, spec.seed);
  if (spec.kind == HashKind::kXxh64) return Xxh64OfBytes<Reader>(p, n, spec.seed);
  const bool few = spec.kind == HashKind::kSipHash13;
  return SipOfBytes(few ? 1 : 2, few ? 3 : 4, p, n, spec.secret.low, spec.secret.high,
                    Reader::Le64);
}

}  // namespace tamis::hash

#endif  // TAMIS_CUDA_SRC_HASH_BYTES_H_
