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
TAMIS_HD constexpr uint64_t BlockIndex(uint64_t hash, uint64_t num_blocks) {
  return num_blocks <= kMaxBlocks32 ? BlockIndex32(hash, num_blocks)
                                    : BlockIndex64(hash, num_blocks);
}

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BLOCK_INDEX_H_
