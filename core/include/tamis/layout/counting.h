// The arithmetic of a counting Bloom filter: which counters of a block belong to a hash, and how
// they count. To use such a filter, begin with tamis/filters/counting_filter.h.
//
// The layout is a split-block filter with counters instead of bits: a word of 32 bits becomes a
// word of 64 bits with 16 counters of 4 bits. A key has one counter in each of the eight words of
// its block, which is one cache line (after Fan, Cao, Almeida and Broder, "Summary Cache", 2000,
// whose counters are not in blocks). Every backend calls or mirrors this header. A change here is a
// format change.
#ifndef TAMIS_LAYOUT_COUNTING_H_
#define TAMIS_LAYOUT_COUNTING_H_

#include <cstdint>

#include "tamis/detail/compiler.h"
#include "tamis/layout/split_block.h"

namespace tamis::counting {

inline constexpr int kWords = split_block::kWords;                  // a key has one counter in each
inline constexpr uint64_t kBlockBytes = 64;                         // one cache line
inline constexpr uint64_t kWordCounters = 16;                       // counters in a word
inline constexpr uint64_t kBlockCounters = kWords * kWordCounters;  // counters in a block
inline constexpr uint64_t kMaxBlocks = split_block::kMaxBlocks32;   // largest number of blocks
// A counter with this value is saturated and never changes, because its true count is unknown.
inline constexpr uint64_t kMaxCount = 15;

// Returns the block of a hash, in [0, num_blocks).
TAMIS_HD constexpr uint64_t BlockIndex(uint64_t hash, uint64_t num_blocks) {
  return split_block::BlockIndex32(hash, num_blocks);
}

// Returns the shift of the hash's counter in word `w`: 0, 4, ... 60. Counter j replaces bits 2j and
// 2j + 1 of the split-block filter's word.
TAMIS_HD constexpr int CounterShift(uint64_t hash, int w) {
  return static_cast<int>((static_cast<uint32_t>(hash) * split_block::Salt(w)) >> 28) * 4;
}

// Returns the counter of a word that begins at bit `shift`.
TAMIS_HD constexpr uint64_t Count(uint64_t word, int shift) { return (word >> shift) & kMaxCount; }

// Returns whether no counter of the hash is 0.
TAMIS_HD constexpr bool BlockContains(const uint64_t* block, uint64_t hash) {
  bool present = true;
  for (int w = 0; w < kWords; ++w) present &= Count(block[w], CounterShift(hash, w)) != 0;
  return present;
}

// Adds 1 to each counter of the hash, up to kMaxCount.
TAMIS_HD constexpr void BlockInsert(uint64_t* block, uint64_t hash) {
  for (int w = 0; w < kWords; ++w) {
    const int shift = CounterShift(hash, w);
    block[w] += uint64_t{Count(block[w], shift) != kMaxCount} << shift;
  }
}

// If a counter of the hash is 0, the key was never inserted: returns false and changes nothing.
TAMIS_HD constexpr bool BlockErase(uint64_t* block, uint64_t hash) {
  if (!BlockContains(block, hash)) return false;
  for (int w = 0; w < kWords; ++w) {
    const int shift = CounterShift(hash, w);
    block[w] -= uint64_t{Count(block[w], shift) != kMaxCount} << shift;
  }
  return true;
}

// Return one bit for each counter of a word, at the counter's lowest bit: whether the counter is
// not 0, and whether it is saturated.
TAMIS_HD constexpr uint64_t NonZero(uint64_t word) {
  return (word | (word >> 1) | (word >> 2) | (word >> 3)) & 0x1111111111111111;
}
TAMIS_HD constexpr uint64_t Saturated(uint64_t word) {
  return word & (word >> 1) & (word >> 2) & (word >> 3) & 0x1111111111111111;
}

// Returns a + b for each counter, at most kMaxCount.
TAMIS_HD constexpr uint64_t ClampedSum(uint64_t a, uint64_t b) {
  constexpr uint64_t kEven = 0x0F0F0F0F0F0F0F0F;
  uint64_t sum = 0;
  for (int shift = 0; shift < 8; shift += 4) {
    const uint64_t bytes = ((a >> shift) & kEven) + ((b >> shift) & kEven);
    const uint64_t over = (bytes >> 4) & 0x0101010101010101;
    sum |= ((bytes | (over * kMaxCount)) & kEven) << shift;
  }
  return sum;
}

// Returns the word of a split-block filter with both bits 2j and 2j + 1 set if counter j is not 0.
TAMIS_HD constexpr uint32_t FrozenWord(uint64_t word) {
  uint64_t bits = NonZero(word);  // spreads every fourth bit to every second bit
  bits = (bits | (bits >> 2)) & 0x0505050505050505;
  bits = (bits | (bits >> 4)) & 0x0055005500550055;
  bits = (bits | (bits >> 8)) & 0x0000555500005555;
  bits = (bits | (bits >> 16)) & 0x0000000055555555;
  return static_cast<uint32_t>(bits | (bits << 1));
}

}  // namespace tamis::counting

#endif  // TAMIS_LAYOUT_COUNTING_H_
