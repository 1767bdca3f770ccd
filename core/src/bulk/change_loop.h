// The one loop that changes a filter by many keys, on one thread or on several.
#ifndef TAMIS_CORE_SRC_BULK_CHANGE_LOOP_H_
#define TAMIS_CORE_SRC_BULK_CHANGE_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/bulk_writer.h"
#include "core/src/bulk/outcomes.h"
#include "tamis/detail/batch.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis::detail {

// The threads that share a call, the calling one included.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual unsigned threads() const noexcept = 0;
  // Calls work(task, thread) for every task in [0, tasks), and returns when all are done; each
  // thread < threads() has one task at a time.
  virtual void ForEachTask(size_t tasks, FunctionRef<void(size_t task, unsigned thread)> work) = 0;
};

class CallingThread final : public Workers {
 public:
  unsigned threads() const noexcept override { return 1; }
  void ForEachTask(size_t tasks, FunctionRef<void(size_t, unsigned)> work) override {
    for (size_t task = 0; task < tasks; ++task) work(task, 0);
  }
};

// The keys of a call, from wherever they come: calls visit(batch, index) for batches that together
// are keys [begin, begin + n), in their order; `index` is that of the first key of the batch. What
// has to be hashed for the kernels of a filter is hashed by these. Called by several threads at a
// time.
using BatchSource = FunctionRef<void(const CommonKernels& kernels, uint64_t begin, uint64_t n,
                                     FunctionRef<void(const Batch& batch, uint64_t index)> visit)>;

// The source of keys that are there, which it refers to.
inline auto BatchesOf(const Keys& keys, const HashSpec& hash) {
  return [&keys, &hash](const CommonKernels& kernels, uint64_t begin, uint64_t n,
                        FunctionRef<void(const Batch& batch, uint64_t index)> visit) {
    ForEachBatch(kernels, keys.Slice(begin, n), hash, kUnlimited,
                 [&](const Batch& batch, size_t offset) { visit(batch, begin + offset); });
  };
}

// A filter, as the loop sees it.
struct ChangeTarget {
  const Kernels& kernels;
  // Changes the filter by the keys of a batch, in their order. Returns how many of them changed it,
  // and adds to `outcomes` what became of all.
  FunctionRef<size_t(const Batch& batch, uint64_t index, Outcomes& outcomes)> change_batch;
  // What orders n keys for so many threads; nullptr if there is no such way. May throw where there
  // is no memory for it.
  FunctionRef<std::unique_ptr<BulkWriter>(uint64_t n, unsigned threads)> make_writer;
};

// Changes the filter by n keys, ordered by region if `partitioned` and if there is memory for that.
// Without it the calling thread works alone. Threads claim `slice_keys` at a time where the order
// of keys does not matter. Returns how many keys changed it.
uint64_t ChangeByAll(const ChangeTarget& target, uint64_t n, const BatchSource& source,
                     bool partitioned, Workers& workers, uint64_t slice_keys, Outcomes outcomes);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_CHANGE_LOOP_H_
