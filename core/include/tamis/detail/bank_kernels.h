// The kernels of a backend for filter banks.
#ifndef TAMIS_DETAIL_BANK_KERNELS_H_
#define TAMIS_DETAIL_BANK_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

// One group for queries: see layout/bank.h.
struct BankRows {
  const uint64_t* rows;  // kBlockRows * num_blocks of kRowWords words, at a multiple of 64 bytes
  uint64_t num_blocks;
  const uint64_t* live;  // kRowWords words: the members that can be in answers
};

struct BankKernels {
  // Sets bits[i * stride + 8 g + w] to word w of the members of group g that may have value i.
  // Visits all groups for one key, then all groups for the next key. Rows are prefetched equally
  // early for one key in many groups and for many keys in one group.
  void (*look_up)(const BankRows* groups, size_t num_groups, const Batch& batch, uint64_t* bits,
                  size_t stride);
  // Adds to counts[64 w + b] the number of rows, out of n, that have bit b of word w. Row i is at
  // bits + i * stride, and has `words` words.
  void (*count)(const uint64_t* bits, size_t n, size_t stride, size_t words, uint64_t* counts);
  // For every member c whose bit is set in the kRowWords words of `mask`, sets bit c of row j to
  // bit j of the filter at filters[c], which has 256 num_blocks bits. All other bits stay. Does not
  // read filters[c] for other members.
  void (*transpose)(const uint64_t* const* filters, const uint64_t* mask, uint64_t num_blocks,
                    uint64_t* rows);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BANK_KERNELS_H_
