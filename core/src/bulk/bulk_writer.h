// Bulk changes that are ordered by the part of the filter a key falls in, on one or more threads.
#ifndef TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
#define TAMIS_CORE_SRC_BULK_BULK_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "tamis/detail/change.h"
#include "tamis/detail/kernels.h"

namespace tamis {

// Works in rounds: all keys of a round are added, through one lane for each thread; then all tasks
// are run, in any order and at the same time; then the round is ended.
class BulkWriter {
 public:
  virtual ~BulkWriter() = default;

  // The most keys that a round can take, a multiple of 64.
  virtual uint64_t round_keys() const noexcept = 0;
  // Whether the result depends on the order of keys. If so, lane 0 must be given the first keys of
  // the round, lane 1 the next ones and so on, each in their order.
  virtual bool in_order() const noexcept = 0;

  // Adds keys, the first of which has this index in the whole call. A lane is for one thread at a
  // time.
  virtual void Add(unsigned lane, const Batch& batch, uint64_t index) noexcept = 0;

  virtual size_t num_tasks() const noexcept = 0;
  virtual void Run(size_t task) noexcept = 0;

  // Returns how many keys of the round could not be inserted or erased, and adds their indices to
  // `rejects`, ascending.
  virtual uint64_t EndRound(Rejects& rejects) noexcept = 0;
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_BULK_BULK_WRITER_H_
