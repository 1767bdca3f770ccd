// Shared parts of the portable kernels of all filter kinds. The kernels of a kind are defined next
// to the kind and declared here for the table of the backend.
#ifndef TAMIS_CORE_SRC_BACKEND_PORTABLE_H_
#define TAMIS_CORE_SRC_BACKEND_PORTABLE_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/kernels.h"

namespace tamis::detail {

namespace portable {

#define TAMIS_FAMILY(Type, name) extern const Type name;
TAMIS_KERNEL_FAMILIES(TAMIS_FAMILY)
#undef TAMIS_FAMILY

}  // namespace portable

// Sets bit i to bit_of(hash of value i), for each value of the batch.
template <typename BitOf>
void BitOfEach(const Batch& batch, uint64_t* bits, const BitOf& bit_of) {
  for (size_t i = 0; i < batch.n; i += 64) {
    uint64_t word = 0;
    for (size_t j = i; j < batch.n && j < i + 64; ++j) {
      word |= uint64_t{bit_of(batch.hasher(batch.values[j]))} << (j - i);
    }
    bits[i / 64] = word;
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BACKEND_PORTABLE_H_
