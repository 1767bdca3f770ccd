// Bulk insertion by several threads into a small filter: each thread has words of its own, and the
// filter becomes their union.
#ifndef TAMIS_CORE_SRC_BULK_UNION_WRITER_H_
#define TAMIS_CORE_SRC_BULK_UNION_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/src/bulk/bulk_writer.h"
#include "tamis/detail/kernels.h"
#include "tamis/detail/storage.h"

namespace tamis::detail {

// No thread waits for another one while keys are added, unlike threads of a PartitionedWriter, and
// keys are not ordered. In return, the memory of the filter is needed once for each thread, so this
// pays only for filters that are small compared to the keys.
class UnionWriter final : public BulkWriter {
 public:
  // The filter to write to, whose words are the union of the words that each key sets.
  struct Target {
    uint64_t* words;
    uint64_t num_words;
    // Inserts the keys of a batch into `words`, which have the size of the filter. Called by
    // several threads at the same time.
    std::function<void(const Batch& batch, uint64_t* words)> insert;
  };

  // Throws Error(kOutOfMemory) or std::bad_alloc if the words of other threads than the first one
  // cannot be allocated.
  UnionWriter(Target target, const Kernels& kernels, unsigned threads);

  uint64_t max_slice_keys() const noexcept override { return uint64_t{1} << 63; }
  bool in_order() const noexcept override { return false; }
  void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept override;
  // A task adds a part of the words of all threads to the filter.
  size_t num_tasks() const noexcept override;
  void Run(size_t part) noexcept override;
  uint64_t EndSlice(Outcomes&) noexcept override { return 0; }

 private:
  // The words of a thread other than the first one, which writes to the filter itself.
  struct Words {
    Storage storage;
    bool used = false;  // words that are all 0 are never read

    uint64_t* data() const noexcept { return reinterpret_cast<uint64_t*>(storage.data()); }
  };

  const Target target_;
  const Kernels& kernels_;
  std::vector<Words> others_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_UNION_WRITER_H_
