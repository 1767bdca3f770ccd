// Operations on one key of a split-block filter. The code is inlined if the compiler may use
// vectors of the block's width. Otherwise it calls the backend's table.
//
// Without such vectors, the compiled loop over eight words is four times slower than a call through
// the table (bench/NOTES.md). With such vectors, the call takes longer than the operation itself.
// The choice depends on the processor that a file is compiled for. So these functions and all their
// callers, up to the user's function, are TAMIS_INLINE. Files compiled for different processors can
// then be linked together.
#ifndef TAMIS_DETAIL_SPLIT_BLOCK_INLINE_H_
#define TAMIS_DETAIL_SPLIT_BLOCK_INLINE_H_

#include <cstdint>
#include <cstring>

#include "tamis/detail/compiler.h"
#include "tamis/detail/split_block_kernels.h"
#include "tamis/layout/split_block.h"

#if TAMIS_GNU && (defined(__AVX2__) || defined(__ARM_NEON)) && !defined(__CUDACC__)
#define TAMIS_BLOCK_VECTORS 1
#else
#define TAMIS_BLOCK_VECTORS 0
#endif

namespace tamis::detail {

#if TAMIS_BLOCK_VECTORS

// The eight words of a block as a vector type of g++ and clang, and the type of such a block in
// memory. The address can be any multiple of 4, and the owner of the memory can use any type. (Do
// not pass these types as template arguments, because templates drop such attributes.)
using BlockVector [[gnu::vector_size(32)]] = uint32_t;
using BlockInMemory [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = uint32_t;
// A block in the memory of a filter. Without may_alias, compilers need not load the fields of the
// filter again after an insertion.
using OwnBlock [[gnu::vector_size(32), gnu::aligned(4)]] = uint32_t;

// Returns the hash's bit in each word: split_block::WordBit.
TAMIS_INLINE BlockVector BlockBits(uint64_t hash) {
  constexpr BlockVector kSalts = {split_block::Salt(0), split_block::Salt(1), split_block::Salt(2),
                                  split_block::Salt(3), split_block::Salt(4), split_block::Salt(5),
                                  split_block::Salt(6), split_block::Salt(7)};
  constexpr BlockVector kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
  return kOnes << ((static_cast<uint32_t>(hash) * kSalts) >> 27);
}

// Returns split_block::BlockIndex. For the high half of a product, g++ uses the instruction mul,
// whose fixed registers take two copies. andn and mulx take none. Braces contain the operands in
// the order of AT&T, and then of Intel (-masm=intel).
TAMIS_INLINE uint64_t InlineBlockIndex(uint64_t hash, uint64_t num_blocks) {
#if defined(__x86_64__) && defined(__BMI__) && defined(__BMI2__)
  const uint64_t unused = num_blocks <= split_block::kMaxBlocks32 ? 0xFFFFFFFF : 0;
  uint64_t used, low, high;
  asm("andn {%2, %1, %0|%0, %1, %2}" : "=r"(used) : "r"(unused), "r"(hash) : "cc");
  asm("mulx {%3, %0, %1|%1, %0, %3}" : "=r"(low), "=r"(high) : "d"(used), "r"(num_blocks));
  return high;
#else
  return split_block::BlockIndex(hash, num_blocks);
#endif
}

// Returns the address of the block of a hash.
TAMIS_INLINE uintptr_t BlockAddress(const uint32_t* words, uint64_t num_blocks, uint64_t hash) {
  return reinterpret_cast<uintptr_t>(words) +
         split_block::kBlockBytes * InlineBlockIndex(hash, num_blocks);
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
  Half halves[2];  // vectors, because single words would go through memory
  std::memcpy(halves, &missing, sizeof(halves));
  const Half any = halves[0] | halves[1];
  return (any[0] | any[1]) == 0;
#endif
}

// Insert one hash: into blocks of any owner, and into the blocks of a filter.
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
