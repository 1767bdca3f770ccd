// Bulk insertion into a filter beyond the caches, ordered by the part of the filter a key falls in.
#ifndef TAMIS_CORE_SRC_BULK_PARTITIONED_INSERT_H_
#define TAMIS_CORE_SRC_BULK_PARTITIONED_INSERT_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"
#include "tamis/filter.h"

namespace tamis {

// Hashes are collected by region of the filter; a region whose buffer is full is written at once,
// while it stays in cache. Several threads may do so, each through a lane of its own: one thread at
// a time writes a region, so the words need no atomic operations and come out as from one thread.
class PartitionedInserter final : public BulkWriter {
 public:
  // Whether it is expected to beat direct insertion for n keys on one thread.
  static bool Pays(const Filter& filter, uint64_t n) noexcept;

  // For about `n` keys in all. Throws Error(kOutOfMemory) or std::bad_alloc if there is no memory
  // for the buffers, which take about 128 MiB at most.
  PartitionedInserter(Filter& filter, const Kernels& kernels, uint64_t n, unsigned lanes);

  // One round takes any number of keys: full buffers are written while keys are added.
  uint64_t round_keys() const noexcept override { return uint64_t{1} << 63; }
  bool in_order() const noexcept override { return false; }
  void Add(unsigned lane, const Batch& batch, uint64_t index) noexcept override;
  // A task writes what a lane still holds.
  size_t num_tasks() const noexcept override { return lanes_.size(); }
  void Run(size_t lane) noexcept override;
  uint64_t EndRound(Rejects&) noexcept override { return 0; }

 private:
  struct Lane {
    detail::Storage hashes;         // num_regions_ buffers of buffer_hashes_
    std::vector<uint64_t*> begins;  // of each buffer
    std::vector<uint64_t*> ends;    // of what is in it
  };

  // Scatters at most kBatchKeys hashes; then writes the regions that might overflow at the next
  // call.
  void Scatter(Lane& lane, const uint64_t* hashes, size_t n) noexcept;
  void Write(Lane& lane, size_t region) noexcept;

  Filter& filter_;
  const Kernels& kernels_;
  const uint64_t num_parts_;
  unsigned shift_;  // region = part >> shift_
  size_t num_regions_;
  size_t buffer_hashes_;
  std::vector<std::mutex> region_locks_;
  std::vector<Lane> lanes_;
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_BULK_PARTITIONED_INSERT_H_
