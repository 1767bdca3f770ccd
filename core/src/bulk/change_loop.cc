#include "core/src/bulk/change_loop.h"

#include <algorithm>
#include <exception>

namespace tamis::detail {
namespace {

constexpr uint64_t kWordKeys = 64;  // keys of one word of a bitmap, which only one thread may write

std::unique_ptr<BulkWriter> TryMakeWriter(const ChangeTarget& target, uint64_t n,
                                          unsigned threads) {
  try {
    return target.make_writer(n, threads);
  } catch (const std::exception&) {
    return nullptr;  // no memory for the buffers; nothing has changed yet
  }
}

// Changes the filter by keys [begin, begin + n): all threads add them, then all threads run tasks.
void AddAndRun(const Kernels& kernels, BulkWriter& writer, uint64_t begin, uint64_t n,
               const BatchSource& source, Workers& workers, uint64_t slice_keys,
               Outcomes& outcomes) {
  // If order matters, each thread has one slice. Otherwise threads claim smaller slices, so that
  // all end at about the same time.
  const uint64_t step =
      writer.in_order() ? (n / workers.threads() / kWordKeys + 1) * kWordKeys : slice_keys;
  const uint64_t slices = n / step + (n % step != 0);
  workers.ForEachTask(slices, [&](size_t slice, unsigned thread) {
    const uint64_t first = slice * step;
    const unsigned adder = writer.in_order() ? static_cast<unsigned>(slice) : thread;
    source(kernels, begin + first, std::min(step, n - first),
           [&](const Batch& batch, uint64_t index) { writer.Add(adder, batch, index); });
  });
  workers.ForEachTask(writer.num_tasks(), [&](size_t task, unsigned) { writer.Run(task); });
  if (outcomes.fresh() != nullptr) {
    workers.ForEachTask(workers.threads(), [&](size_t adder, unsigned) {
      writer.Tell(static_cast<unsigned>(adder), outcomes);
    });
  }
}

}  // namespace

uint64_t ChangeByAll(const ChangeTarget& target, uint64_t n, const BatchSource& source,
                     bool by_writer, Workers& workers, uint64_t slice_keys, Outcomes outcomes) {
  const std::unique_ptr<BulkWriter> writer =
      by_writer ? TryMakeWriter(target, n, workers.threads()) : nullptr;
  if (writer == nullptr) {
    uint64_t done = 0;
    source(target.kernels, 0, n, [&](const Batch& batch, uint64_t index) {
      done += target.change_batch(batch, index, outcomes);
    });
    return done;
  }
  uint64_t done = n;
  for (uint64_t begin = 0, count = 0; begin < n; begin += count) {
    count = std::min(writer->max_slice_keys(), n - begin);
    AddAndRun(target.kernels, *writer, begin, count, source, workers, slice_keys, outcomes);
    done -= writer->EndSlice(outcomes);
  }
  return done;
}

}  // namespace tamis::detail
