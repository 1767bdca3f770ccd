// MurmurHash3_x64_128, after the description of the algorithm by Austin Appleby, who placed it in
// the public domain (smhasher, MurmurHash3.cpp).
#ifndef TAMIS_FORMATS_SRC_MURMUR3_H_
#define TAMIS_FORMATS_SRC_MURMUR3_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

// The state between blocks of 16 bytes.
class Murmur3 {
 public:
  static constexpr uint64_t kFirst = 0x87C37B91114253D5;
  static constexpr uint64_t kSecond = 0x4CF5AD432745937F;
  static constexpr uint64_t kAvalanche1 = 0xFF51AFD7ED558CCD;
  static constexpr uint64_t kAvalanche2 = 0xC4CEB9FE1A85EC53;

  explicit Murmur3(uint32_t seed = 0) noexcept : h_{seed, seed} {}

  // Adds a block: its two lanes of 8 bytes, little-endian.
  void Take(uint64_t first, uint64_t second) noexcept {
    h_.low = (std::rotl(h_.low ^ MixFirst(first), 27) + h_.high) * 5 + 0x52DCE729;
    h_.high = (std::rotl(h_.high ^ MixSecond(second), 31) + h_.low) * 5 + 0x38495AB5;
  }

  // Returns the hash of all blocks and of the remaining bytes, fewer than 16, as lanes padded with
  // zeros. `length` is the total length in bytes.
  Hash128 Finish(uint64_t first, uint64_t second, uint64_t length) const noexcept {
    uint64_t low = h_.low ^ MixFirst(first) ^ length;
    uint64_t high = h_.high ^ MixSecond(second) ^ length;
    low += high;
    high += low;
    low = Avalanche(low);
    high = Avalanche(high);
    low += high;
    return {low, high + low};
  }

 private:
  // MixFirst and MixSecond return 0 for 0, so that missing bytes change nothing.
  static uint64_t MixFirst(uint64_t lane) noexcept {
    return std::rotl(lane * kFirst, 31) * kSecond;
  }
  static uint64_t MixSecond(uint64_t lane) noexcept {
    return std::rotl(lane * kSecond, 33) * kFirst;
  }
  static uint64_t Avalanche(uint64_t h) noexcept {
    h = (h ^ (h >> 33)) * kAvalanche1;
    h = (h ^ (h >> 33)) * kAvalanche2;
    return h ^ (h >> 33);
  }

  Hash128 h_;
};

// Hashes n bytes at any address.
inline Hash128 Murmur3OfBytes(const char* bytes, size_t n, uint32_t seed = 0) noexcept {
  static_assert(std::endian::native == std::endian::little);
  Murmur3 state(seed);
  size_t at = 0;
  for (; n - at >= 16; at += 16) {
    uint64_t lanes[2];
    std::memcpy(lanes, bytes + at, sizeof(lanes));
    state.Take(lanes[0], lanes[1]);
  }
  uint64_t rest[2] = {0, 0};
  if (n != at) std::memcpy(rest, bytes + at, n - at);
  return state.Finish(rest[0], rest[1], n);
}

// Hashes the 8 or 4 bytes of a value, little-endian.
inline Hash128 Murmur3OfU64(uint64_t value) noexcept { return Murmur3().Finish(value, 0, 8); }
inline Hash128 Murmur3OfU32(uint32_t value) noexcept { return Murmur3().Finish(value, 0, 4); }

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_MURMUR3_H_
