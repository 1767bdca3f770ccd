// The arithmetic of a filter bank: which rows of a group belong to a hash. To use a bank, begin
// with tamis/bank/filter_bank.h.
//
// A group is the exact transposition of up to 512 split-block filters with the same number of
// blocks. Row j has bit j of every filter, so it is one cache line. A filter is a column of the
// group, called a member. The members that may have a key are the AND of the key's eight rows.
// BIGSI and COBS, indexes of sequences, and BitFunnel, a search engine, use this layout (Goodwin et
// al., "BitFunnel: Revisiting Signatures for Search", 2017). In tamis, the eight rows of a key are
// in one block of 16 KiB, which is new.
//
// Every backend calls or mirrors this header. A change here is a format change.
#ifndef TAMIS_LAYOUT_BANK_H_
#define TAMIS_LAYOUT_BANK_H_

#include <cstdint>

#include "tamis/detail/compiler.h"
#include "tamis/layout/split_block.h"

namespace tamis::bank {

inline constexpr int kRowWords = 8;                        // words of 64 bits in a row
inline constexpr uint64_t kRowBytes = 8 * kRowWords;       // a cache line
inline constexpr uint64_t kGroupMembers = 64 * kRowWords;  // member c is bit c % 64 of word c / 64
inline constexpr uint64_t kBlockRows = split_block::kBlockBits;  // rows of a block: its bits
inline constexpr uint64_t kBlockBytes = kBlockRows * kRowBytes;  // 16 KiB

// Returns which row of a block has the bit that `hash` sets in word `w`: in [32 w, 32 w + 32).
TAMIS_HD constexpr uint32_t RowInBlock(uint64_t hash, int w) {
  return static_cast<uint32_t>(32 * w) +
         ((static_cast<uint32_t>(hash) * split_block::Salt(w)) >> 27);
}

// Returns the rows of the block that a hash selects in a group.
TAMIS_HD constexpr const uint64_t* BlockOf(const uint64_t* rows, uint64_t num_blocks,
                                           uint64_t hash) {
  return rows + split_block::BlockIndex32(hash, num_blocks) * kBlockRows * kRowWords;
}

// Returns a word with bit c set if member 64 `word` + c may have the hash. `word` is in
// [0, kRowWords).
TAMIS_HD constexpr uint64_t MembersWith(const uint64_t* rows, uint64_t num_blocks, uint64_t hash,
                                        int word) {
  const uint64_t* const block = BlockOf(rows, num_blocks, hash);
  uint64_t members = ~uint64_t{0};
  for (int w = 0; w < split_block::kWords; ++w) {
    members &= block[RowInBlock(hash, w) * kRowWords + static_cast<uint32_t>(word)];
  }
  return members;
}

}  // namespace tamis::bank

#endif  // TAMIS_LAYOUT_BANK_H_
