// Bulk insertion of the keys that a filter beyond the caches does not have, ordered by the region
// of the filter a key falls in.
#ifndef TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_
#define TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "core/src/bulk/region_lists.h"
#include "tamis/detail/kernels.h"

namespace tamis::detail {

// As PartitionedWriter, but equal keys keep their order, of which the first is new: the hashes of a
// slice are distributed to lists, one for each region and thread; then each region takes its lists,
// in the order of threads, while it stays in cache.
class AbsentWriter final : public BulkWriter {
 public:
  // What is written to.
  struct Target {
    RegionTarget filter;
    // Inserts the absent ones of a batch of hashes, and tells by bits which they were. Called by
    // one thread at a time for each region.
    std::function<void(const Batch& hashes, uint64_t* fresh)> insert;
  };

  // For about `n` keys in all. Throws Error(kOutOfMemory) or std::bad_alloc if there is no memory
  // for the lists, which take about 100 MiB at most, and 8 KiB for each region and thread.
  AbsentWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads);

  uint64_t max_slice_keys() const noexcept override { return max_slice_keys_; }
  bool in_order() const noexcept override { return true; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  size_t num_tasks() const noexcept override { return shares_.front().lists.num_regions(); }
  void Run(size_t region) noexcept override;
  void Tell(unsigned thread, Outcomes& outcomes) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override;

 private:
  // Of one thread.
  struct Share {
    RegionLists lists;
    uint64_t num_fresh = 0;    // of its keys, told in this slice
    uint64_t first_index = 0;  // of its keys, in the whole call
  };

  const Target target_;
  const Kernels& kernels_;
  uint64_t max_slice_keys_;
  std::vector<Share> shares_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_
