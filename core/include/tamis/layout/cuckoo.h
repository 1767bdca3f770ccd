// The arithmetic of a cuckoo filter: the buckets and the fingerprint of a hash, and operations on a
// bucket in one word. To use such a filter, begin with tamis/filters/cuckoo_filter.h.
//
// This is a partial-key cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo Filter:
// Practically Better Than Bloom", CoNEXT 2014) with a table in chunks of equal size. A key has both
// of its buckets in one chunk. Every backend calls or mirrors this header. A change here is a
// format change.
//
// 48 bits of the hash select the bucket, and 16 bits the fingerprint. If i is the bucket within the
// chunk and H a hash of the fingerprint, the other bucket is (H - i) mod chunk_buckets. The same
// formula, applied to the other bucket, returns i. H is odd and the number of buckets is even, so
// the two buckets differ.
#ifndef TAMIS_LAYOUT_CUCKOO_H_
#define TAMIS_LAYOUT_CUCKOO_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis::cuckoo {

// A bucket of kSlots fingerprints of kBits bits in one word, slot 0 lowest. 0 is an empty slot.
// Bits above the last slot are 0.
template <int kBits>
struct Bucket;

// Four fingerprints in 32 bits.
template <>
struct Bucket<8> {
  using Word = uint32_t;
  static constexpr int kSlots = 4;
  static constexpr Word kOnes = 0x01010101;  // the lowest bit of each slot
};

// Five fingerprints in 60 of 64 bits.
template <>
struct Bucket<12> {
  using Word = uint64_t;
  static constexpr int kSlots = 5;
  static constexpr Word kOnes = 0x001001001001001;
};

// Four fingerprints in 64 bits.
template <>
struct Bucket<16> {
  using Word = uint64_t;
  static constexpr int kSlots = 4;
  static constexpr Word kOnes = 0x0001000100010001;
};

// The word of a bucket.
template <int kBits>
using Word = typename Bucket<kBits>::Word;

// The bits of slot 0.
template <int kBits>
inline constexpr Word<kBits> kSlotMask = (Word<kBits>{1} << kBits) - 1;

// The number of different fingerprints: all values except 0.
template <int kBits>
inline constexpr uint32_t kFingerprints = (1u << kBits) - 1;

// The maximum size of a chunk, so that it stays in a second-level cache while it is filled.
inline constexpr uint32_t kMaxChunkBytes = uint32_t{256} << 10;
// The largest number of buckets in a chunk.
template <int kBits>
inline constexpr uint32_t kMaxChunkBuckets = kMaxChunkBytes / sizeof(Word<kBits>);
inline constexpr uint32_t kMaxChunks = uint32_t{1} << 24;  // 4 TiB

// The shape of a table.
struct Geometry {
  uint32_t chunks = 0;         // in [1, kMaxChunks]
  uint32_t chunk_buckets = 0;  // even, in [2, kMaxChunkBuckets]

  // Returns the number of buckets of all chunks.
  TAMIS_HD constexpr uint64_t buckets() const { return uint64_t{chunks} * chunk_buckets; }
  friend constexpr bool operator==(const Geometry&, const Geometry&) = default;
};

// Returns a fingerprint in [1, kFingerprints]. 16 bits of the hash are scaled to this range, so all
// fingerprints are almost equally likely.
template <int kBits>
TAMIS_HD constexpr uint32_t Fingerprint(uint64_t hash) {
  return 1 + ((static_cast<uint32_t>(hash & 0xFFFF) * kFingerprints<kBits>) >> 16);
}

// The place of a key: its chunk, its first bucket within the chunk, and its fingerprint.
struct Place {
  uint32_t chunk;        // index of the chunk
  uint32_t bucket;       // index of the first bucket within the chunk
  uint32_t fingerprint;  // see Fingerprint
};

// Scales the high 48 bits of the hash to all buckets of the table. The integer part of
// (hash >> 16) * chunks / 2^48 is the chunk. 32 bits of the fraction, scaled again, are the bucket.
template <int kBits>
TAMIS_HD constexpr Place Locate(uint64_t hash, const Geometry& geometry) {
  const uint64_t scaled =
      (hash >> 32) * geometry.chunks + (((hash >> 16 & 0xFFFF) * geometry.chunks) >> 16);
  const uint64_t bucket = (scaled & 0xFFFFFFFF) * geometry.chunk_buckets >> 32;
  return {static_cast<uint32_t>(scaled >> 32), static_cast<uint32_t>(bucket),
          Fingerprint<kBits>(hash)};
}

// A place in one word, for lists: 32 bits of chunk, 16 bits of bucket, 16 bits of fingerprint.
TAMIS_HD constexpr uint64_t Pack(const Place& place) {
  return uint64_t{place.chunk} << 32 | place.bucket << 16 | place.fingerprint;
}
TAMIS_HD constexpr Place Unpack(uint64_t packed) {
  return {static_cast<uint32_t>(packed >> 32), static_cast<uint32_t>(packed >> 16 & 0xFFFF),
          static_cast<uint32_t>(packed & 0xFFFF)};
}

// AlternateBucket squares the fingerprint before it multiplies. So the moves of two fingerprints,
// one after the other, shift a bucket by a different distance for each pair of fingerprints.
// Without the square, there are only a few hundred different distances at 8 bits, and tables fill
// to 96% instead of 97.6%.
inline constexpr uint32_t kAlternateMix = 0x9E3779B1;  // 2^32 / golden ratio, odd

// Returns the other bucket of a fingerprint that is in `bucket`. Both buckets are numbers within
// the chunk.
TAMIS_HD constexpr uint32_t AlternateBucket(uint32_t bucket, uint32_t fingerprint,
                                            uint32_t chunk_buckets) {
  const uint32_t mixed = fingerprint * fingerprint * kAlternateMix;
  // Odd, and below chunk_buckets, which is even.
  const uint32_t sum = static_cast<uint32_t>(uint64_t{mixed} * chunk_buckets >> 32) | 1;
  return sum >= bucket ? sum - bucket : sum + chunk_buckets - bucket;
}

// Returns a word with the fingerprint in every slot.
template <int kBits>
TAMIS_HD constexpr Word<kBits> Broadcast(uint32_t fingerprint) {
  return fingerprint * Bucket<kBits>::kOnes;
}

// Returns the highest bits of the slots that are 0 (Mycroft's test for zero bytes). The result is
// exact up to the lowest slot that is 0. A borrow may set more bits above that slot.
template <int kBits>
TAMIS_HD constexpr Word<kBits> ZeroSlots(Word<kBits> word) {
  constexpr Word<kBits> kOnes = Bucket<kBits>::kOnes;
  constexpr Word<kBits> kHighs = kOnes << (kBits - 1);
  return (word - kOnes) & ~word & kHighs;
}

// Returns the number of slots that are not 0. The sum leaves the highest bit of a slot 0 only if
// its other bits are 0. The product adds up one bit of each slot in the highest slot.
template <int kBits>
TAMIS_HD constexpr int NumUsed(Word<kBits> word) {
  constexpr Word<kBits> kOnes = Bucket<kBits>::kOnes;
  constexpr Word<kBits> kHighs = kOnes << (kBits - 1);
  const Word<kBits> used = (((word & ~kHighs) + (kHighs - kOnes)) | word) & kHighs;
  const Word<kBits> sums = (used >> (kBits - 1)) * kOnes;
  return static_cast<int>(sums >> (kBits * (Bucket<kBits>::kSlots - 1)) & kSlotMask<kBits>);
}

// Returns whether one of two buckets has the fingerprint. Branch-free.
template <int kBits>
TAMIS_HD constexpr bool PairContains(Word<kBits> a, Word<kBits> b, uint32_t fingerprint) {
  const Word<kBits> all = Broadcast<kBits>(fingerprint);
  return (ZeroSlots<kBits>(a ^ all) | ZeroSlots<kBits>(b ^ all)) != 0;
}

}  // namespace tamis::cuckoo

#endif  // TAMIS_LAYOUT_CUCKOO_H_
