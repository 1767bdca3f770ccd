// The hash and the bits of a key in the filters of DCSO.
#ifndef TAMIS_FORMATS_SRC_DCSO_HASH_H_
#define TAMIS_FORMATS_SRC_DCSO_HASH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/src/bit_walk.h"
#include "tamis/detail/format_hash_kernels.h"

namespace tamis::detail {

// One step of FNV-1 of 64 bits (Fowler, Noll and Vo): a product, then the byte.
inline uint64_t Fnv1Step(uint64_t hash, char byte) noexcept {
  return (hash * 0x100000001B3) ^ static_cast<uint8_t>(byte);
}
inline constexpr uint64_t kFnv1Basis = 0xCBF29CE484222325;

// Returns the hash of the bytes that `hash` stands for, followed by `key`.
inline uint64_t Fnv1(std::string_view key, uint64_t hash = kFnv1Basis) noexcept {
  for (const char byte : key) hash = Fnv1Step(hash, byte);
  return hash;
}

// Hashes four keys at a time, because each product of a key waits for the product before it.
inline void Fnv1OfFour(const std::string_view* keys, uint64_t* hashes) noexcept {
  const size_t common = std::min({keys[0].size(), keys[1].size(), keys[2].size(), keys[3].size()});
  uint64_t h0 = kFnv1Basis, h1 = kFnv1Basis, h2 = kFnv1Basis, h3 = kFnv1Basis;
  for (size_t i = 0; i < common; ++i) {
    h0 = Fnv1Step(h0, keys[0][i]);
    h1 = Fnv1Step(h1, keys[1][i]);
    h2 = Fnv1Step(h2, keys[2][i]);
    h3 = Fnv1Step(h3, keys[3][i]);
  }
  hashes[0] = Fnv1(keys[0].substr(common), h0);
  hashes[1] = Fnv1(keys[1].substr(common), h1);
  hashes[2] = Fnv1(keys[2].substr(common), h2);
  hashes[3] = Fnv1(keys[3].substr(common), h3);
}

// The bits of a key, by a multiplication for each bit: see DcsoBloomFilter.
struct DcsoWalk {
  static Hash128 Start(const Hash128& hash) noexcept { return {ModPrime(hash.low), 0}; }
  static uint64_t Next(Hash128& walk, const Remainder& remainder) noexcept {
    walk.low = ModPrime(walk.low * kMultiplier);
    return remainder(walk.low);
  }

 private:
  static constexpr uint64_t kPrime = 0 - uint64_t{59};
  static constexpr uint64_t kMultiplier = 0 - uint64_t{1469};

  // Returns x mod kPrime. The difference wraps around to a larger number if it is negative.
  static uint64_t ModPrime(uint64_t x) noexcept { return std::min(x, x - kPrime); }
};

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_DCSO_HASH_H_
