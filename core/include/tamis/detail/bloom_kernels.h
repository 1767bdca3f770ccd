// The kernels of a backend for classic Bloom filters.
#ifndef TAMIS_DETAIL_BLOOM_KERNELS_H_
#define TAMIS_DETAIL_BLOOM_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/batch.h"

namespace tamis::detail {

struct BloomKernels {
  // See the functions with the same names in SplitBlockKernels.
  void (*contains)(const uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                   const Batch& batch, uint64_t* bits);
  void (*insert)(uint64_t* words, uint64_t num_bits, uint32_t num_hashes, const Batch& batch);
  void (*insert_if_absent)(uint64_t* words, uint64_t num_bits, uint32_t num_hashes,
                           const Batch& batch, uint64_t* fresh);
  // Appends the low half of each position of each key to list position >> shift, whose end is
  // ends[position >> shift]. Advances the ends. Every list has room for n * num_hashes positions.
  // The order of positions in a list depends on the backend.
  void (*scatter)(uint64_t num_bits, uint32_t num_hashes, const Batch& batch, unsigned shift,
                  uint32_t** ends);
};

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_BLOOM_KERNELS_H_
