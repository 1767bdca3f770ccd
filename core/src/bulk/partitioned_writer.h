// Bulk insertion into a filter larger than the caches, ordered by the filter region that each key
// falls in.
#ifndef TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_
#define TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

// Collects hashes in one buffer for each region of the filter. When the buffer of a region is full,
// it is written at once, while the region stays in cache. Several threads may work at the same
// time, each with its own buffers. Only one thread at a time writes a region, so writes to words
// are not atomic operations, and the result does not depend on the number of threads.
class PartitionedWriter final : public BulkWriter {
 public:
  // The filter to write to.
  struct Target {
    uint64_t bytes;       // size of the filter
    uint64_t num_blocks;  // a key writes block ((hash >> 32) * num_blocks) >> 32, and no other
    // Inserts the hashes of a batch, all of which fall into blocks [first, first + blocks). Called
    // by one thread at a time for each region.
    std::function<void(const Batch& hashes, uint64_t first, uint64_t blocks)> insert;
    // Whether `insert` has a high cost for each block, and so should be called with many hashes.
    bool rarely = false;
  };

  // `n` is the approximate number of all keys. Throws Error(kOutOfMemory) or std::bad_alloc if the
  // buffers cannot be allocated: about 128 MiB at most.
  PartitionedWriter(Target target, const Kernels& kernels, uint64_t n, unsigned threads);

  // Returns practically no limit, because full buffers are written while keys are added.
  uint64_t max_slice_keys() const noexcept override { return uint64_t{1} << 63; }
  bool in_order() const noexcept override { return false; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  // A task writes the rest of all buffers of one region. Threads of an Engine can leave between two
  // tasks, and no thread waits for a region. If a task wrote all buffers of one thread, a thread
  // could leave only after it had written all of them.
  size_t num_tasks() const noexcept override { return num_regions_; }
  void Run(size_t region) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override { return 0; }

 private:
  // The buffers of one thread.
  struct Buffers {
    Storage hashes;                 // num_regions_ buffers of buffer_hashes_
    std::vector<uint64_t*> begins;  // the begin of each buffer
    std::vector<uint64_t*> ends;    // the end of the hashes in each buffer
  };

  // Scatters at most kBatchKeys hashes, then writes the regions whose buffers might overflow at the
  // next call.
  void Scatter(Buffers& buffers, const uint64_t* hashes, size_t n) noexcept;
  void Write(Buffers& buffers, size_t region) noexcept;

  const Target target_;
  const Kernels& kernels_;
  unsigned shift_;  // region = block >> shift_
  size_t num_regions_;
  size_t buffer_hashes_;
  std::vector<std::mutex> region_locks_;
  std::vector<Buffers> buffers_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_
