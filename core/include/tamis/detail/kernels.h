// The kernels of one backend: pure functions over (filter words, geometry, keys) -> output.
//
// A backend is a constexpr table of these. `portable` is the oracle: all others give the same bits.
// They compose in stages: keys -> hashes -> probe -> bits -> bytes or indices, so that a new filter
// adds a probe and an insert, and no combination of them has to be written.
#ifndef TAMIS_DETAIL_KERNELS_H_
#define TAMIS_DETAIL_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/cuckoo.h"
#include "tamis/detail/change.h"
#include "tamis/hash.h"
#include "tamis/hd.h"

namespace tamis {

// What the values of a batch are, hence how they become hashes.
enum class Source : uint8_t {
  kHashes,  // they are hashes
  kXxh3,    // integer keys, to be hashed with XXH3
  kXxh64,   // integer keys, to be hashed with XXH64
};

// Hashes of one value: the choice of a hash and all that depends on its seed, made once.
struct KeyHasher {
  Source source = Source::kHashes;
  uint64_t seed_term = 0;  // hash::Xxh3Flip(seed) or hash::Xxh64Start(seed); unused for hashes

  KeyHasher() = default;
  explicit KeyHasher(const HashSpec& spec)
      : source(spec.kind == HashKind::kXxh3 ? Source::kXxh3 : Source::kXxh64),
        seed_term(spec.kind == HashKind::kXxh3 ? hash::Xxh3Flip(spec.seed)
                                               : hash::Xxh64Start(spec.seed)) {}

  TAMIS_HD uint64_t operator()(uint64_t value) const {
    if (source == Source::kXxh3) return hash::Xxh3(value, seed_term);
    if (source == Source::kXxh64) return hash::Xxh64(value, seed_term);
    return value;
  }
};

struct Batch {
  KeyHasher hasher;
  const uint64_t* values;
  size_t n;
};

inline Batch HashBatch(const uint64_t* hashes, size_t n) { return {KeyHasher(), hashes, n}; }

inline Batch KeyBatch(const HashSpec& spec, const uint64_t* keys, size_t n) {
  return {KeyHasher(spec), keys, n};
}

struct SplitBlockKernels {
  // Bit i of `bits` becomes whether the filter may contain value i. Writes (n + 63) / 64 words, the
  // bits past n as 0.
  void (*contains)(const uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits);
  void (*insert)(uint32_t* words, uint64_t num_blocks, const Batch& batch);
  // The same for one hash: a call by pointer costs less than what a compiler makes of the loop over
  // words without knowing the processor.
  bool (*contains_one)(const uint32_t* words, uint64_t num_blocks, uint64_t hash);
  void (*insert_one)(uint32_t* words, uint64_t num_blocks, uint64_t hash);
};

// Of one width of fingerprints.
struct CuckooKernels {
  // As for split-block filters; `words` are the buckets.
  void (*contains)(const void* words, const cuckoo::Geometry& geometry, const Batch& batch,
                   uint64_t* bits);
  // places[i] = cuckoo::Pack of where value i is; n of them.
  void (*locate)(const cuckoo::Geometry& geometry, const Batch& batch, uint64_t* places);
  // Inserts or erases what n places say, in their order, in one chunk (the chunks that they name do
  // not matter) or in a whole table. Where that is not possible the fingerprint of a place becomes
  // 0. Returns for how many it was.
  size_t (*change_chunk)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
  size_t (*change_table)(Change change, void* buckets, uint32_t chunk_buckets, uint64_t* places,
                         size_t n);
};

struct BloomKernels {
  // As the functions of SplitBlockKernels of these names.
  void (*contains)(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                   const Batch& batch, uint64_t* bits);
  void (*insert)(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch);
  bool (*contains_one)(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                       uint64_t hash);
  void (*insert_one)(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, uint64_t hash);
};

struct CountingKernels {
  // As the functions of SplitBlockKernels of these names.
  void (*contains)(const uint64_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits);
  void (*insert)(uint64_t* words, uint64_t num_blocks, const Batch& batch);
  bool (*contains_one)(const uint64_t* words, uint64_t num_blocks, uint64_t hash);
  void (*insert_one)(uint64_t* words, uint64_t num_blocks, uint64_t hash);
  // Returns false, with nothing changed, if a counter of the hash is 0.
  bool (*erase_one)(uint64_t* words, uint64_t num_blocks, uint64_t hash);
};

struct Kernels {
  // hashes[i] = the hash of value i; n of them.
  void (*hash)(const Batch& batch, uint64_t* hashes);

  // Outputs made from the bits of n keys; they write exactly what is named.
  void (*bits_to_bytes)(const uint64_t* bits, size_t n, uint8_t* bytes);  // n bytes, 0 or 1
  // Writes first + i for every bit i that is set, ascending, into out[0..n); returns how many.
  size_t (*bits_to_indices32)(const uint64_t* bits, size_t n, uint64_t first, uint32_t* out);
  size_t (*bits_to_indices64)(const uint64_t* bits, size_t n, uint64_t first, uint64_t* out);

  // The number of bits set in n words.
  uint64_t (*popcount)(const uint64_t* words, size_t n);
  // into[i] |= from[i] for n words.
  void (*merge)(uint64_t* into, const uint64_t* from, size_t n);
  // into[i] &= from[i] for n words.
  void (*intersect)(uint64_t* into, const uint64_t* from, size_t n);

  SplitBlockKernels split_block;
  CuckooKernels cuckoo8, cuckoo12, cuckoo16;

  template <int kBits>
  const CuckooKernels& cuckoo() const {
    if constexpr (kBits == 8) return cuckoo8;
    if constexpr (kBits == 12) return cuckoo12;
    if constexpr (kBits == 16) return cuckoo16;
  }
  BloomKernels bloom;
  CountingKernels counting;
};

}  // namespace tamis

#endif  // TAMIS_DETAIL_KERNELS_H_
