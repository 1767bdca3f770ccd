// The hash functions of a filter: which one, with which seed, and its value for a key.
//
// Two are bit-equal to the xxHash library: XXH3_64bits_withSeed and XXH64
// (github.com/Cyan4973/xxHash, doc/xxhash_spec.md). The other two are keyed, for keys that an
// attacker may choose: SipHash-1-3 and SipHash-2-4 (Aumasson and Bernstein, 2012). With all
// of them an integer key hashes exactly as its eight little-endian bytes do, so a filter built from
// integers answers for the same bytes, too.
#ifndef TAMIS_HASH_H_
#define TAMIS_HASH_H_

#include <cstdint>
#include <string_view>

#include "tamis/detail/hd.h"
#include "tamis/detail/siphash.h"

namespace tamis {

// The values are part of the file format.
enum class HashKind : uint32_t {
  kXxh3 = 1,       // XXH3-64; two multiplications for an integer key. The default.
  kXxh64 = 2,      // XXH64; with seed 0 the hash of Apache Parquet's Bloom filters.
  kSipHash13 = 3,  // SipHash-1-3: one round for each 8 bytes, three at the end
  kSipHash24 = 4,  // SipHash-2-4: the authors' choice, with a larger margin
};

// The key of SipHash: its 16 bytes, the low half first, each half little-endian. Whoever knows it
// can choose keys that collide; so nothing in the library prints it, and it is in files only by the
// caller's choice (SaveOptions).
struct HashSecret {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const HashSecret&, const HashSecret&) = default;
};

// What a filter hashes with. Filters of different specs cannot be merged.
struct HashSpec {
  HashKind kind = HashKind::kXxh3;
  uint64_t seed = 0;    // of kinds that are not keyed, else 0
  HashSecret secret{};  // of kinds that are keyed, else 0

  friend bool operator==(const HashSpec&, const HashSpec&) = default;
};

// The constants and steps of XXH3 and XXH64 for one input of 8 or of 4 bytes. Vector code mirrors
// these.
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

// The value that a key, its halves swapped, is xored with: all that depends on the seed.
TAMIS_HD constexpr uint64_t Xxh3Flip(uint64_t seed) {
  const uint64_t low = seed & 0xFFFFFFFF;
  const uint64_t swapped =
      ((low & 0xFF) << 24) | ((low & 0xFF00) << 8) | ((low >> 8) & 0xFF00) | (low >> 24);
  return kXxh3Secret - (seed ^ (swapped << 32));
}

// The multiplications of the next two.
TAMIS_HD constexpr uint64_t Xxh3Middle(uint64_t h, uint64_t bytes = kKeyBytes) {
  h *= kXxh3Mix;
  return (h ^ ((h >> 35) + bytes)) * kXxh3Mix;
}

// xxhash_spec.md, "XXH3 Algorithm Description (for small inputs)", inputs of 4 to 8 bytes.
TAMIS_HD constexpr uint64_t Xxh3(uint64_t key, uint64_t flip) {
  const uint64_t x = RotateLeft(key, 32) ^ flip;
  const uint64_t h = Xxh3Middle(x ^ RotateLeft(x, 49) ^ RotateLeft(x, 24));
  return h ^ (h >> 28);
}

// The same of 4 bytes, which stand for both halves.
TAMIS_HD constexpr uint64_t Xxh3Of4(uint32_t key, uint64_t flip) {
  const uint64_t x = (uint64_t{key} << 32 | key) ^ flip;
  const uint64_t h = Xxh3Middle(x ^ RotateLeft(x, 49) ^ RotateLeft(x, 24), kKeyBytesOf4);
  return h ^ (h >> 28);
}

// The value the state of XXH64 starts from: all that depends on the seed.
TAMIS_HD constexpr uint64_t Xxh64Start(uint64_t seed, uint64_t bytes = kKeyBytes) {
  return seed + kXxh64Prime5 + bytes;
}

// xxhash_spec.md, "XXH64 Algorithm Description", step 6.
TAMIS_HD constexpr uint64_t Xxh64Avalanche(uint64_t h) {
  h = (h ^ (h >> 33)) * kXxh64Prime2;
  h = (h ^ (h >> 29)) * kXxh64Prime3;
  return h ^ (h >> 32);
}

// The same, steps 5 and 6 for one 8-byte lane.
TAMIS_HD constexpr uint64_t Xxh64(uint64_t key, uint64_t start) {
  const uint64_t h = start ^ (RotateLeft(key * kXxh64Prime2, 31) * kXxh64Prime1);
  return Xxh64Avalanche(RotateLeft(h, 27) * kXxh64Prime1 + kXxh64Prime4);
}

// The same for 4 bytes. `start` is Xxh64Start(seed, kKeyBytesOf4).
TAMIS_HD constexpr uint64_t Xxh64Of4(uint32_t key, uint64_t start) {
  const uint64_t h = start ^ (key * kXxh64Prime1);
  return Xxh64Avalanche(RotateLeft(h, 23) * kXxh64Prime2 + kXxh64Prime3);
}

}  // namespace hash

// The hash of an integer key, equal to that of its eight little-endian bytes.
// Narrower integers are keys by their 64-bit value: unsigned ones zero-extended, signed ones
// sign-extended, as C++ converts them.
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

// The hash of a string of bytes, of any length.
uint64_t HashBytes(std::string_view bytes, const HashSpec& spec = {}) noexcept;

// A keyed hash whose secret is from the operating system's entropy source: without the secret, only
// asking the filter tells which keys collide. What it costs is in the README. Throws
// Error(kInvalidArgument) for a kind that is not keyed, and as RandomSeed (random_seed.h).
HashSpec RandomKeyedHash(HashKind kind = HashKind::kSipHash13);

}  // namespace tamis

#endif  // TAMIS_HASH_H_
