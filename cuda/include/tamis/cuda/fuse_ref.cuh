// A trivially copyable view of a fuse filter in device memory, to pass by value to kernels.
//
// Like filter_ref.cuh, this header also compiles as plain C++, where the view works on host memory.
#ifndef TAMIS_CUDA_FUSE_REF_CUH_
#define TAMIS_CUDA_FUSE_REF_CUH_

#include <cstdint>

#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/layout/fuse.h"

namespace tamis::cuda {

// A fuse filter never changes, so any number of threads may query it at the same time. A query
// reads a multiplier and three slots. With 12 bits, a slot is read as two bytes.
template <int kBits>
struct FuseRef {
  fuse::Table table;
  tamis::detail::KeyHasher hasher;

  // An integer key is hashed by its value, widened to 64 bits.
  TAMIS_HD bool Contains(uint64_t key) const { return ContainsHash(hasher(key)); }
  // Queries a hash that was made with the filter's hash kind and seed.
  TAMIS_HD bool ContainsHash(uint64_t hash) const {
    const uint64_t shard = fuse::ShardOf(hash, table.shard_shift);
    return fuse::ShardContains<kBits>(table, table.slots + shard * (table.stride * kBits / 8),
                                      hash * table.multipliers[shard]);
  }
  // Returns ContainsHash(hash) if the lowest bit of `wanted` is 1, otherwise false. Lanes without a
  // key read the slots of the hash 0, which is one access for all of them.
  TAMIS_HD bool ContainsHashIf(uint32_t wanted, uint64_t hash) const {
    const bool asked = (wanted & 1) != 0;
    return ContainsHash(asked ? hash : 0) && asked;
  }
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_FUSE_REF_CUH_
