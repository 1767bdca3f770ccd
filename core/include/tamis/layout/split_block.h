// The arithmetic of a split-block filter: which block a hash selects, and which bit it has in each
// of the block's eight words. To use such a filter, begin with tamis/filters/split_block_filter.h.
//
// The layout is the layout of Apache Parquet (parquet-format, BloomFilter.md), after Putze, Sanders
// and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007. Every backend calls or
// mirrors this header. A change here is a format change.
#ifndef TAMIS_LAYOUT_SPLIT_BLOCK_H_
#define TAMIS_LAYOUT_SPLIT_BLOCK_H_

#include <cstdint>

#include "tamis/detail/block_index.h"
#include "tamis/detail/compiler.h"

namespace tamis::split_block {

inline constexpr int kWords = 8;                           // a key sets one bit in each
inline constexpr uint64_t kBlockBytes = 32;                // never straddles a cache line
inline constexpr uint64_t kBlockBits = 8 * kBlockBytes;    // bits of a block
inline constexpr uint64_t kMaxBlocks = uint64_t{1} << 40;  // 32 TiB
using detail::kMaxBlocks32;

// Returns the odd multiplier of word `w`, in [0, 8).
TAMIS_HD constexpr uint32_t Salt(int w) {
  constexpr uint32_t kSalts[kWords] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                       0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
  return kSalts[w];
}

// The block of a hash. With more than kMaxBlocks32 blocks, up to eight bits of the hash that choose
// the block also choose bits in it.
using detail::BlockIndex;
using detail::BlockIndex32;
using detail::BlockIndex64;

// Returns the hash's bit in word `w`. Only the low half of the hash matters.
TAMIS_HD constexpr uint32_t WordBit(uint64_t hash, int w) {
  return uint32_t{1} << ((static_cast<uint32_t>(hash) * Salt(w)) >> 27);
}

// Returns whether the block has all eight bits of the hash. Branch-free: in a mix of hits and
// misses, mispredictions of an early exit take longer than the exit saves.
TAMIS_HD constexpr bool BlockContains(const uint32_t* block, uint64_t hash) {
  uint32_t missing = 0;
  for (int w = 0; w < kWords; ++w) missing |= ~block[w] & WordBit(hash, w);
  return missing == 0;
}

// Sets all eight bits of the hash.
TAMIS_HD constexpr void BlockInsert(uint32_t* block, uint64_t hash) {
  for (int w = 0; w < kWords; ++w) block[w] |= WordBit(hash, w);
}

}  // namespace tamis::split_block

#endif  // TAMIS_LAYOUT_SPLIT_BLOCK_H_
