// The probe stage of bulk lookups: turns keys of any layout into bits.
#ifndef TAMIS_CORE_SRC_BULK_QUERY_H_
#define TAMIS_CORE_SRC_BULK_QUERY_H_

#include <cstdint>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/region_lists.h"
#include "core/src/bulk/valid_keys.h"

namespace tamis::detail {

// Sets bit i if value i of the batch may be in the filter, and clears it otherwise. Writes
// BitmapWords(batch.n) words.
using Probe = FunctionRef<void(const Batch& batch, uint64_t* bits)>;

// Sets bit i if key i may be in the filter. Otherwise, and for nulls, clears it. Writes
// BitmapWords(keys.size()) words. `probe` is called like Probe.
template <typename ProbeBatch>
void QueryBits(const CommonKernels& kernels, const HashSpec& hash, const ProbeBatch& probe,
               const Keys& keys, uint64_t* bits) noexcept {
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t begin) { probe(batch, bits + begin / 64); });
  ClearNulls(keys, 0, keys.size(), bits);
}

// Does the same as the function above, ordered by region. `lists` must have room for the keys; its
// earlier contents are dropped.
void QueryByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                   const Keys& keys, uint64_t* bits) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_QUERY_H_
