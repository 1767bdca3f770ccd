// Bulk changes that are ordered by the region of the filter a key falls in, on one or more threads.
#ifndef TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
#define TAMIS_CORE_SRC_BULK_BULK_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "core/src/bulk/outcomes.h"
#include "tamis/detail/batch.h"

namespace tamis::detail {

// Takes the keys of a call in slices: all keys of a slice are added, by the threads that share the
// work; then all tasks are run, in any order and at the same time; where it is asked which keys
// were new, that is told, also for all threads at the same time; then the slice is ended.
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;

  // The most keys that a slice can have, a multiple of 64.
  virtual uint64_t max_slice_keys() const noexcept = 0;
  // Whether the result depends on the order of keys. If so, thread 0 must add the first keys of the
  // slice, thread 1 the next ones and so on, each in their order, all but the last a multiple of 64
  // keys.
  virtual bool in_order() const noexcept = 0;

  // Adds keys, the first of which has this index in the whole call. Calls for different threads may
  // run at the same time.
  virtual void Add(unsigned thread, const Batch& batch, uint64_t index) noexcept = 0;

  virtual size_t num_tasks() const noexcept = 0;
  virtual void Run(size_t task) noexcept = 0;

  // Adds to `outcomes` what became of the keys that a thread added, for Change::kInsertIfAbsent:
  // only of writers that keep the order of keys.
  virtual void Tell([[maybe_unused]] unsigned thread,
                    [[maybe_unused]] Outcomes& outcomes) noexcept {}

  // Returns for how many keys of the slice there was no change, and adds the indices of those that
  // could not be inserted or erased to `outcomes`, ascending.
  virtual uint64_t EndSlice(Outcomes& outcomes) noexcept = 0;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
