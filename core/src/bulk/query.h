// The probe stage of bulk lookups: keys of any form become bits.
#ifndef TAMIS_CORE_SRC_BULK_QUERY_H_
#define TAMIS_CORE_SRC_BULK_QUERY_H_

#include <cstdint>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/region_lists.h"
#include "core/src/bulk/valid_keys.h"

namespace tamis::detail {

// Lets bit i become whether value i of the batch may be in; BitmapWords(batch.n) words.
using Probe = FunctionRef<void(const Batch& batch, uint64_t* bits)>;

// Lets bit i become whether key i may be in; those of nulls are 0. Writes BitmapWords(keys.size())
// words. `probe` is as Probe.
template <typename ProbeBatch>
void QueryBits(const CommonKernels& kernels, const HashSpec& hash, const ProbeBatch& probe,
               const Keys& keys, uint64_t* bits) noexcept {
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t begin) { probe(batch, bits + begin / 64); });
  ClearNulls(keys, 0, keys.size(), bits);
}

// The same, of keys that the lists have room for; what is in them is dropped.
void QueryByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                   const Keys& keys, uint64_t* bits) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_QUERY_H_
