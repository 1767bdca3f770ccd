// The loop that changes a filter by many keys, on one thread or several.
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

// The threads that share a call, including the calling thread.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual unsigned threads() const noexcept = 0;
  // Calls work(task, thread) for every task in [0, tasks), and returns when all are done. `thread`
  // is below threads(), and no two tasks have the same `thread` at the same time.
  virtual void ForEachTask(size_t tasks, FunctionRef<void(size_t task, unsigned thread)> work) = 0;
};

class CallingThread final : public Workers {
 public:
  unsigned threads() const noexcept override { return 1; }
  void ForEachTask(size_t tasks, FunctionRef<void(size_t, unsigned)> work) override {
    for (size_t task = 0; task < tasks; ++task) work(task, 0);
  }
};

// The keys of a call, from any source. Calls visit(batch, index) for batches that together are keys
// [begin, begin + n), in their order; `index` is the position of the first key of the batch.
// `kernels` hashes the keys that have to be hashed before the kernels of a filter can take them.
// Several threads call it at the same time.
using BatchSource = FunctionRef<void(const CommonKernels& kernels, uint64_t begin, uint64_t n,
                                     FunctionRef<void(const Batch& batch, uint64_t index)> visit)>;

// Returns a source of keys in memory, to which it keeps references.
inline auto BatchesOf(const Keys& keys, const HashSpec& hash) {
  return [&keys, &hash](const CommonKernels& kernels, uint64_t begin, uint64_t n,
                        FunctionRef<void(const Batch& batch, uint64_t index)> visit) {
    ForEachBatch(kernels, keys.Slice(begin, n), hash, kUnlimited,
                 [&](const Batch& batch, size_t offset) { visit(batch, begin + offset); });
  };
}

// The filter that the loop changes.
struct ChangeTarget {
  const Kernels& kernels;
  // Changes the filter by the keys of a batch, in their order. Returns how many keys changed it,
  // and adds the result of each key to `outcomes`.
  FunctionRef<size_t(const Batch& batch, uint64_t index, Outcomes& outcomes)> change_batch;
  // Returns a writer of `n` keys for `threads` threads, or nullptr for a change without a
  // writer. May throw if memory runs out.
  FunctionRef<std::unique_ptr<BulkWriter>(uint64_t n, unsigned threads)> make_writer;
};

// Changes the filter by n keys, through a writer if `by_writer` is true and there is memory for it.
// Otherwise the calling thread works alone. If the order of keys does not matter,
// threads claim `slice_keys` keys at a time. Returns the number of keys that changed the filter.
uint64_t ChangeByAll(const ChangeTarget& target, uint64_t n, const BatchSource& source,
                     bool by_writer, Workers& workers, uint64_t slice_keys, Outcomes outcomes);

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_CHANGE_LOOP_H_
