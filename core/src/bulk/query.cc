#include "core/src/bulk/query.h"

namespace tamis::detail {

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
