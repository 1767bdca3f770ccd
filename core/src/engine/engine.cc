#include "tamis/engine.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/src/backend/providers.h"
#include "core/src/base/process_mark.h"
#include "core/src/bulk/lookup.h"
#include "core/src/bulk/outputs.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/engine/dispatcher.h"
#include "core/src/engine/engine_access.h"
#include "core/src/engine/thread_pool.h"
#include "core/src/filters/filter_access.h"
#include "core/src/filters/kinds.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"

namespace tamis {

using detail::Accelerator;
using detail::Batch;
using detail::BatchSource;
using detail::Change;
using detail::DeviceState;
using detail::Dispatcher;
using detail::FilterAccess;
using detail::Kernels;
using detail::Outcomes;
using detail::PlanRequest;
using detail::RegionLists;

namespace {

PlanRequest RequestFor(Operation operation, const Filter& filter, uint64_t keys,
                       DeviceState device = {}) noexcept {
  PlanRequest request = {operation, filter.kind(), filter.bytes(), keys, device};
  request.by_region = FilterAccess::RegionsOf(filter).has_value();
  const auto relative_cost = detail::KindOf(request.kind).relative_cost;
  if (relative_cost != nullptr) request.cost = relative_cost(filter.Header());
  return request;
}

// For what is made of the bits that a GPU has found.
const Kernels& HostKernels() { return *detail::HostBackends().front().kernels; }

// How to probe a filter with the kernels of a route.
auto ProbeOf(const Filter& filter, const Kernels& kernels) {
  return [&filter, &kernels](const Batch& batch, uint64_t* bits) {
    FilterAccess::Probe(filter, kernels, batch, bits);
  };
}

}  // namespace

class Engine::Impl {
 public:
  Impl(const EngineOptions& options, std::shared_ptr<Accelerator> accelerator)
      : dispatcher(options, accelerator.get()),
        accelerator_(std::move(accelerator)),
        device_keys_(options.device_keys) {
    const Backend* device = dispatcher.device();
    if (device == nullptr) {
      accelerator_ = nullptr;
    } else if (accelerator_ == nullptr) {
      accelerator_ = device->make_accelerator();
    }
    if (accelerator_ != nullptr) accelerator_->LimitMirrors(options.device_filter_bytes);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    // A child cannot use the driver's state, not even to let go of it.
    if (!mark_.IsOfThisProcess() && accelerator_ != nullptr) {
      new (std::nothrow) std::shared_ptr<Accelerator>(std::move(accelerator_));
    }
  }

  // A child of fork has no part in the GPU of its parent.
  bool HasAccelerator() const noexcept {
    return accelerator_ != nullptr && mark_.IsOfThisProcess();
  }

  DeviceState StateOf(const Filter& filter) const noexcept {
    if (!HasAccelerator() || device_lost_ || !accelerator_->Takes(filter)) return {};
    return {.takes = true, .mirrored = accelerator_->HasMirror(filter)};
  }

  EngineStats stats() const {
    // Nobody may give back a lock that a child of fork got with the rest.
    if (!mark_.IsOfThisProcess()) return {};
    const std::lock_guard lock(stats_mutex_);
    EngineStats stats = stats_;
    if (accelerator_ != nullptr) stats.device_filter_bytes = accelerator_->MirrorBytes();
    return stats;
  }

  void DropDeviceFilters() noexcept {
    if (HasAccelerator()) accelerator_->DropMirrors();
  }

  static size_t NumSlices(const CallRoute& route, uint64_t keys) noexcept {
    return keys / route.slice_keys + (keys % route.slice_keys != 0);
  }

  // The answer, if a GPU gave it or the keys were ordered by region: the sum of write(bits, n,
  // begin), which is handed the bits of keys [begin, begin + n). Else the host's route.
  struct Way {
    std::optional<size_t> answer;
    CallRoute route;
  };
  template <typename Write>
  Way ChooseLookup(const Filter& filter, const Keys& keys, const Write& write);

  // Calls look(kernels, slice, begin, n) for slices that together are all keys, on the threads of
  // the route. Returns the sum.
  template <typename Look>
  size_t SumOfSlices(const CallRoute& route, uint64_t keys, const Look& look);

  // The sum of either look, as above, or write.
  template <typename Look, typename Write>
  size_t LookUp(const Filter& filter, const Keys& keys, const Look& look, const Write& write) {
    if (keys.empty()) return 0;
    const Way way = ChooseLookup(filter, keys, write);
    return way.answer ? *way.answer : SumOfSlices(way.route, keys.size(), look);
  }

  template <typename Index>
  size_t Select(const Filter& filter, const Keys& keys, std::span<Index> out);

  uint64_t ChangeFrom(Filter& filter, Change change, uint64_t n, const BatchSource& source,
                      Outcomes outcomes);
  size_t ChangeKeys(Filter& filter, Change change, const Keys& keys, Outcomes outcomes) {
    const uint64_t done =
        detail::ForValidKeys(keys, filter.hash(), outcomes,
                             [&](uint64_t n, const BatchSource& source, Outcomes refused) {
                               return ChangeFrom(filter, change, n, source, refused);
                             });
    if (change != Change::kErase && done > 0) FilterAccess::AddForms(filter, keys.key_form());
    return done;
  }

  void WithWorkers(detail::FunctionRef<void(detail::Workers&)> work) {
    detail::PoolWorkers workers(pool_, dispatcher.threads());
    work(workers);
  }

  const Dispatcher dispatcher;

 private:
  // Nothing: the host has to answer.
  template <typename Write>
  std::optional<size_t> OnDevice(const Filter& filter, const Keys& keys, bool held,
                                 const DeviceState& state, const Write& write);

  // Nothing: there is no memory for it.
  template <typename Write>
  std::optional<size_t> ByRegion(const Filter& filter, const Keys& keys, const CallRoute& route,
                                 const Write& write);

  const detail::ProcessMark mark_;
  std::shared_ptr<Accelerator> accelerator_;
  const bool device_keys_;
  std::atomic<bool> device_lost_{false};
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
  detail::ThreadPool pool_;
};

template <typename Write>
std::optional<size_t> Engine::Impl::OnDevice(const Filter& filter, const Keys& keys, bool held,
                                             const DeviceState& state, const Write& write) {
  size_t found = 0;
  bool has_written = false;
  try {
    accelerator_->ForEachBits(filter, keys, [&](const uint64_t* bits, size_t n, uint64_t begin) {
      has_written = true;
      found += write(bits, n, begin);
    });
  } catch (const Error& error) {
    const bool falls_back = !held && !has_written && !dispatcher.backend_is_pinned();
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

template <typename Write>
Engine::Impl::Way Engine::Impl::ChooseLookup(const Filter& filter, const Keys& keys,
                                             const Write& write) {
  // Keys in its memory cannot be read by the host, so the device has to answer.
  const bool held = device_keys_ && HasAccelerator() && accelerator_->Holds(keys);
  const DeviceState state = StateOf(filter);
  PlanRequest request = RequestFor(Operation::kContains, filter, keys.size(), state);
  Way way{std::nullopt, dispatcher.Choose(request)};
  if (held || way.route.on_device) {
    way.answer = OnDevice(filter, keys, held, state, write);
    if (way.answer) return way;
    request.device = {};
    way.route = dispatcher.Choose(request);
  }
  if (way.route.partitioned) way.answer = ByRegion(filter, keys, way.route, write);
  return way;
}

template <typename Write>
std::optional<size_t> Engine::Impl::ByRegion(const Filter& filter, const Keys& keys,
                                             const CallRoute& route, const Write& write) try {
  const Kernels& kernels = *route.backend->kernels;
  const size_t slices = NumSlices(route, keys.size());
  std::vector<uint64_t> bits(BitmapWords(keys.size()));
  std::vector<RegionLists> lists;
  for (size_t i = std::min<size_t>(route.threads, slices); i > 0; --i) {
    lists.emplace_back(*FilterAccess::RegionsOf(filter), route.slice_keys);
  }
  pool_.ParallelFor(
      slices, static_cast<unsigned>(lists.size()), [&](size_t slice, unsigned thread) noexcept {
        const size_t begin = slice * route.slice_keys;
        detail::LookUpByRegion(kernels, filter.hash(), ProbeOf(filter, kernels), lists[thread],
                               keys.Slice(begin, std::min(route.slice_keys, keys.size() - begin)),
                               bits.data() + begin / 64);
      });
  return write(bits.data(), keys.size(), 0);
} catch (const std::bad_alloc&) {
  return std::nullopt;
} catch (const Error& error) {
  if (error.code() != ErrorCode::kOutOfMemory) throw;
  return std::nullopt;
}

template <typename Look>
size_t Engine::Impl::SumOfSlices(const CallRoute& route, uint64_t keys, const Look& look) {
  const Kernels& kernels = *route.backend->kernels;
  std::atomic<size_t> sum{0};
  pool_.ParallelFor(NumSlices(route, keys), route.threads, [&](size_t slice, unsigned) noexcept {
    const size_t begin = slice * route.slice_keys;
    const size_t n = std::min(route.slice_keys, keys - begin);
    sum.fetch_add(look(kernels, slice, begin, n), std::memory_order_relaxed);
  });
  return sum.load(std::memory_order_relaxed);
}

Engine::Engine(EngineOptions options) : impl_(std::make_unique<Impl>(options, nullptr)) {}
Engine::Engine(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Engine detail::EngineAccess::Make(EngineOptions options, std::shared_ptr<Accelerator> accelerator) {
  return Engine(std::make_unique<Engine::Impl>(options, std::move(accelerator)));
}

void detail::EngineAccess::WithWorkers(const Engine& engine, FunctionRef<void(Workers&)> work) {
  engine.impl_->WithWorkers(work);
}

unsigned Engine::threads() const noexcept { return impl_->dispatcher.threads(); }

CallPlan Engine::PlanCall(const Filter& filter, uint64_t n, Operation operation) const {
  return impl_->dispatcher.Explain(RequestFor(operation, filter, n, impl_->StateOf(filter)));
}

EngineStats Engine::stats() const { return impl_->stats(); }

void Engine::DropDeviceFilters() const noexcept { impl_->DropDeviceFilters(); }

size_t Engine::Contains(const Filter& filter, Keys keys, Bitmap out) const {
  detail::RequireRoom(out, keys.size());
  uint64_t* const bits = out.words().data();
  return impl_->LookUp(
      filter, keys,
      [&](const Kernels& kernels, size_t, size_t begin, size_t n) {
        return detail::LookUpBits(kernels, filter.hash(), ProbeOf(filter, kernels),
                                  keys.Slice(begin, n), bits + begin / 64);
      },
      [&](const uint64_t* from, size_t n, uint64_t begin) {
        std::memcpy(bits + begin / 64, from, sizeof(*bits) * BitmapWords(n));
        return HostKernels().popcount(from, BitmapWords(n));
      });
}

size_t Engine::Contains(const Filter& filter, Keys keys, std::span<uint8_t> out) const {
  detail::RequireRoom(out, keys.size());
  return impl_->LookUp(
      filter, keys,
      [&](const Kernels& kernels, size_t, size_t begin, size_t n) {
        return detail::LookUpBytes(kernels, filter.hash(), ProbeOf(filter, kernels),
                                   keys.Slice(begin, n), out.data() + begin);
      },
      [&](const uint64_t* bits, size_t n, uint64_t begin) {
        HostKernels().bits_to_bytes(bits, n, out.data() + begin);
        return HostKernels().popcount(bits, BitmapWords(n));
      });
}

size_t Engine::Count(const Filter& filter, Keys keys) const {
  return impl_->LookUp(
      filter, keys,
      [&](const Kernels& kernels, size_t, size_t begin, size_t n) {
        return detail::LookUpCount(kernels, filter.hash(), ProbeOf(filter, kernels),
                                   keys.Slice(begin, n));
      },
      [&](const uint64_t* bits, size_t n, uint64_t) {
        return HostKernels().popcount(bits, BitmapWords(n));
      });
}

template <typename Index>
size_t Engine::Impl::Select(const Filter& filter, const Keys& keys, std::span<Index> out) {
  detail::RequireRoom(out, keys.size());
  if (keys.empty()) return 0;
  size_t written = 0;
  const Way way = ChooseLookup(filter, keys, [&](const uint64_t* bits, size_t n, uint64_t begin) {
    const size_t more = detail::BitsToIndices(HostKernels(), bits, n, begin, out.data() + written);
    written += more;
    return more;
  });
  if (way.answer) return *way.answer;

  // Each slice writes where its indices would be if all keys were hits; then they move together.
  std::vector<size_t> found(NumSlices(way.route, keys.size()));
  SumOfSlices(
      way.route, keys.size(), [&](const Kernels& kernels, size_t slice, size_t begin, size_t n) {
        found[slice] = detail::LookUpIndices(kernels, filter.hash(), ProbeOf(filter, kernels),
                                             keys.Slice(begin, n), begin, out.data() + begin);
        return found[slice];
      });
  size_t total = found[0];
  for (size_t slice = 1; slice < found.size(); ++slice) {
    const Index* from = out.data() + slice * way.route.slice_keys;
    if (out.data() + total != from) {
      std::memmove(out.data() + total, from, found[slice] * sizeof(Index));
    }
    total += found[slice];
  }
  return total;
}

size_t Engine::Select(const Filter& filter, Keys keys, std::span<uint32_t> out) const {
  return impl_->Select(filter, keys, out);
}

size_t Engine::Select(const Filter& filter, Keys keys, std::span<uint64_t> out) const {
  return impl_->Select(filter, keys, out);
}

uint64_t Engine::Impl::ChangeFrom(Filter& filter, Change change, uint64_t n,
                                  const BatchSource& source, Outcomes outcomes) {
  FilterAccess::RequireWritable(filter);
  if (n == 0) return 0;
  const CallRoute route = dispatcher.Choose(RequestFor(Operation::kInsert, filter, n));
  detail::CallingThread alone;
  detail::PoolWorkers several(pool_, route.threads);
  detail::Workers& workers = route.threads == 1 ? static_cast<detail::Workers&>(alone) : several;
  return FilterAccess::ChangeFrom(filter, change, *route.backend->kernels, n, source,
                                  route.partitioned, workers, route.slice_keys, outcomes);
}

size_t Engine::Insert(Filter& filter, Keys keys) const {
  return impl_->ChangeKeys(filter, Change::kInsert, keys, Outcomes());
}

size_t Engine::Insert(Filter& filter, Keys keys, std::span<uint64_t> rejected) const {
  detail::RequireRoom(rejected, keys.size());
  return impl_->ChangeKeys(filter, Change::kInsert, keys, Outcomes(rejected));
}

size_t Engine::InsertIfAbsent(Filter& filter, Keys keys, Bitmap fresh) const {
  return impl_->ChangeKeys(filter, Change::kInsertIfAbsent, keys,
                           detail::BitsFor(keys.size(), fresh));
}

size_t Engine::InsertIfAbsent(Filter& filter, Keys keys, Bitmap fresh, Bitmap rejected) const {
  return impl_->ChangeKeys(filter, Change::kInsertIfAbsent, keys,
                           detail::BitsFor(keys.size(), fresh, rejected));
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys) const {
  return impl_->ChangeKeys(filter, Change::kErase, keys, Outcomes());
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const {
  detail::RequireRoom(missing, keys.size());
  return impl_->ChangeKeys(filter, Change::kErase, keys, Outcomes(missing));
}

size_t Engine::EraseIfAllFound(ErasableFilter& filter, Keys keys) const {
  detail::RequireAllFound(Count(filter, keys), keys);
  return Erase(filter, keys);
}

uint64_t Engine::Insert(Filter& filter, uint64_t n, const KeySource& source) const {
  const auto batches = [&](const detail::CommonKernels& kernels, uint64_t begin, uint64_t count,
                           const auto& visit) {
    alignas(64) uint64_t keys[detail::kBatchKeys];
    for (uint64_t done = 0; done < count;) {
      const size_t size = std::min<uint64_t>(detail::kBatchKeys, count - done);
      source(begin + done, std::span(keys, size));
      visit(detail::IntegerBatch(kernels, filter.hash(), keys, size, keys), begin + done);
      done += size;
    }
  };
  const uint64_t done = impl_->ChangeFrom(filter, Change::kInsert, n, batches, Outcomes());
  if (done > 0) FilterAccess::AddForms(filter, KeyForm::kInteger);
  return done;
}

}  // namespace tamis
