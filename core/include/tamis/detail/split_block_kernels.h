// The kernels of a backend for split-block Bloom filters.
#ifndef TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_
#define TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

struct SplitBlockKernels {
  // Sets bit i of `bits` to whether the filter may contain value i. Writes (n + 63) / 64 words. The
  // bits past n are 0.
  void (*contains)(const uint32_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits);
  void (*insert)(uint32_t* words, uint64_t num_blocks, const Batch& batch);
  // Inserts one value after another. Sets bit i of `fresh` to whether the filter did not contain
  // value i before. Writes the same words as contains.
  void (*insert_if_absent)(uint32_t* words, uint64_t num_blocks, const Batch& batch,
                           uint64_t* fresh);
  // Query or insert one hash. A call through a pointer is faster than a loop over the words that is
  // compiled for any processor.
  bool (*contains_one)(const uint32_t* words, uint64_t num_blocks, uint64_t hash);
  void (*insert_one)(uint32_t* words, uint64_t num_blocks, uint64_t hash);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_SPLIT_BLOCK_KERNELS_H_
