#include "tamis/engine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/src/bulk/bulk.h"
#include "core/src/bulk/bulk_writer.h"
#include "core/src/engine/accelerator.h"
#include "core/src/engine/planner.h"
#include "core/src/engine/thread_pool.h"
#include "tamis/bloom_filter.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"

namespace tamis {
namespace {

void RequireSize(const char* what, uint64_t size, uint64_t needed, uint64_t keys) {
  if (size >= needed) return;
  throw Error(ErrorCode::kInvalidArgument, "the output has " + std::to_string(size) + " " + what +
                                               ", and " + std::to_string(keys) + " keys need " +
                                               std::to_string(needed));
}

PlanRequest RequestFor(Operation operation, const Filter& filter, uint64_t keys,
                       DeviceState device = {}) noexcept {
  PlanRequest request = {operation, filter.kind(), filter.bytes(), keys, device};
  if (request.kind == FilterKind::kBloom) {
    request.hashes = static_cast<const BloomFilter&>(filter).num_hashes();
  }
  return request;
}

// For what is made of the bits that a GPU has found.
const Kernels& HostKernels() { return *Backends().front().kernels; }

size_t BitsToIndices(const uint64_t* bits, size_t n, uint64_t first, uint32_t* out) {
  return HostKernels().bits_to_indices32(bits, n, first, out);
}
size_t BitsToIndices(const uint64_t* bits, size_t n, uint64_t first, uint64_t* out) {
  return HostKernels().bits_to_indices64(bits, n, first, out);
}

}  // namespace

class Engine::Impl {
 public:
  explicit Impl(const EngineOptions& options)
      : planner(options), accelerator_(options.accelerator), device_keys_(options.device_keys) {
    const Backend* device = planner.device();
    if (device == nullptr) {
      accelerator_ = nullptr;
    } else if (accelerator_ == nullptr) {
      accelerator_ = device->make_accelerator();
    }
  }

  PlanStep Choose(Operation operation, const Filter& filter, uint64_t keys) const noexcept {
    return planner.Choose(RequestFor(operation, filter, keys));
  }

  DeviceState StateOf(const Filter& filter) const noexcept {
    if (accelerator_ == nullptr || device_lost_ || !accelerator_->Takes(filter)) return {};
    return {.takes = true, .mirrored = accelerator_->HasMirror(filter)};
  }

  EngineStats stats() const {
    const std::lock_guard lock(stats_mutex_);
    return stats_;
  }

  // Calls work(begin, n, slice, thread) for slices [begin, begin + n) that together are all keys,
  // on the threads of the step.
  template <typename Work>
  void ForEachSlice(const PlanStep& step, uint64_t keys, const Work& work) {
    pool.ParallelFor(NumSlices(step, keys), step.threads,
                     [&](size_t slice, unsigned thread) noexcept {
                       const size_t begin = slice * step.slice_keys;
                       work(begin, std::min(step.slice_keys, keys - begin), slice, thread);
                     });
  }

  static size_t NumSlices(const PlanStep& step, uint64_t keys) noexcept {
    return keys / step.slice_keys + (keys % step.slice_keys != 0);
  }

  // Lets a GPU look the keys up if that is the way to go, and returns the sum of
  // write(bits, n, begin), which is handed the bits of keys [begin, begin + n). Nothing: the host
  // has to.
  template <typename Write>
  std::optional<size_t> OnDevice(const Filter& filter, const Keys& keys, const Write& write);

  // The sum of find(kernels, begin, n) over the slices of a call that probes the filter, or of
  // write() as above.
  template <typename Find, typename Write>
  size_t SumOfSlices(const Filter& filter, const Keys& all, const Find& find, const Write& write) {
    if (all.empty()) return 0;
    if (const std::optional<size_t> found = OnDevice(filter, all, write)) return *found;
    const uint64_t keys = all.size();
    const PlanStep step = Choose(Operation::kContains, filter, keys);
    std::atomic<size_t> sum{0};
    ForEachSlice(step, keys, [&](size_t begin, size_t n, size_t, unsigned) {
      sum.fetch_add(find(*step.backend->kernels, begin, n), std::memory_order_relaxed);
    });
    return sum.load(std::memory_order_relaxed);
  }

  template <typename Index>
  size_t Select(const Filter& filter, const Keys& keys, std::span<Index> out);

  // Changes the filter by n keys that for_each_batch(begin, n, visit) hands to visit(batch, index)
  // in batches. Returns for how many that was possible.
  template <typename ForEachBatchOf>
  uint64_t Change(tamis::Change change, Filter& filter, const PlanStep& step, uint64_t n,
                  Rejects rejects, const ForEachBatchOf& for_each_batch);
  size_t Change(tamis::Change change, Filter& filter, const Keys& keys, Rejects rejects);

  // One round: all threads add their keys, then all threads carry out tasks.
  template <typename ForEachBatchOf>
  void RunRound(BulkWriter& writer, const PlanStep& step, uint64_t begin, uint64_t n,
                const ForEachBatchOf& for_each_batch);

  const Planner planner;
  ThreadPool pool;

 private:
  std::shared_ptr<Accelerator> accelerator_;
  const bool device_keys_;
  std::atomic<bool> device_lost_{false};
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
};

template <typename Write>
std::optional<size_t> Engine::Impl::OnDevice(const Filter& filter, const Keys& keys,
                                             const Write& write) {
  if (accelerator_ == nullptr) return std::nullopt;
  // Those cannot be read by the host, so the device has to answer.
  const bool held = device_keys_ && accelerator_->Holds(keys);
  const DeviceState state = StateOf(filter);
  const PlanRequest request = RequestFor(Operation::kContains, filter, keys.size(), state);
  if (!held && !planner.Choose(request).on_device) return std::nullopt;
  size_t found = 0;
  bool has_written = false;
  try {
    accelerator_->ForEachBits(filter, keys, [&](const uint64_t* bits, size_t n, uint64_t begin) {
      has_written = true;
      found += write(bits, n, begin);
    });
  } catch (const Error& error) {
    const bool falls_back = !held && !has_written && !planner.backend_is_pinned();
    if (falls_back && error.code() == ErrorCode::kDevice) device_lost_ = true;
    const std::lock_guard lock(stats_mutex_);
    ++stats_.failures;
    stats_.fallbacks += falls_back;
    stats_.last_failure = error.what();
    if (!falls_back) throw;
    return std::nullopt;
  }
  const std::lock_guard lock(stats_mutex_);
  ++stats_.device_calls;
  stats_.uploads += !state.mirrored;
  return found;
}

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(options)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

unsigned Engine::threads() const noexcept { return impl_->planner.threads(); }

Plan Engine::PlanFor(const Filter& filter, uint64_t n, Operation operation) const {
  return impl_->planner.Explain(RequestFor(operation, filter, n, impl_->StateOf(filter)));
}

EngineStats Engine::stats() const { return impl_->stats(); }

size_t Engine::Contains(const Filter& filter, Keys keys, Bitmap out) const {
  RequireSize("words", out.words().size(), BitmapWords(keys.size()), keys.size());
  uint64_t* const bits = out.words().data();
  return impl_->SumOfSlices(
      filter, keys,
      [&](const Kernels& kernels, size_t begin, size_t n) {
        return filter.ContainsWith(kernels, keys.Slice(begin, n), bits + begin / 64);
      },
      [&](const uint64_t* from, size_t n, uint64_t begin) {
        std::memcpy(bits + begin / 64, from, sizeof(*bits) * BitmapWords(n));
        return HostKernels().popcount(from, BitmapWords(n));
      });
}

size_t Engine::Contains(const Filter& filter, Keys keys, std::span<uint8_t> out) const {
  RequireSize("bytes", out.size(), keys.size(), keys.size());
  return impl_->SumOfSlices(
      filter, keys,
      [&](const Kernels& kernels, size_t begin, size_t n) {
        return filter.ContainsWith(kernels, keys.Slice(begin, n), out.data() + begin);
      },
      [&](const uint64_t* bits, size_t n, uint64_t begin) {
        HostKernels().bits_to_bytes(bits, n, out.data() + begin);
        return HostKernels().popcount(bits, BitmapWords(n));
      });
}

size_t Engine::Count(const Filter& filter, Keys keys) const {
  return impl_->SumOfSlices(
      filter, keys,
      [&](const Kernels& kernels, size_t begin, size_t n) {
        return filter.CountWith(kernels, keys.Slice(begin, n));
      },
      [&](const uint64_t* bits, size_t n, uint64_t) {
        return HostKernels().popcount(bits, BitmapWords(n));
      });
}

template <typename Index>
size_t Engine::Impl::Select(const Filter& filter, const Keys& keys, std::span<Index> out) {
  RequireSize("elements", out.size(), keys.size(), keys.size());
  if (keys.empty()) return 0;
  size_t written = 0;
  const auto write = [&](const uint64_t* bits, size_t n, uint64_t begin) {
    const size_t more = BitsToIndices(bits, n, begin, out.data() + written);
    written += more;
    return more;
  };
  if (const std::optional<size_t> all = OnDevice(filter, keys, write)) return *all;
  const PlanStep step = Choose(Operation::kContains, filter, keys.size());

  // Each slice writes where its indices would be if all keys were hits; then they move together.
  std::vector<size_t> found(NumSlices(step, keys.size()));
  ForEachSlice(step, keys.size(), [&](size_t begin, size_t n, size_t slice, unsigned) {
    found[slice] =
        filter.SelectWith(*step.backend->kernels, keys.Slice(begin, n), begin, out.data() + begin);
  });
  size_t total = found[0];
  for (size_t slice = 1; slice < found.size(); ++slice) {
    const Index* from = out.data() + slice * step.slice_keys;
    if (out.data() + total != from) {
      std::memmove(out.data() + total, from, found[slice] * sizeof(Index));
    }
    total += found[slice];
  }
  return total;
}

size_t Engine::Select(const Filter& filter, Keys keys, std::span<uint32_t> out) const {
  constexpr uint64_t kMaxKeys = uint64_t{1} << 32;
  if (keys.size() > kMaxKeys) {
    throw Error(ErrorCode::kInvalidArgument,
                std::to_string(keys.size()) +
                    " keys are too many for 32-bit indices; allowed: " + std::to_string(kMaxKeys));
  }
  return impl_->Select(filter, keys, out);
}

size_t Engine::Select(const Filter& filter, Keys keys, std::span<uint64_t> out) const {
  return impl_->Select(filter, keys, out);
}

template <typename ForEachBatchOf>
void Engine::Impl::RunRound(BulkWriter& writer, const PlanStep& step, uint64_t begin, uint64_t n,
                            const ForEachBatchOf& for_each_batch) {
  const auto add = [&](unsigned lane, uint64_t first, uint64_t count) {
    for_each_batch(first, count,
                   [&](const Batch& batch, uint64_t index) { writer.Add(lane, batch, index); });
  };
  if (writer.in_order()) {
    const uint64_t share = n / step.threads + 1;
    pool.ParallelFor(step.threads, step.threads, [&](size_t lane, unsigned) noexcept {
      const uint64_t first = std::min(n, lane * share);
      add(static_cast<unsigned>(lane), begin + first, std::min(share, n - first));
    });
  } else {
    ForEachSlice(step, n, [&](size_t first, size_t count, size_t, unsigned lane) {
      add(lane, begin + first, count);
    });
  }
  pool.ParallelFor(writer.num_tasks(), step.threads,
                   [&](size_t task, unsigned) noexcept { writer.Run(task); });
}

template <typename ForEachBatchOf>
uint64_t Engine::Impl::Change(tamis::Change change, Filter& filter, const PlanStep& step,
                              uint64_t n, Rejects rejects, const ForEachBatchOf& for_each_batch) {
  const Kernels& kernels = *step.backend->kernels;
  std::unique_ptr<BulkWriter> writer;
  if (step.partitioned) {
    try {
      writer = filter.MakeWriter(change, kernels, n, step.threads);
    } catch (const std::exception&) {
      // No memory for the buffers, of whichever kind: the direct way needs none.
    }
  }
  uint64_t done = 0;
  if (writer) {
    done = n;
    for (uint64_t begin = 0, count = 0; begin < n; begin += count) {
      count = std::min(writer->round_keys(), n - begin);
      RunRound(*writer, step, begin, count, for_each_batch);
      done -= writer->EndRound(rejects);
    }
  } else {
    for_each_batch(0, n, [&](const Batch& batch, uint64_t index) {
      done += filter.ChangeBatch(change, kernels, batch, index, rejects);
    });
  }
  filter.CountChange(change, done);
  return done;
}

size_t Engine::Impl::Change(tamis::Change change, Filter& filter, const Keys& keys,
                            Rejects rejects) {
  if (keys.empty()) return 0;
  const PlanStep step = Choose(Operation::kInsert, filter, keys.size());
  if (step.threads == 1 || filter.read_only()) {
    return filter.ChangeWith(change, *step.backend->kernels, keys, step.partitioned, rejects);
  }
  return Change(change, filter, step, keys.size(), rejects,
                [&](uint64_t begin, uint64_t n, const auto& visit) {
                  ForEachBatch(
                      keys.Slice(begin, n), filter.hash(), kBatchKeys,
                      [&](const Batch& batch, size_t offset) { visit(batch, begin + offset); });
                });
}

size_t Engine::Insert(Filter& filter, Keys keys) const {
  return impl_->Change(Change::kInsert, filter, keys, Rejects());
}

size_t Engine::Insert(Filter& filter, Keys keys, std::span<uint64_t> rejected) const {
  RequireSize("elements", rejected.size(), keys.size(), keys.size());
  return impl_->Change(Change::kInsert, filter, keys, Rejects(rejected));
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys) const {
  return impl_->Change(Change::kErase, filter, keys, Rejects());
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const {
  RequireSize("elements", missing.size(), keys.size(), keys.size());
  return impl_->Change(Change::kErase, filter, keys, Rejects(missing));
}

uint64_t Engine::Insert(Filter& filter, uint64_t n, const KeySource& source) const {
  if (filter.read_only() || n == 0) return 0;
  const PlanStep step = impl_->Choose(Operation::kInsert, filter, n);
  return impl_->Change(Change::kInsert, filter, step, n, Rejects(),
                       [&](uint64_t begin, uint64_t count, const auto& visit) {
                         alignas(64) uint64_t keys[kBatchKeys];
                         for (uint64_t done = 0; done < count;) {
                           const size_t size = std::min<uint64_t>(kBatchKeys, count - done);
                           source(begin + done, std::span(keys, size));
                           visit(KeyBatch(filter.hash(), keys, size), begin + done);
                           done += size;
                         }
                       });
}

}  // namespace tamis
