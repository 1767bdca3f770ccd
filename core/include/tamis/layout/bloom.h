// The arithmetic of a classic Bloom filter (Bloom, "Space/Time Trade-offs in Hash Coding with
// Allowable Errors", 1970): which bits of a flat array belong to a hash. To use such a filter,
// begin with tamis/filters/bloom_filter.h.
//
// The k positions follow from a position and a step by enhanced double hashing (Dillinger and
// Manolios, "Bloom Filters in Probabilistic Verification", FMCAD 2004, section 5.2). Enhanced
// double hashing takes one addition more than double hashing, and avoids its anomalies. Every
// backend calls or mirrors this header. A change here is a format change.
#ifndef TAMIS_LAYOUT_BLOOM_H_
#define TAMIS_LAYOUT_BLOOM_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis::bloom {

inline constexpr uint64_t kWordBits = 64;  // bits of a word of the array
// The maximum number of bits that a key sets. Every filter has at least this number of bits, so
// that steps stay below the size of the array.
inline constexpr uint32_t kMaxHashes = 64;
inline constexpr uint64_t kMaxBits = uint64_t{1} << 53;  // 1 PiB; doubles are exact up to here
inline constexpr uint64_t kStepMultiplier = 0xD6E8FEB86659FD93;  // odd

// Returns the high half of a product.
TAMIS_HD constexpr uint64_t MulHigh(uint64_t a, uint64_t b) { return detail::HighProduct(a, b); }

// Returns the hash for the step: a bijection of `hash`, whose high bits depend on all bits of
// `hash`. The first position depends on the high bits of `hash` itself.
TAMIS_HD constexpr uint64_t StepHash(uint64_t hash) {
  return (hash ^ (hash >> 32)) * kStepMultiplier;
}

// Returns (a + b) mod m for a and b in [0, m), m <= kMaxBits. The sign of the difference chooses,
// because compilers compare again if sums are compared.
TAMIS_HD constexpr uint64_t AddModulo(uint64_t a, uint64_t b, uint64_t m) {
  const uint64_t reduced = a + b - m;
  return static_cast<int64_t>(reduced) < 0 ? a + b : reduced;
}

// A walk over the positions of a hash in an array of `num_bits` bits, in [kWordBits, kMaxBits].
struct Walk {
  uint64_t position;  // in [0, num_bits)
  uint64_t step;      // in [0, num_bits)
};

// Returns the walk at its first position.
TAMIS_HD constexpr Walk Start(uint64_t hash, uint64_t num_bits) {
  return {MulHigh(hash, num_bits), MulHigh(StepHash(hash), num_bits)};
}

// Advances to the i-th position, i = 1, 2, ...
TAMIS_HD constexpr Walk Next(Walk walk, uint32_t i, uint64_t num_bits) {
  return {AddModulo(walk.position, walk.step, num_bits), AddModulo(walk.step, i, num_bits)};
}

// Bit p of the array is bit p % 64 of word p / 64.
TAMIS_HD constexpr bool TestBit(const uint64_t* words, uint64_t position) {
  return (detail::LoadShared(words + position / kWordBits) >> (position % kWordBits)) & 1;
}

// Sets the bit that TestBit returns.
TAMIS_HD constexpr void SetBit(uint64_t* words, uint64_t position) {
  words[position / kWordBits] |= uint64_t{1} << (position % kWordBits);
}

// Returns whether all bits of the hash are set. Tests two bits before each branch: with one bit, a
// branch is mispredicted for nearly every absent key (bench/NOTES_BLOOM.md).
TAMIS_HD constexpr bool Contains(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                                 uint64_t hash) {
  Walk walk = Start(hash, num_bits);
  for (uint32_t i = 2; i <= num_hashes; i += 2) {
    const bool first = TestBit(words, walk.position);
    walk = Next(walk, i - 1, num_bits);
    const bool second = TestBit(words, walk.position);
    walk = Next(walk, i, num_bits);
    if (!(first & second)) return false;
  }
  return num_hashes % 2 == 0 || TestBit(words, walk.position);
}

// Sets all bits of the hash.
TAMIS_HD constexpr void Insert(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                               uint64_t hash) {
  Walk walk = Start(hash, num_bits);
  for (uint32_t i = 1;; ++i) {
    SetBit(words, walk.position);
    if (i == num_hashes) return;
    walk = Next(walk, i, num_bits);
  }
}

}  // namespace tamis::bloom

#endif  // TAMIS_LAYOUT_BLOOM_H_
