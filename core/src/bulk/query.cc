#include "core/src/bulk/query.h"

#include "core/src/bulk/batches.h"
#include "core/src/bulk/valid_keys.h"

namespace tamis::detail {

void QueryBits(const CommonKernels& kernels, const HashSpec& hash, Probe probe, const Keys& keys,
               uint64_t* bits) noexcept {
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t begin) { probe(batch, bits + begin / 64); });
  ClearNulls(keys, 0, keys.size(), bits);
}

void QueryByRegion(const Kernels& kernels, const HashSpec& hash, Probe probe, RegionLists& lists,
                   const Keys& keys, uint64_t* bits) noexcept {
  lists.Clear();
  ForEachBatchAndNulls(kernels, keys, hash, kUnlimited,
                       [&](const Batch& batch, size_t) { lists.Add(kernels, batch); });
  for (size_t region = 0; region < lists.num_regions(); ++region) lists.ForRegion(region, probe);
  lists.ForEachWord([&](uint64_t begin, uint64_t word, size_t) { bits[begin / 64] = word; });
  ClearNulls(keys, 0, keys.size(), bits);
}

}  // namespace tamis::detail
