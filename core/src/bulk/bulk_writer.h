// Bulk changes on one or more threads that do not write the same words at the same time.
#ifndef TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
#define TAMIS_CORE_SRC_BULK_BULK_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "core/src/bulk/outcomes.h"
#include "tamis/detail/batch.h"

namespace tamis::detail {

// Takes the keys of a call in slices. For each slice, the caller does this in order:
// 1. The threads that share the work add all keys.
// 2. All tasks run, in any order and at the same time.
// 3. If the caller requested which keys were new, it calls Tell for each thread, possibly at the
//    same time.
// 4. The caller calls EndSlice.
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;

  // Returns the largest number of keys of a slice, a multiple of 64.
  virtual uint64_t max_slice_keys() const noexcept = 0;
  // Returns whether the result depends on the order of keys. If so, thread 0 must add the first
  // keys of the slice, thread 1 the next ones and so on, each in their order. All threads but the
  // last must add a multiple of 64 keys.
  virtual bool in_order() const noexcept = 0;

  // Adds keys. `index` is the position of the first one in the whole call. Calls for different
  // threads may run at the same time.
  virtual void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept = 0;

  virtual size_t num_tasks() const noexcept = 0;
  virtual void Run(size_t task) noexcept = 0;

  // Adds to `outcomes` which of the keys that `thread` added were new, for Change::kInsertIfAbsent.
  // Only writers that keep the order of keys implement it.
  virtual void Tell([[maybe_unused]] unsigned thread,
                    [[maybe_unused]] Outcomes& outcomes) noexcept {}

  // Returns the number of keys of the slice that did not change the filter. Adds the indices of
  // keys that could not be inserted or erased to `outcomes`, ascending.
  virtual uint64_t EndSlice(Outcomes& outcomes) noexcept = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
