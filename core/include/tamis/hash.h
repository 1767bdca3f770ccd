// The hash functions of filters: the kinds, their seeds and secrets, and the hash of a key.
//
// Two kinds return the same hashes as XXH3_64bits_withSeed and XXH64 of the xxHash library
// (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). The other two are keyed, for keys that an
// attacker may choose: SipHash-1-3 and SipHash-2-4 (Aumasson and Bernstein, 2012). Every kind
// hashes an integer key as its eight little-endian bytes. See docs/contracts.md for keys and their
// types.
#ifndef TAMIS_HASH_H_
#define TAMIS_HASH_H_

#include <cstdint>
#include <string_view>

#include "tamis/detail/compiler.h"
#include "tamis/detail/siphash.h"

namespace tamis {

// The values are part of the file format.
enum class HashKind : uint32_t {
  kXxh3 = 1,       // XXH3-64; two multiplications for an integer key. The default.
  kXxh64 = 2,      // XXH64; with seed 0 the hash of Apache Parquet's Bloom filters.
  kSipHash13 = 3,  // SipHash-1-3: one round for each 8 bytes, three at the end
  kSipHash24 = 4,  // SipHash-2-4: its authors' proposal, with a larger security margin
};

// The key of SipHash: 16 bytes, the low half first, each half little-endian. A program that has the
// secret can prepare keys that collide. The library never prints a secret, and writes it to a file
// only if SaveOptions::with_secret allows that.
struct HashSecret {
  uint64_t low = 0;   // bytes 0 to 7
  uint64_t high = 0;  // bytes 8 to 15

  friend bool operator==(const HashSecret&, const HashSecret&) = default;
};

// The hash of a filter. Filters with different specs cannot be merged.
struct HashSpec {
  HashKind kind = HashKind::kXxh3;  // the function
  uint64_t seed = 0;                // 0 for keyed kinds
  HashSecret secret{};              // 0 for other kinds

  friend bool operator==(const HashSpec&, const HashSpec&) = default;
};

// The constants and steps of XXH3 and XXH64 for one input of 8 or 4 bytes. Vector code mirrors
// them.
namespace hash {

inline constexpr uint64_t kXxh3Secret = 0xC73AB174C5ECD5A2;  // default secret, [8, 16) ^ [16, 24)
inline constexpr uint64_t kXxh3Mix = 0x9FB21C651E98DF25;     // PRIME_MX2
inline constexpr uint64_t kXxh64Prime1 = 0x9E3779B185EBCA87;
inline constexpr uint64_t kXxh64Prime2 = 0xC2B2AE3D27D4EB4F;
inline constexpr uint64_t kXxh64Prime3 = 0x165667B19E3779F9;
inline constexpr uint64_t kXxh64Prime4 = 0x85EBCA77C2B2AE63;
inline constexpr uint64_t kXxh64Prime5 = 0x27D4EB2F165667C5;
inline constexpr uint64_t kKeyBytes = 8;
inline constexpr uint64_t kKeyBytesOf4 = 4;

// Returns the value that Xxh3 xors with the key, after swapping the halves of the key. The value
// depends only on the seed.
TAMIS_HD constexpr uint64_t Xxh3Flip(uint64_t seed) {
  const uint64_t low = seed & 0xFFFFFFFF;
  const uint64_t swapped =
      ((low & 0xFF) << 24) | ((low & 0xFF00) << 8) | ((low >> 8) & 0xFF00) | (low >> 24);
  return kXxh3Secret - (seed ^ (swapped << 32));
}

// Does the multiplications of Xxh3 and Xxh3Of4.
TAMIS_HD constexpr uint64_t Xxh3Middle(uint64_t h, uint64_t bytes = kKeyBytes) {
  h *= kXxh3Mix;
  return (h ^ ((h >> 35) + bytes)) * kXxh3Mix;
}

// Does the xors and rotations of Xxh3 and Xxh3Of4. The function is linear: the result for a ^ b is
// the xor of the results for a and b.
TAMIS_HD constexpr uint64_t Xxh3Spread(uint64_t x) {
  return x ^ RotateLeft(x, 49) ^ RotateLeft(x, 24);
}

// Returns the XXH3 hash of 8 bytes: xxhash_spec.md, "XXH3 Algorithm Description (for small
// inputs)", inputs of 4 to 8 bytes. `flip` is Xxh3Flip(seed).
TAMIS_HD constexpr uint64_t Xxh3(uint64_t key, uint64_t flip) {
  const uint64_t h = Xxh3Middle(Xxh3Spread(RotateLeft(key, 32) ^ flip));
  return h ^ (h >> 28);
}

// Returns the same hash. `spread` is Xxh3Spread(flip). Faster for single keys, because all
// rotations can begin at once.
TAMIS_HD constexpr uint64_t Xxh3WithSpread(uint64_t key, uint64_t spread) {
  const uint64_t h = Xxh3Middle(Xxh3Spread(RotateLeft(key, 32)) ^ spread);
  return h ^ (h >> 28);
}

// Returns the XXH3 hash of 4 bytes. Both halves of the 8-byte input are `key`.
TAMIS_HD constexpr uint64_t Xxh3Of4(uint32_t key, uint64_t flip) {
  const uint64_t h = Xxh3Middle(Xxh3Spread((uint64_t{key} << 32 | key) ^ flip), kKeyBytesOf4);
  return h ^ (h >> 28);
}

// Returns the start value of the state of XXH64, which depends on the seed and the length.
TAMIS_HD constexpr uint64_t Xxh64Start(uint64_t seed, uint64_t bytes = kKeyBytes) {
  return seed + kXxh64Prime5 + bytes;
}

// Does step 6 of xxhash_spec.md, "XXH64 Algorithm Description".
TAMIS_HD constexpr uint64_t Xxh64Avalanche(uint64_t h) {
  h = (h ^ (h >> 33)) * kXxh64Prime2;
  h = (h ^ (h >> 29)) * kXxh64Prime3;
  return h ^ (h >> 32);
}

// Returns the XXH64 hash of 8 bytes: steps 5 and 6 for one lane. `start` is Xxh64Start(seed).
TAMIS_HD constexpr uint64_t Xxh64(uint64_t key, uint64_t start) {
  const uint64_t h = start ^ (RotateLeft(key * kXxh64Prime2, 31) * kXxh64Prime1);
  return Xxh64Avalanche(RotateLeft(h, 27) * kXxh64Prime1 + kXxh64Prime4);
}

// Returns the XXH64 hash of 4 bytes. `start` is Xxh64Start(seed, kKeyBytesOf4).
TAMIS_HD constexpr uint64_t Xxh64Of4(uint32_t key, uint64_t start) {
  const uint64_t h = start ^ (key * kXxh64Prime1);
  return Xxh64Avalanche(RotateLeft(h, 23) * kXxh64Prime2 + kXxh64Prime3);
}

}  // namespace hash

// Returns the hash of an integer key. Narrower integers are widened to 64 bits as C++ converts
// them: unsigned integers with zeros, signed integers with their sign.
TAMIS_HD constexpr uint64_t HashU64(uint64_t key, HashSpec spec = {}) {
  switch (spec.kind) {
    case HashKind::kXxh3:
      return hash::Xxh3(key, hash::Xxh3Flip(spec.seed));
    case HashKind::kSipHash13:
      return hash::SipOfU64(1, 3, key, spec.secret.low, spec.secret.high);
    case HashKind::kSipHash24:
      return hash::SipOfU64(2, 4, key, spec.secret.low, spec.secret.high);
    default:
      return hash::Xxh64(key, hash::Xxh64Start(spec.seed));
  }
}

// Returns the hash of a string of any length.
uint64_t HashBytes(std::string_view bytes, const HashSpec& spec = {}) noexcept;

// Returns a keyed hash with a secret from the operating system's entropy source. Without the
// secret, keys that collide can be found only by querying a filter. docs/filters.md describes the
// cost of keyed hashes. Throws Error(kInvalidArgument) if `kind` is not keyed, and std::exception
// if the entropy source fails.
HashSpec RandomKeyedHash(HashKind kind = HashKind::kSipHash13);

}  // namespace tamis

#endif  // TAMIS_HASH_H_
