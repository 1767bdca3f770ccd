// The kernels of one backend: pure functions over (filter words, geometry, keys) -> output.
//
// A backend is a table of these. `portable` is the oracle: all others give the same bits. They
// compose in stages: keys -> hashes -> probe -> bits -> bytes or indices, so that a new filter adds
// a family of its own, and no combination of them has to be written.
#ifndef TAMIS_DETAIL_KERNELS_H_
#define TAMIS_DETAIL_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/bank_kernels.h"
#include "tamis/detail/batch.h"
#include "tamis/detail/bloom_kernels.h"
#include "tamis/detail/counting_kernels.h"
#include "tamis/detail/cuckoo_kernels.h"
#include "tamis/detail/format_hash_kernels.h"
#include "tamis/detail/fuse_kernels.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/detail/xxh64_rests.h"

namespace tamis::detail {

// The families, each with the name of its type and its own: a new one is one more line, from which
// the tables of all backends follow.
#define TAMIS_KERNEL_FAMILIES(V)    \
  V(SplitBlockKernels, split_block) \
  V(CuckooKernels, cuckoo8)         \
  V(CuckooKernels, cuckoo12)        \
  V(CuckooKernels, cuckoo16)        \
  V(BloomKernels, bloom)            \
  V(CountingKernels, counting)      \
  V(FuseKernels, fuse8)             \
  V(FuseKernels, fuse12)            \
  V(FuseKernels, fuse16)            \
  V(FuseKernels, fuse32)            \
  V(BankKernels, bank)              \
  V(FormatHashKernels, format_hash)

// For filters of all kinds.
struct CommonKernels {
  // hashes[i] = the hash of value i; n of them. They may take the place of the values.
  void (*hash)(const Batch& batch, uint64_t* hashes);
  // hashes[i] = XXH64 of string i; n of them, n <= Xxh64Rests::kMost. `hashes` has room for as many
  // more as make n a multiple of 8, which may be overwritten.
  void (*xxh64_rests)(const Xxh64Rests& rests, Xxh64Lanes lanes, size_t n, uint64_t* hashes);

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
};

struct Kernels : CommonKernels {
#define TAMIS_FAMILY(Type, name) Type name;
  TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY

  // The family of cuckoo filters with fingerprints of so many bits.
  template <int kBits>
  const CuckooKernels& cuckoo() const {
    if constexpr (kBits == 8) return cuckoo8;
    if constexpr (kBits == 12) return cuckoo12;
    if constexpr (kBits == 16) return cuckoo16;
  }

  // The family of fuse filters with fingerprints of kBits.
  template <int kBits>
  const FuseKernels& fuse() const {
    if constexpr (kBits == 8) return fuse8;
    if constexpr (kBits == 12) return fuse12;
    if constexpr (kBits == 16) return fuse16;
    if constexpr (kBits == 32) return fuse32;
  }
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_KERNELS_H_
