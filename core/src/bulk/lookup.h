// The output stage of bulk lookups: every form of output, for whatever can be probed.
#ifndef TAMIS_CORE_SRC_BULK_LOOKUP_H_
#define TAMIS_CORE_SRC_BULK_LOOKUP_H_

#include <cstddef>
#include <cstdint>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/region_lists.h"
#include "tamis/detail/kernels.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Lets bit i become whether value i of the batch may be in; BitmapWords(batch.n) words.
using Probe = FunctionRef<void(const Batch& batch, uint64_t* bits)>;

// Each returns how many keys may be in. Outputs have room for the results of all keys.
size_t LookUpBits(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                  uint64_t* bits) noexcept;
size_t LookUpBytes(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                   uint8_t* bytes) noexcept;
// `first` is added to every index.
size_t LookUpIndices(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                     uint64_t first, uint32_t* out) noexcept;
size_t LookUpIndices(const Kernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
                     uint64_t first, uint64_t* out) noexcept;
size_t LookUpCount(const Kernels& kernels, const HashSpec& hash, Probe probe,
                   const Keys& keys) noexcept;

// Bits as LookUpBits has them, of keys that the lists have room for; what is in them is dropped.
void LookUpByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                    const Keys& keys, uint64_t* bits) noexcept;

// What bits become: indices, of either width.
inline size_t BitsToIndices(const Kernels& kernels, const uint64_t* bits, size_t n, uint64_t first,
                            uint32_t* out) {
  return kernels.bits_to_indices32(bits, n, first, out);
}
inline size_t BitsToIndices(const Kernels& kernels, const uint64_t* bits, size_t n, uint64_t first,
                            uint64_t* out) {
  return kernels.bits_to_indices64(bits, n, first, out);
}

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_LOOKUP_H_
