#include "tamis/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/src/backend/providers.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/query.h"
#include "core/src/bulk/queryable_access.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/engine/dispatcher.h"
#include "core/src/engine/engine_access.h"
#include "core/src/engine/thread_pool.h"
#include "core/src/filters/base/filter_access.h"
#include "core/src/filters/registry/kinds.h"
#include "core/src/os/process.h"
#include "tamis/detail/kernels.h"
#include "tamis/error.h"
#include "tamis/unanswered_error.h"

namespace tamis {

using detail::Accelerator;
using detail::Batch;
using detail::BatchSource;
using detail::DeviceState;
using detail::Dispatcher;
using detail::FilterAccess;
using detail::Kernels;
using detail::Outcomes;
using detail::Output;
using detail::PlanRequest;
using detail::QueryableAccess;
using detail::RegionLists;

namespace {

PlanRequest RequestFor(Engine::Operation operation, const Filter& filter, uint64_t keys,
                       DeviceState device = {}) noexcept {
  PlanRequest request = {operation, filter.kind(), filter.bytes(), keys, device};
  request.by_region = FilterAccess::RegionsOf(filter).has_value();
  const auto relative_cost = detail::KindOf(request.kind).relative_cost;
  if (relative_cost != nullptr) request.cost = relative_cost(filter.Header());
  return request;
}

// Returns the kernels that turn the bits from a GPU into an output.
const Kernels& HostKernels() { return *detail::HostBackends().front().kernels; }

// Returns a probe of the filter with these kernels.
auto ProbeOf(const Filter& filter, const Kernels& kernels) {
  return [&filter, &kernels](const Batch& batch, uint64_t* bits) {
    FilterAccess::Probe(filter, kernels, batch, bits);
  };
}

// Collects exceptions from pool threads, because tasks of a pool must not throw.
class SliceErrors {
 public:
  // Records the current exception, for keys from `begin` on.
  void AddCurrent(uint64_t begin) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      errors_.emplace(begin, std::current_exception());
    } catch (...) {
      lost_ = true;
    }
  }

  // Throws the first exception other than UnansweredError. Otherwise throws one UnansweredError for
  // all keys without an answer, if there are any.
  void Throw(uint64_t done) const {
    if (lost_) throw std::bad_alloc();
    detail::UnansweredKeys unanswered;
    for (const auto& [begin, error] : errors_) {
      unanswered.Catch([&error = error] { std::rethrow_exception(error); }, begin);
    }
    unanswered.Throw(done);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::exception_ptr> errors_;
  bool lost_ = false;
};

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
    // A child of fork must not use the driver, not even to free its state. So the state is leaked.
    if (!mark_.IsOfThisProcess() && accelerator_ != nullptr) {
      new (std::nothrow) std::shared_ptr<Accelerator>(std::move(accelerator_));
    }
  }

  // Returns whether there is a GPU to use. A child of fork cannot use the GPU of its parent.
  bool HasAccelerator() const noexcept {
    return accelerator_ != nullptr && mark_.IsOfThisProcess();
  }

  DeviceState StateOf(const Filter& filter) const noexcept {
    if (!HasAccelerator() || device_lost_ || !accelerator_->Takes(filter)) return {};
    return {.takes = true, .mirrored = accelerator_->HasMirror(filter)};
  }

  Engine::Stats stats() const {
    // A child of fork may have a copy of a locked mutex, which no thread would ever unlock.
    if (!mark_.IsOfThisProcess()) return {};
    const std::lock_guard lock(stats_mutex_);
    Engine::Stats stats = stats_;
    if (accelerator_ != nullptr) stats.device_filter_bytes = accelerator_->MirrorBytes();
    return stats;
  }

  void DropDeviceFilters() noexcept {
    if (HasAccelerator()) accelerator_->DropMirrors();
  }

  static size_t NumSlices(const CallRoute& route, uint64_t keys) noexcept {
    return keys / route.slice_keys + (keys % route.slice_keys != 0);
  }

  size_t LookUp(const Queryable& queryable, const Keys& keys, const Output& output);

  uint64_t ChangeFrom(ChangeableFilter& filter, Change change, uint64_t n,
                      const BatchSource& source, Outcomes outcomes);
  size_t ChangeKeys(ChangeableFilter& filter, Change change, const Keys& keys,
                    const ChangeOutputs& outputs) {
    FilterAccess::RequireWritable(filter);
    const uint64_t done = detail::ForValidKeys(
        keys, filter.hash(), outputs, [&](uint64_t n, const BatchSource& source, Outcomes refused) {
          return ChangeFrom(filter, change, n, source, refused);
        });
    if (change != Change::kErase && done > 0) FilterAccess::AddKeyTypes(filter, keys.key_type());
    return done;
  }

  void WithWorkers(detail::FunctionRef<void(detail::Workers&)> work) {
    detail::PoolWorkers workers(pool_, dispatcher.threads());
    work(workers);
  }

  const Dispatcher dispatcher;

 private:
  // Returns nothing if the host has to answer.
  std::optional<size_t> OnDevice(const Filter& filter, const Keys& keys, bool held,
                                 const DeviceState& state, Output output);

  // Returns nothing if memory runs out.
  std::optional<size_t> ByRegion(const Filter& filter, const Keys& keys, const CallRoute& route,
                                 Output output);

  size_t BySlices(const Filter& filter, const Keys& keys, const CallRoute& route,
                  const Output& output);

  size_t LookUp(const Filter& filter, const Keys& keys, const Output& output);

  // Queries slices of `slice_keys` keys, a multiple of 64. If slices throw, throws the first error
  // other than UnansweredError, otherwise one UnansweredError.
  size_t OnThreads(detail::QueryFunction query, const QueryTraits& traits, const Keys& keys,
                   const Output& output, uint64_t slice_keys, unsigned threads);

  const os::ProcessMark mark_;
  std::shared_ptr<Accelerator> accelerator_;
  const bool device_keys_;
  std::atomic<bool> device_lost_{false};
  mutable std::mutex stats_mutex_;
  Engine::Stats stats_;
  detail::ThreadPool pool_;
};

std::optional<size_t> Engine::Impl::OnDevice(const Filter& filter, const Keys& keys, bool held,
                                             const DeviceState& state, Output output) {
  size_t found = 0;
  bool has_written = false;
  try {
    accelerator_->ForEachBits(filter, keys, [&](const uint64_t* bits, size_t n, uint64_t begin) {
      has_written = true;
      found += output.Write(HostKernels(), bits, n, begin);
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

size_t Engine::Impl::LookUp(const Queryable& queryable, const Keys& keys, const Output& output) {
  output.RequireRoom(keys.size());
  if (keys.empty()) return 0;
  if (const Filter* const filter = QueryableAccess::EngineFilter(queryable)) {
    return LookUp(*filter, keys, output);
  }
  if (device_keys_ && HasAccelerator() && accelerator_->Holds(keys)) {
    throw Error(ErrorCode::kUnsupported,
                "keys in the memory of a GPU can be looked up only in a Filter");
  }
  const auto query = [&](const Keys& some, uint64_t* bits) {
    QueryableAccess::Query(queryable, some, bits);
  };
  const QueryTraits traits = queryable.traits();
  // Fewer keys are answered before other threads would have woken up.
  constexpr size_t kManyKeys = size_t{1} << 18;
  constexpr size_t kSliceKeys = size_t{1} << 16;
  if (traits.thread_safety == QueryTraits::ThreadSafety::kOneThread ||
      traits.slice_keys > kSliceKeys || keys.size() < kManyKeys) {
    return detail::Answer(query, traits, keys, output);
  }
  return OnThreads(query, traits, keys, output, kSliceKeys, dispatcher.threads());
}

size_t Engine::Impl::LookUp(const Filter& filter, const Keys& keys, const Output& output) {
  // The host cannot read keys in the memory of the device. The device has to answer for such keys.
  const bool held = device_keys_ && HasAccelerator() && accelerator_->Holds(keys);
  const DeviceState state = StateOf(filter);
  PlanRequest request = RequestFor(Engine::Operation::kContains, filter, keys.size(), state);
  CallRoute route = dispatcher.Choose(request);
  if (held || route.on_device) {
    if (const auto found = OnDevice(filter, keys, held, state, output)) return *found;
    request.device = {};
    route = dispatcher.Choose(request);
  }
  if (route.partitioned) {
    if (const auto found = ByRegion(filter, keys, route, output)) return *found;
  }
  return BySlices(filter, keys, route, output);
}

std::optional<size_t> Engine::Impl::ByRegion(const Filter& filter, const Keys& keys,
                                             const CallRoute& route, Output output) try {
  const Kernels& kernels = *route.backend->kernels;
  const size_t slices = NumSlices(route, keys.size());
  std::vector<uint64_t> memory(output.bits() != nullptr ? 0 : BitmapWords(keys.size()));
  uint64_t* const bits = output.bits() != nullptr ? output.bits() : memory.data();
  std::vector<RegionLists> lists;
  for (size_t i = std::min<size_t>(route.threads, slices); i > 0; --i) {
    lists.emplace_back(*FilterAccess::RegionsOf(filter), route.slice_keys);
  }
  pool_.ParallelFor(
      slices, static_cast<unsigned>(lists.size()), [&](size_t slice, unsigned thread) noexcept {
        const size_t begin = slice * route.slice_keys;
        detail::QueryByRegion(kernels, filter.hash(), ProbeOf(filter, kernels), lists[thread],
                              keys.Slice(begin, route.slice_keys), bits + begin / 64);
      });
  return output.Write(kernels, bits, keys.size(), 0);
} catch (const std::bad_alloc&) {
  return std::nullopt;
} catch (const Error& error) {
  if (error.code() != ErrorCode::kOutOfMemory) throw;
  return std::nullopt;
}

size_t Engine::Impl::BySlices(const Filter& filter, const Keys& keys, const CallRoute& route,
                              const Output& output) {
  const Kernels& kernels = *route.backend->kernels;
  const auto query = [&](const Keys& some, uint64_t* bits) {
    FilterAccess::Query(filter, kernels, some, bits);
  };
  return OnThreads(query, {.backend = route.backend}, keys, output, route.slice_keys,
                   route.threads);
}

size_t Engine::Impl::OnThreads(detail::QueryFunction query, const QueryTraits& traits,
                               const Keys& keys, const Output& output, uint64_t slice_keys,
                               unsigned threads) {
  const size_t slices = keys.size() / slice_keys + (keys.size() % slice_keys != 0);
  if (slices == 1) return detail::Answer(query, traits, keys, output);
  // The number of rows of each slice. Not allocated for outputs other than rows.
  std::vector<size_t> found(output.has_rows() ? slices : 0);
  std::atomic<size_t> sum{0};
  SliceErrors errors;
  pool_.ParallelFor(slices, threads, [&](size_t slice, unsigned) noexcept {
    const size_t begin = slice * slice_keys;
    size_t here = 0;
    try {
      here = detail::Answer(query, traits, keys.Slice(begin, slice_keys), output.From(begin));
    } catch (const UnansweredError& error) {  // all outputs of the slice are written
      here = error.done();
      errors.AddCurrent(begin);
    } catch (...) {
      errors.AddCurrent(begin);
    }
    if (!found.empty()) found[slice] = here;
    sum.fetch_add(here, std::memory_order_relaxed);
  });
  output.Close(found, slice_keys);
  errors.Throw(sum.load(std::memory_order_relaxed));
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

Engine::CallPlan Engine::PlanCall(const Filter& filter, uint64_t n, Operation operation) const {
  return impl_->dispatcher.Explain(RequestFor(operation, filter, n, impl_->StateOf(filter)));
}

Engine::Stats Engine::stats() const { return impl_->stats(); }

void Engine::DropDeviceFilters() const noexcept { impl_->DropDeviceFilters(); }

size_t Engine::Contains(const Queryable& queryable, Keys keys, Bitmap out) const {
  return impl_->LookUp(queryable, keys, out);
}

size_t Engine::Contains(const Queryable& queryable, Keys keys, std::span<uint8_t> out) const {
  return impl_->LookUp(queryable, keys, out);
}

size_t Engine::Select(const Queryable& queryable, Keys keys, std::span<uint32_t> out) const {
  return impl_->LookUp(queryable, keys, out);
}

size_t Engine::Select(const Queryable& queryable, Keys keys, std::span<uint64_t> out) const {
  return impl_->LookUp(queryable, keys, out);
}

size_t Engine::Count(const Queryable& queryable, Keys keys) const {
  return impl_->LookUp(queryable, keys, Output::Count());
}

Answers Engine::Contains(const Queryable& queryable, Keys keys) const {
  return Answers(keys.size(), [&](Bitmap out) { return Contains(queryable, keys, out); });
}

std::vector<uint64_t> Engine::Select(const Queryable& queryable, Keys keys) const {
  std::vector<uint64_t> rows(keys.size());
  rows.resize(Select(queryable, keys, std::span(rows)));
  return rows;
}

uint64_t Engine::Impl::ChangeFrom(ChangeableFilter& filter, Change change, uint64_t n,
                                  const BatchSource& source, Outcomes outcomes) {
  FilterAccess::RequireWritable(filter);
  if (n == 0) return 0;
  PlanRequest request = RequestFor(Engine::Operation::kInsert, filter, n);
  request.only_inserts = change == Change::kInsert;
  const CallRoute route = dispatcher.Choose(request);
  detail::CallingThread alone;
  detail::PoolWorkers several(pool_, route.threads);
  detail::Workers& workers = route.threads == 1 ? static_cast<detail::Workers&>(alone) : several;
  return FilterAccess::ChangeFrom(filter, change, *route.backend->kernels, n, source,
                                  route.partitioned, workers, route.slice_keys, outcomes);
}

size_t Engine::Insert(ChangeableFilter& filter, Keys keys) const {
  return impl_->ChangeKeys(filter, Change::kInsert, keys, {});
}

size_t Engine::Insert(ChangeableFilter& filter, Keys keys, std::span<uint64_t> rejected) const {
  return impl_->ChangeKeys(filter, Change::kInsert, keys,
                           detail::IndicesFor(keys.size(), rejected));
}

size_t Engine::InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh) const {
  return impl_->ChangeKeys(filter, Change::kInsertIfAbsent, keys,
                           detail::BitsFor(keys.size(), fresh));
}

size_t Engine::InsertIfAbsent(ChangeableFilter& filter, Keys keys, Bitmap fresh,
                              Bitmap rejected) const {
  return impl_->ChangeKeys(filter, Change::kInsertIfAbsent, keys,
                           detail::BitsFor(keys.size(), fresh, rejected));
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys) const {
  return impl_->ChangeKeys(filter, Change::kErase, keys, {});
}

size_t Engine::Erase(ErasableFilter& filter, Keys keys, std::span<uint64_t> missing) const {
  return impl_->ChangeKeys(filter, Change::kErase, keys, detail::IndicesFor(keys.size(), missing));
}

size_t Engine::EraseIfAllFound(ErasableFilter& filter, Keys keys) const {
  filter.RequireAllIn(keys);
  return Erase(filter, keys);
}

uint64_t Engine::Insert(ChangeableFilter& filter, uint64_t n, const KeySource& source) const {
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
  if (done > 0) FilterAccess::AddKeyTypes(filter, KeyType::kInteger);
  return done;
}

}  // namespace tamis
