// The transposition of a matrix of 64 x 64 bits.
#ifndef TAMIS_BANK_SRC_BIT_MATRIX_H_
#define TAMIS_BANK_SRC_BIT_MATRIX_H_

#include <cstdint>

namespace tamis::detail {

// Moves bit c of word r to bit r of word c, least significant bit first. In six steps, quarters of
// halved size change places (Warren, "Hacker's Delight", 2nd edition, section 7-3).
inline void TransposeBits(uint64_t (&words)[64]) {
  uint64_t mask = 0x00000000FFFFFFFF;
  for (unsigned size = 32; size != 0; size /= 2, mask ^= mask << size) {
    for (unsigned r = 0; r < 64; r = ((r | size) + 1) & ~size) {
      const uint64_t swapped = ((words[r] >> size) ^ words[r | size]) & mask;
      words[r] ^= swapped << size;
      words[r | size] ^= swapped;
    }
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_BANK_SRC_BIT_MATRIX_H_
