// The probe stage of bulk lookups: keys of any form become bits.
#ifndef TAMIS_CORE_SRC_BULK_QUERY_H_
#define TAMIS_CORE_SRC_BULK_QUERY_H_

#include <cstdint>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/region_lists.h"
#include "tamis/detail/kernels.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::detail {

// Lets bit i become whether value i of the batch may be in; BitmapWords(batch.n) words.
using Probe = FunctionRef<void(const Batch& batch, uint64_t* bits)>;

// Lets bit i become whether key i may be in; those of nulls are 0. Writes BitmapWords(keys.size())
// words.
void QueryBits(const CommonKernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
               uint64_t* bits) noexcept;

// The same, of keys that the lists have room for; what is in them is dropped.
void QueryByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                   const Keys& keys, uint64_t* bits) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_QUERY_H_
