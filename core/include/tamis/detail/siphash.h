// SipHash-c-d (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, section 2): c
// rounds for each 8 bytes, and d rounds at the end. The names are the names in the paper.
#ifndef TAMIS_DETAIL_SIPHASH_H_
#define TAMIS_DETAIL_SIPHASH_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis::hash {

TAMIS_HD constexpr uint64_t RotateLeft(uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

inline constexpr uint64_t kSip0 = 0x736F6D6570736575;  // "somepseudorandomlygeneratedbytes"
inline constexpr uint64_t kSip1 = 0x646F72616E646F6D;
inline constexpr uint64_t kSip2 = 0x6C7967656E657261;
inline constexpr uint64_t kSip3 = 0x7465646279746573;
inline constexpr uint64_t kSipLast = 0xFF;

struct Sip {
  uint64_t v0, v1, v2, v3;

  // k0 and k1 are the halves of the secret, low and high.
  TAMIS_HD constexpr Sip(uint64_t k0, uint64_t k1)
      : v0(k0 ^ kSip0), v1(k1 ^ kSip1), v2(k0 ^ kSip2), v3(k1 ^ kSip3) {}

  TAMIS_HD constexpr void Rounds(int n) {
#ifdef __CUDA_ARCH__
#pragma unroll 1  // saves registers of kernels that never use SipHash
#endif
    for (int i = 0; i < n; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = RotateLeft(v1, 13) ^ v0;
      v3 = RotateLeft(v3, 16) ^ v2;
      v0 = RotateLeft(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = RotateLeft(v1, 17) ^ v2;
      v3 = RotateLeft(v3, 21) ^ v0;
      v2 = RotateLeft(v2, 32);
    }
  }

  TAMIS_HD constexpr void Add(uint64_t m, int c) {
    v3 ^= m;
    Rounds(c);
    v0 ^= m;
  }

  TAMIS_HD constexpr uint64_t Finish(int d) {
    v2 ^= kSipLast;
    Rounds(d);
    return v0 ^ v1 ^ v2 ^ v3;
  }
};

// Returns the hash of the eight little-endian bytes of an integer.
TAMIS_HD constexpr uint64_t SipOfU64(int c, int d, uint64_t key, uint64_t k0, uint64_t k1) {
  Sip sip(k0, k1);
  sip.Add(key, c);
  sip.Add(uint64_t{8} << 56, c);
  return sip.Finish(d);
}

// Returns the hash of n bytes at any address. `load` reads eight little-endian bytes.
template <typename Load>
TAMIS_HD uint64_t SipOfBytes(int c, int d, const unsigned char* p, uint64_t n, uint64_t k0,
                             uint64_t k1, const Load& load) {
  Sip sip(k0, k1);
  const unsigned char* const end = p + n / 8 * 8;
  for (; p != end; p += 8) sip.Add(load(p), c);
  const uint64_t left = n % 8;
  uint64_t last = n << 56;
  if (left != 0 && n > 8) {
    last |= load(p + left - 8) >> (64 - 8 * left);  // the eight bytes that end with the input
  } else {
    for (uint64_t i = 0; i < left; ++i) last |= static_cast<uint64_t>(p[i]) << (8 * i);
  }
  sip.Add(last, c);
  return sip.Finish(d);
}

}  // namespace tamis::hash

#endif  // TAMIS_DETAIL_SIPHASH_H_
