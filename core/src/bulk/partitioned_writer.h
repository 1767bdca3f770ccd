// Bulk insertion into a filter larger than the caches, ordered by filter region.
#ifndef TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_
#define TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

// Collects entries in one buffer for each region of the filter. An entry is a hash, or one position
// of a key that writes to several regions. When the buffer of a region is full, it is written at
// once, while the region stays in cache. Several threads may work at the same time, each with its
// own buffers. Only one thread at a time writes a region, so writes to words are not atomic
// operations, and the result does not depend on the number of threads.
template <typename Entry>
class PartitionedWriter final : public BulkWriter {
 public:
  // The filter to write to.
  struct Target {
    uint64_t bytes;  // of the filter
    size_t num_regions;
    uint32_t entries_per_key;
    // Appends the entries of a batch to the buffers of their regions, whose ends it advances. The
    // batch has at most kBatchKeys keys.
    std::function<void(const Batch& batch, Entry** ends)> scatter;
    // Inserts entries that all belong to a region. Called by one thread at a time for each region.
    std::function<void(size_t region, std::span<const Entry> entries)> write;
    // Whether `write` has a high cost for each call, and so should be called with many entries.
    bool rarely = false;
  };

  // `n` is the approximate number of all keys. Throws Error(kOutOfMemory) or std::bad_alloc if the
  // buffers cannot be allocated: about 128 MiB at most.
  PartitionedWriter(Target target, uint64_t n, unsigned threads);

  // Returns practically no limit, since full buffers are written while keys are added.
  uint64_t max_slice_keys() const noexcept override { return uint64_t{1} << 63; }
  bool in_order() const noexcept override { return false; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  // A task writes the rest of all buffers of one region. Threads of an Engine can leave between two
  // tasks, and no thread waits for a region. If a task wrote all buffers of one thread, a thread
  // could leave only after it had written all of them.
  size_t num_tasks() const noexcept override { return target_.num_regions; }
  void Run(size_t region) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override { return 0; }

 private:
  // The buffers of one thread.
  struct Buffers {
    Storage entries;             // num_regions buffers of buffer_entries_
    std::vector<Entry*> begins;  // the begin of each buffer
    std::vector<Entry*> ends;    // the end of the entries in each buffer
  };

  void Write(Buffers& buffers, size_t region) noexcept;

  const Target target_;
  size_t scatter_keys_;     // keys of a call of `scatter`
  size_t scatter_entries_;  // its entries, which may all be of one region
  size_t buffer_entries_;
  std::vector<std::mutex> region_locks_;
  std::vector<Buffers> buffers_;
};

extern template class PartitionedWriter<uint64_t>;
extern template class PartitionedWriter<uint32_t>;

using HashWriter = PartitionedWriter<uint64_t>;
using PositionWriter = PartitionedWriter<uint32_t>;

// Returns the target for a filter in which a key writes block BlockIndex, and no
// other. Calls insert(hashes, first, blocks) for hashes that all fall into blocks [first, first +
// blocks).
HashWriter::Target HashTarget(
    uint64_t bytes, uint64_t num_blocks, const Kernels& kernels,
    std::function<void(const Batch& hashes, uint64_t first, uint64_t blocks)> insert);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_PARTITIONED_WRITER_H_
