// A slow SipHash that follows its paper (Aumasson and Bernstein, 2012, section 2), written for the
// tests without any of the library's arithmetic.
#ifndef TAMIS_TESTS_CORE_REFERENCE_SIPHASH_H_
#define TAMIS_TESTS_CORE_REFERENCE_SIPHASH_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/hash.h"

namespace tamis {

inline uint64_t ReferenceSipHash(std::string_view bytes, const HashSecret& secret, int c, int d) {
  uint64_t v[4];
  constexpr std::string_view kConstants = "somepseudorandomlygeneratedbytes";  // big-endian
  for (size_t i = 0; i < 4; ++i) {
    v[i] = 0;
    for (const char letter : kConstants.substr(8 * i, 8)) {
      v[i] = 256 * v[i] + static_cast<unsigned char>(letter);
    }
    v[i] ^= i % 2 == 0 ? secret.low : secret.high;
  }
  const auto rounds = [&v](int n) {
    const auto half = [&v](size_t a, size_t b, int left) {  // two arrows of the figure
      v[a] += v[b];
      v[b] = std::rotl(v[b], left) ^ v[a];
    };
    for (int i = 0; i < n; ++i) {
      half(0, 1, 13);
      v[0] = std::rotl(v[0], 32);
      half(2, 3, 16);
      half(0, 3, 21);
      half(2, 1, 17);
      v[2] = std::rotl(v[2], 32);
    }
  };
  std::string padded(bytes);
  while (padded.size() % 8 != 7) padded += '\0';
  padded += static_cast<char>(bytes.size());
  for (size_t at = 0; at < padded.size(); at += 8) {
    uint64_t m = 0;
    for (size_t i = 8; i-- > 0;) m = 256 * m + static_cast<unsigned char>(padded[at + i]);
    v[3] ^= m;
    rounds(c);
    v[0] ^= m;
  }
  v[2] ^= 0xFF;
  rounds(d);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

}  // namespace tamis

#endif  // TAMIS_TESTS_CORE_REFERENCE_SIPHASH_H_
