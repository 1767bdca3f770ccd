// Bulk insertion of the keys that are not yet in a filter larger than the caches, ordered by the
// filter region that each key falls in.
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

// Works like PartitionedWriter, but keeps the order of equal keys, because only the first of them
// is new. The hashes of a slice are distributed to lists, one for each region and thread. Then the
// lists of each region are inserted in the order of threads, while the region stays in cache.
class AbsentWriter final : public BulkWriter {
 public:
  // The filter to write to.
  struct Target {
    RegionTarget filter;
    // Inserts the hashes of a batch that are absent, and sets their bits in `fresh`. Called by one
    // thread at a time for each region.
    std::function<void(const Batch& hashes, uint64_t* fresh)> insert;
  };

  // `n` is the approximate number of all keys. Throws Error(kOutOfMemory) or std::bad_alloc if the
  // lists cannot be allocated: about 100 MiB at most, and 8 KiB for each region and thread.
  AbsentWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads);

  uint64_t max_slice_keys() const noexcept override { return max_slice_keys_; }
  bool in_order() const noexcept override { return true; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  size_t num_tasks() const noexcept override { return shares_.front().lists.num_regions(); }
  void Run(size_t region) noexcept override;
  void Tell(unsigned thread, Outcomes& outcomes) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override;

 private:
  // The keys of one thread.
  struct Share {
    RegionLists lists;
    uint64_t num_fresh = 0;    // keys of this slice that were new
    uint64_t first_index = 0;  // index in the whole call of the first key of this slice
  };

  const Target target_;
  const Kernels& kernels_;
  uint64_t max_slice_keys_;
  std::vector<Share> shares_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_ABSENT_WRITER_H_
