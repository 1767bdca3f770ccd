// Which block of a filter a hash selects. tamis/layout/split_block.h uses these functions.
#ifndef TAMIS_DETAIL_BLOCK_INDEX_H_
#define TAMIS_DETAIL_BLOCK_INDEX_H_

#include <cstdint>

#include "tamis/detail/compiler.h"

namespace tamis::detail {

// The largest number of blocks (128 GiB of split blocks) for which 32 bits of the hash choose the
// block.
inline constexpr uint64_t kMaxBlocks32 = 0xFFFFFFFF;

// Return the block of a hash: its high half, or all of it, scaled to [0, num_blocks).
TAMIS_HD constexpr uint64_t BlockIndex32(uint64_t hash, uint64_t num_blocks) {
  return ((hash >> 32) * num_blocks) >> 32;
}
TAMIS_HD constexpr uint64_t BlockIndex64(uint64_t hash, uint64_t num_blocks) {
  return HighProduct(hash, num_blocks);
}

// Returns the block of a hash. With more than kMaxBlocks32 blocks, all bits of the hash choose it.
// A product of 128 bits serves both cases without a branch: without the low half of the hash,
// BlockIndex64 is BlockIndex32. Compilers compute the mask once before a loop.
TAMIS_HD constexpr uint64_t BlockIndex(uint64_t hash, uint64_t num_blocks) {
  const uint64_t mask = ~uint64_t{0} << (num_blocks <= kMaxBlocks32 ? 32 : 0);
  return BlockIndex64(hash & mask, num_blocks);
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BLOCK_INDEX_H_
