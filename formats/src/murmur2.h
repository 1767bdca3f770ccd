// MurmurHash2 and its 64-bit version, MurmurHash64A, after the description of the algorithms by
// Austin Appleby, who placed them in the public domain (smhasher, MurmurHash2.cpp).
#ifndef TAMIS_FORMATS_SRC_MURMUR2_H_
#define TAMIS_FORMATS_SRC_MURMUR2_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tamis::detail {

static_assert(std::endian::native == std::endian::little);

// Returns the n bytes before `end`, n in [1, 7], little-endian. The `size` bytes before `end` may
// be read. Has no loop, because the end of a loop would be mispredicted for keys of different
// lengths.
inline uint64_t LastBytes(const char* end, size_t n, size_t size) noexcept {
  if (size >= 8) {
    uint64_t last;
    std::memcpy(&last, end - 8, sizeof(last));
    return last >> (8 * (8 - n));
  }
  const char* const first = end - n;
  if (n >= 4) {
    uint32_t low, high;
    std::memcpy(&low, first, sizeof(low));
    std::memcpy(&high, end - 4, sizeof(high));
    return low | uint64_t{high} << (8 * (n - 4));
  }
  const auto byte = [&](size_t i) { return uint64_t{static_cast<uint8_t>(first[i])}; };
  return byte(0) | byte(n / 2) << (8 * (n / 2)) | byte(n - 1) << (8 * (n - 1));
}

inline constexpr uint64_t kMurmur64AFactor = 0xC6A4A7935BD1E995;

// Hashes n bytes at any address.
inline uint64_t Murmur64A(const char* bytes, size_t n, uint64_t seed) noexcept {
  constexpr uint64_t kFactor = kMurmur64AFactor;
  uint64_t h = seed ^ (n * kFactor);
  size_t at = 0;
  for (; n - at >= 8; at += 8) {
    uint64_t lane;
    std::memcpy(&lane, bytes + at, sizeof(lane));
    lane *= kFactor;
    lane = (lane ^ (lane >> 47)) * kFactor;
    h = (h ^ lane) * kFactor;
  }
  if (n != at) {
    h = (h ^ LastBytes(bytes + n, n - at, n)) * kFactor;
  }
  h = (h ^ (h >> 47)) * kFactor;
  return h ^ (h >> 47);
}

// The 32-bit hash of n bytes at any address.
inline uint32_t Murmur2(const char* bytes, size_t n, uint32_t seed) noexcept {
  constexpr uint32_t kFactor = 0x5BD1E995;
  uint32_t h = seed ^ static_cast<uint32_t>(n);
  size_t at = 0;
  for (; n - at >= 4; at += 4) {
    uint32_t lane;
    std::memcpy(&lane, bytes + at, sizeof(lane));
    lane *= kFactor;
    lane = (lane ^ (lane >> 24)) * kFactor;
    h = (h * kFactor) ^ lane;
  }
  if (n != at) {
    h = (h ^ static_cast<uint32_t>(LastBytes(bytes + n, n - at, n - at))) * kFactor;
  }
  h = (h ^ (h >> 13)) * kFactor;
  return h ^ (h >> 15);
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_MURMUR2_H_
