// Trivially copyable views of split-block filters in device memory, to pass by value to kernels.
//
// Everything here also compiles as plain C++ and then works on host memory, so the same functions
// are tested on machines without a GPU.
#ifndef TAMIS_CUDA_FILTER_REF_CUH_
#define TAMIS_CUDA_FILTER_REF_CUH_

#include <cstdint>

#include "tamis/cuda/device_memory.cuh"
#include "tamis/detail/compiler.h"
#include "tamis/detail/kernels.h"
#include "tamis/layout/split_block.h"

namespace tamis::cuda {

// A split-block filter. `words` is aligned to 32 bytes and has 8 * num_blocks elements.
//
// Thread-safe. Later kernels in the stream find a key that was inserted. The kernel that inserted
// the key may not find it yet.
struct SplitBlockRef {
  uint32_t* words;
  uint64_t num_blocks;  // in [1, split_block::kMaxBlocks32]
  tamis::detail::KeyHasher hasher;

  // An integer key is hashed by its value, widened to 64 bits.
  TAMIS_HD bool Contains(uint64_t key) const { return ContainsHash(hasher(key)); }
  TAMIS_HD void Insert(uint64_t key) const { InsertHash(hasher(key)); }

  // Queries a hash that was made with the filter's hash kind and seed.
  TAMIS_HD bool ContainsHash(uint64_t hash) const { return (BitsIn(BlockOf(hash), hash) & 1) != 0; }
  // Returns ContainsHash(hash) if the lowest bit of `wanted` is 1, otherwise false. This function
  // has no branch, because lanes of a warp would diverge if only some have a key. The other lanes
  // read the first block, in one access for all of them.
  TAMIS_HD bool ContainsHashIf(uint32_t wanted, uint64_t hash) const {
    const uint32_t index = BlockIndex(hash) & (0 - (wanted & 1));
    // An AND of bits, because compilers turn a logical AND into a branch for each bit.
    return (BitsIn(words + uint64_t{split_block::kWords} * index, hash) & wanted & 1) != 0;
  }
  TAMIS_HD void InsertHash(uint64_t hash) const {
    uint32_t* const block = BlockOf(hash);
    for (int w = 0; w < split_block::kWords; ++w) {
      detail::AtomicOr(block + w, split_block::WordBit(hash, w));
    }
  }

  // Inserts the keys of all 32 lanes of a warp, which must call it at the same time. `has_key` is
  // false for lanes without a key. Eight lanes write the block of one key, a word each. The
  // hardware joins these writes into one access to one sector of memory. Insert makes eight
  // accesses. `warp` is ThisWarp() of warp.cuh.
  template <typename Warp>
  TAMIS_HD void InsertTogether(const Warp& warp, uint64_t key, bool has_key = true) const {
    InsertHashTogether(warp, hasher(key), has_key);
  }
  template <typename Warp>
  TAMIS_HD void InsertHashTogether(const Warp& warp, uint64_t hash, bool has_key = true) const {
    constexpr uint32_t kTile = split_block::kWords;
    const uint32_t word = warp.Index() % kTile;
    const uint32_t tile_start = warp.Index() - word;
    const uint32_t salt = SaltOf(word);
    const uint32_t with_key = warp.Ballot(has_key) >> tile_start;
    const uint32_t block = BlockIndex(hash);
    const auto pattern = static_cast<uint32_t>(hash);
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t k = 0; k < kTile; ++k) {
      const uint64_t at = warp.Shuffle(block, tile_start + k);
      const uint32_t low = warp.Shuffle(pattern, tile_start + k);
      if ((with_key >> k & 1) != 0) {
        detail::AtomicOr(words + (split_block::kWords * at + word),
                         uint32_t{1} << ((low * salt) >> 27));
      }
    }
  }

 private:
  // Returns split_block::BlockIndex, computed in 32 bits.
  TAMIS_HD uint32_t BlockIndex(uint64_t hash) const {
    return detail::MulHigh(static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(num_blocks));
  }
  TAMIS_HD uint32_t* BlockOf(uint64_t hash) const {
    return words + uint64_t{split_block::kWords} * BlockIndex(hash);
  }

  // Returns in the lowest bit whether a block has all bits of a hash. The other bits are undefined.
  // Shifting each bit to the lowest place lets a GPU join three words by one instruction. Masks
  // would take one instruction for each word.
  static TAMIS_HD uint32_t BitsIn(const uint32_t* words_of_block, uint64_t hash) {
    uint32_t block[split_block::kWords];
    detail::LoadBlock(words_of_block, block);
    uint32_t all = ~uint32_t{0};
    for (int w = 0; w < split_block::kWords; ++w) {
      all &= block[w] >> ((static_cast<uint32_t>(hash) * split_block::Salt(w)) >> 27);
    }
    return all;
  }

  // Returns the salt of a word that is not known at compile time. For a table or a chain of
  // comparisons, compilers would generate reads of local memory.
  static TAMIS_HD uint32_t SaltOf(uint32_t word) {
    const auto pick = [](bool second, uint32_t a, uint32_t b) { return second ? b : a; };
    const bool odd = (word & 1) != 0;
    const uint32_t low =
        pick((word & 2) != 0, pick(odd, split_block::Salt(0), split_block::Salt(1)),
             pick(odd, split_block::Salt(2), split_block::Salt(3)));
    const uint32_t high =
        pick((word & 2) != 0, pick(odd, split_block::Salt(4), split_block::Salt(5)),
             pick(odd, split_block::Salt(6), split_block::Salt(7)));
    return pick((word & 4) != 0, low, high);
  }
};

}  // namespace tamis::cuda

#endif  // TAMIS_CUDA_FILTER_REF_CUH_
