// Trivially copyable views of filters in device memory, to be passed by value to kernels of yours.
//
// Everything here also compiles as plain C++, where it works on host memory: so the same functions
// are tested on machines without a GPU.
#ifndef TAMIS_CUDA_FILTER_REF_CUH_
#define TAMIS_CUDA_FILTER_REF_CUH_

#include <cstdint>

#include "tamis/cuda/device_memory.cuh"
#include "tamis/detail/hd.h"
#include "tamis/detail/kernels.h"
#include "tamis/layout/split_block.h"

namespace tamis::cuda {

// A split-block filter. `words` is aligned to 32 bytes and has 8 * num_blocks elements.
//
// Any number of threads may call these at the same time. A key that one kernel inserts is found by
// the kernels that come after it in the stream; within the same kernel it may not be found yet.
struct SplitBlockRef {
  uint32_t* words;
  uint64_t num_blocks;  // in [1, split_block::kMaxBlocks]
  tamis::detail::KeyHasher hasher;

  // Integers are keys by their value widened to 64 bits.
  TAMIS_HD bool Contains(uint64_t key) const { return ContainsHash(hasher(key)); }
  TAMIS_HD void Insert(uint64_t key) const { InsertHash(hasher(key)); }

  // The same for hashes made with the filter's hash kind and seed.
  TAMIS_HD bool ContainsHash(uint64_t hash) const {
    uint32_t block[split_block::kWords];
    detail::LoadBlock(BlockOf(hash), block);
    // The bits asked for come to the lowest place, where a GPU joins two by one instruction; masks
    // take one for each.
    uint32_t all = ~uint32_t{0};
    for (int w = 0; w < split_block::kWords; ++w) {
      all &= block[w] >> ((static_cast<uint32_t>(hash) * split_block::Salt(w)) >> 27);
    }
    return (all & 1) != 0;
  }
  TAMIS_HD void InsertHash(uint64_t hash) const {
    uint32_t* const block = BlockOf(hash);
    for (int w = 0; w < split_block::kWords; ++w) {
      detail::AtomicOr(block + w, split_block::WordBit(hash, w));
    }
  }

 private:
  TAMIS_HD uint32_t* BlockOf(uint64_t hash) const {
    // split_block::BlockIndex of what has 32 bits each.
    const uint32_t index =
        detail::MulHigh(static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(num_blocks));
    return words + uint64_t{split_block::kWords} * index;
  }
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_FILTER_REF_CUH_
