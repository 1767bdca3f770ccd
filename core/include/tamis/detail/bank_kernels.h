// What a backend does for filter banks.
#ifndef TAMIS_DETAIL_BANK_KERNELS_H_
#define TAMIS_DETAIL_BANK_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

// One group, as lookups see it: see layout/bank.h.
struct BankRows {
  const uint64_t* rows;  // kBlockRows * num_blocks of kRowWords words, at a multiple of 64 bytes
  uint64_t num_blocks;
  const uint64_t* live;  // kRowWords words: the members that may be answers
};

struct BankKernels {
  // bits[i * stride + 8 g + w] becomes word w of the members of group g that may have value i. The
  // rows of groups come in the order of keys, then of groups: a key against many groups is
  // prefetched as far as many keys against one.
  void (*look_up)(const BankRows* groups, size_t num_groups, const Batch& batch, uint64_t* bits,
                  size_t stride);
  // counts[64 w + b] += how many of n rows have bit b of word w; row i is at bits + i * stride, of
  // which it has `words` words.
  void (*count)(const uint64_t* bits, size_t n, size_t stride, size_t words, uint64_t* counts);
  // For every member c that is set in `mask`, of kRowWords words, bit c of row j becomes bit j of
  // the filter at filters[c], of 256 num_blocks bits; all other bits stay. filters[c] is not looked
  // at for other members.
  void (*transpose)(const uint64_t* const* filters, const uint64_t* mask, uint64_t num_blocks,
                    uint64_t* rows);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BANK_KERNELS_H_
