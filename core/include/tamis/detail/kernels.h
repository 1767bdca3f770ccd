// The kernels of one backend: pure functions over (filter words, geometry, keys) -> output.
//
// A backend is a table of kernels. `portable` is the reference: all other backends compute the same
// bits. Kernels are stages: keys -> hashes -> probe -> bits -> bytes or indices. So a new filter
// adds only a family for its probe, and combinations of stages need no code.
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
#include "tamis/detail/join_kernels.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/detail/string_kernels.h"
#include "tamis/detail/xxh64_rests.h"

namespace tamis::detail {

// The families: the type and the name of each. A new family is one more line here. The tables of
// all backends follow from it.
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
  V(JoinKernels, join)              \
  V(FormatHashKernels, format_hash)

// Kernels for filters of all kinds.
struct CommonKernels {
  // Sets hashes[i] to the hash of value i, for n values. `hashes` may be the memory of the values.
  void (*hash)(const Batch& batch, uint64_t* hashes);
  // Sets hashes[i] to XXH64 of string i, for n strings, n <= Xxh64Rests::kMost. `hashes` needs room
  // for n rounded up to a multiple of 8. The elements past n may be overwritten.
  void (*xxh64_rests)(const Xxh64Rests& rests, Xxh64Lanes lanes, size_t n, uint64_t* hashes);

  // Sorts n strings by classes of lengths, n <= kStringsAtOnce. `lengths` is memory for
  // kStringsAtOnce lengths. The elements past n may have any value.
  void (*sort_by_length)(const LengthClasses& classes, const uint8_t* lengths, size_t n,
                         SortedStrings& sorted);
  // Sets hashes[i] to EndXxh3(lengths[i], hashes[i]) for n strings.
  void (*end_xxh3)(const uint8_t* lengths, size_t n, uint64_t* hashes);

  // Convert the bits of n keys to outputs. These functions write exactly the elements that their
  // comments name.
  void (*bits_to_bytes)(const uint64_t* bits, size_t n, uint8_t* bytes);  // n bytes, 0 or 1
  // Writes first + i for every bit i that is set, ascending, into out[0..n). Returns their number.
  size_t (*bits_to_indices32)(const uint64_t* bits, size_t n, uint64_t first, uint32_t* out);
  size_t (*bits_to_indices64)(const uint64_t* bits, size_t n, uint64_t first, uint64_t* out);

  // Returns the number of bits set in n words.
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

  // Returns the family of cuckoo filters with fingerprints of kBits bits.
  template <int kBits>
  const CuckooKernels& cuckoo() const {
    if constexpr (kBits == 8) return cuckoo8;
    if constexpr (kBits == 12) return cuckoo12;
    if constexpr (kBits == 16) return cuckoo16;
  }

  // Returns the family of fuse filters with fingerprints of kBits bits.
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
