// What a backend does for split-block Bloom filters.
#ifndef TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_
#define TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

struct SplitBlockKernels {
  // Bit i of `bits` becomes whether the filter may contain value i. Writes (n + 63) / 64 words, the
  // bits past n as 0.
  void (*contains)(const uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits);
  void (*insert)(uint32_t* words, uint64_t num_blocks, const Batch& batch);
  // The same as insert, one value after the other: bit i of `fresh`, which is as the bits of
  // contains, becomes whether the filter did not have value i before.
  void (*insert_if_absent)(uint32_t* words, uint64_t num_blocks, const Batch& batch,
                           uint64_t* fresh);
  // Contains and insert for one hash: a call by pointer costs less than what a compiler makes of
  // the loop over words without knowing the processor.
  bool (*contains_one)(const uint32_t* words, uint64_t num_blocks, uint64_t hash);
  void (*insert_one)(uint32_t* words, uint64_t num_blocks, uint64_t hash);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_
