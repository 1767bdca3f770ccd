// The kernels of a backend for counting Bloom filters.
#ifndef TAMIS_DETAIL_COUNTING_KERNELS_H_
#define TAMIS_DETAIL_COUNTING_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

struct CountingKernels {
  // See the functions with the same names in SplitBlockKernels.
  void (*contains)(const uint64_t* words, uint64_t num_blocks, const Batch& batch, uint64_t* bits);
  void (*insert)(uint64_t* words, uint64_t num_blocks, const Batch& batch);
  bool (*contains_one)(const uint64_t* words, uint64_t num_blocks, uint64_t hash);
  void (*insert_one)(uint64_t* words, uint64_t num_blocks, uint64_t hash);
  // Returns false, with nothing changed, if a counter of the hash is 0.
  bool (*erase_one)(uint64_t* words, uint64_t num_blocks, uint64_t hash);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_COUNTING_KERNELS_H_
