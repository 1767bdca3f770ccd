// One key of a split-block filter, by code that is inlined where the compiler may use vectors of
// the block's width, and else by the backend's table.
//
// What a compiler makes of the loop over eight words without such vectors is four times slower than
// a call through the table (bench/NOTES.md); with them, the call costs more than the work. Which of
// both a file gets depends on what it is compiled for, so functions that contain either are
// TAMIS_INLINE, up to the user's: files compiled for different processors can be linked together.
#ifndef TAMIS_DETAIL_SPLIT_BLOCK_INLINE_H_
#define TAMIS_DETAIL_SPLIT_BLOCK_INLINE_H_

#include <cstdint>
#include <cstring>

#include "tamis/detail/hd.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/layout/split_block.h"

#if defined(__GNUC__) && (defined(__AVX2__) || defined(__ARM_NEON)) && !defined(__CUDACC__)
#define TAMIS_BLOCK_VECTORS 1
#else
#define TAMIS_BLOCK_VECTORS 0
#endif

namespace tamis::detail {

#if TAMIS_BLOCK_VECTORS

// The eight words of a block, by the vector extensions of g++ and clang; and the same in memory, at
// any multiple of 4 and whatever its owner takes it for. (Not to be arguments of templates, which
// drop such attributes.)
using BlockVector [[gnu::vector_size(32)]] = uint32_t;
using BlockInMemory [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = uint32_t;
// Of a filter, whose fields have other types: they need not be read again after every insertion.
using OwnBlock [[gnu::vector_size(32), gnu::aligned(4)]] = uint32_t;

// The bit that a hash owns in each word: split_block::WordBit.
TAMIS_INLINE BlockVector BlockBits(uint64_t hash) {
  constexpr BlockVector kSalts = {split_block::Salt(0), split_block::Salt(1), split_block::Salt(2),
                                  split_block::Salt(3), split_block::Salt(4), split_block::Salt(5),
                                  split_block::Salt(6), split_block::Salt(7)};
  constexpr BlockVector kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
  return kOnes << ((static_cast<uint32_t>(hash) * kSalts) >> 27);
}

// Where the block of split_block::BlockIndex is. Its offset comes out of the product by a shift and
// a mask: x86 processors have fewer units for the two shifts that the plain formula takes.
TAMIS_INLINE uintptr_t BlockAddress(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  constexpr int kLog2BlockBytes = 5;
  static_assert(uint64_t{1} << kLog2BlockBytes == split_block::kBlockBytes);
  const uint64_t offset = ((hash >> 32) * num_blocks) >> (32 - kLog2BlockBytes);
  return reinterpret_cast<uintptr_t>(words) + (offset & ~(split_block::kBlockBytes - 1));
}

TAMIS_INLINE bool SplitBlockContainsOne(const SplitBlockKernels&, const uint32_t* words,
                                        uint64_t num_blocks, uint64_t hash) {
  const BlockVector block =
      *reinterpret_cast<const BlockInMemory*>(BlockAddress(words, num_blocks, hash));
  const BlockVector bits = BlockBits(hash);
#if defined(__AVX2__)
  using Quads [[gnu::vector_size(32)]] = long long;
  return __builtin_ia32_ptestc256(reinterpret_cast<Quads>(block), reinterpret_cast<Quads>(bits)) !=
         0;
#else
  const BlockVector missing = bits & ~block;
  using Half [[gnu::vector_size(16)]] = uint64_t;
  Half halves[2];  // as vectors: words would go through memory
  std::memcpy(halves, &missing, sizeof(halves));
  const Half any = halves[0] | halves[1];
  return (any[0] | any[1]) == 0;
#endif
}

// Into blocks that somebody else owns, or a filter.
TAMIS_INLINE void SplitBlockInsertOne(const SplitBlockKernels&, uint32_t* words,
                                      uint64_t num_blocks, uint64_t hash) {
  *reinterpret_cast<BlockInMemory*>(BlockAddress(words, num_blocks, hash)) |= BlockBits(hash);
}
TAMIS_INLINE void SplitBlockInsertOwn(const SplitBlockKernels&, uint32_t* words,
                                      uint64_t num_blocks, uint64_t hash) {
  *reinterpret_cast<OwnBlock*>(BlockAddress(words, num_blocks, hash)) |= BlockBits(hash);
}

#else

TAMIS_INLINE bool SplitBlockContainsOne(const SplitBlockKernels& kernels, const uint32_t* words,
                                        uint64_t num_blocks, uint64_t hash) {
  return kernels.contains_one(words, num_blocks, hash);
}

TAMIS_INLINE void SplitBlockInsertOne(const SplitBlockKernels& kernels, uint32_t* words,
                                      uint64_t num_blocks, uint64_t hash) {
  kernels.insert_one(words, num_blocks, hash);
}
TAMIS_INLINE void SplitBlockInsertOwn(const SplitBlockKernels& kernels, uint32_t* words,
                                      uint64_t num_blocks, uint64_t hash) {
  kernels.insert_one(words, num_blocks, hash);
}

#endif

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_SPLIT_BLOCK_INLINE_H_
