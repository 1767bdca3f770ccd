#include "core/src/engine/dispatcher.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/src/filters/registry/kinds.h"
#include "core/src/os/process.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine_threads.h"
#include "tamis/error.h"
#include "tamis/units.h"

namespace tamis {
namespace {

// Limits for the keys of a slice. Slices are long enough that the cost of claiming them does not
// matter, and short enough that threads end at about the same time.
constexpr uint64_t kMaxSliceKeys = uint64_t{64} << 10;
constexpr uint64_t kSlicesPerThread = 4;

// More threads than this would wait for each other, because only one thread at a time writes a
// region.
constexpr uint64_t kMaxInsertThreads = 64;
// A limit for the memory of a union writer, as for the buffers of a writer by region.
constexpr uint64_t kMaxUnionBytes = uint64_t{128} << 20;

std::string OutOfRange(const std::string& what, const std::string& value) {
  return detail::StrCat(what, " is \"", value, "\"; allowed: whole numbers from 1 to ",
                        kMaxThreads);
}

[[noreturn]] void RefuseThreads(unsigned asked) {
  throw Error(ErrorCode::kInvalidArgument,
              OutOfRange("the number of threads", std::to_string(asked)));
}

}  // namespace

unsigned EngineThreads(unsigned asked) {
  if (asked > kMaxThreads) RefuseThreads(asked);
  if (asked != 0) return asked;
  const char* value = std::getenv("TAMIS_THREADS");
  if (value == nullptr || *value == '\0') return std::min(os::AvailableProcessors(), kMaxThreads);
  const std::string text = value;
  unsigned threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1 ||
      threads > kMaxThreads) {
    throw Error(ErrorCode::kInvalidArgument, OutOfRange("TAMIS_THREADS", text));
  }
  return threads;
}

}  // namespace tamis

namespace tamis::detail {
namespace {

unsigned ThreadsFor(const EngineOptions& options) {
  if (!options.pin) return EngineThreads(options.threads);
  if (options.pin->threads == 0) RefuseThreads(0);
  return EngineThreads(options.pin->threads);
}

bool Faster(const CallRoute& a, const CallRoute& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : a.threads < b.threads;
}

std::string Describe(const CallRoute& route, Engine::Operation operation) {
  std::string text(route.backend->name);
  if (route.on_device) {
    return text + (route.uploads ? ", copying the filter there" : ", where the filter is");
  }
  text += StrCat(" on ", route.threads, route.threads == 1 ? " thread" : " threads");
  if (route.partitioned) return text + ", partitioned";
  if (operation != Engine::Operation::kInsert) return text;
  return text + (route.threads > 1 ? ", each with a copy" : ", direct");
}

}  // namespace

Dispatcher::Dispatcher(const EngineOptions& options, const Accelerator* accelerator)
    : threads_(ThreadsFor(options)),
      pin_(options.pin),
      machine_(options.calibration.machine),
      thread_start_seconds_(1e-6 * options.calibration.thread_start_us),
      thread_efficiency_(options.calibration.thread_efficiency),
      device_(options.calibration.device),
      device_start_seconds_(1e-6 * options.calibration.device_start_us),
      upload_bytes_per_second_(1e9 * options.calibration.upload_gb_per_s) {
  options.calibration.Validate();

  const char* named = std::getenv("TAMIS_BACKEND");
  const Backend* pinned = options.pin ? options.pin->backend : nullptr;
  if (pinned == nullptr) pinned = options.backend;
  const Backend* extra = accelerator != nullptr ? &accelerator->backend() : nullptr;
  if (pinned != nullptr) {
    if (pinned != extra) pinned = &FindBackend(pinned->name);
    backend_pin_ = "the options of the engine";
  } else if (named != nullptr && *named != '\0') {
    pinned = &FindBackend(named);
    backend_pin_ = "TAMIS_BACKEND";
  }
  const auto add_all = [&](const Calibration& calibration) {
    AddCandidates(pinned != nullptr ? std::span(pinned, 1) : Backends(), calibration);
    if (pinned == nullptr && extra != nullptr) AddCandidates(std::span(extra, 1), calibration);
  };
  add_all(options.calibration);
  calibrated_ = !candidates_.empty();
  if (!calibrated_) add_all(Calibration());
}

const Backend* Dispatcher::device() const noexcept {
  for (const Candidate& candidate : candidates_) {
    if (candidate.backend->make_accelerator != nullptr) return candidate.backend;
  }
  return nullptr;
}

void Dispatcher::AddCandidates(std::span<const Backend> backends, const Calibration& calibration) {
  for (const Backend& backend : backends) {
    for (const Kind* kind : Kinds()) {
      Candidate candidate{&backend, kind->info.kind, {}};
      for (const Calibration::Point& point : calibration.points) {
        if (point.backend != backend.name || point.kind != kind->info.kind) continue;
        candidate.points.push_back(
            {point.filter_bytes,
             {point.contains_ns, point.insert_ns, point.partitioned_insert_ns}});
      }
      if (!candidate.points.empty()) candidates_.push_back(std::move(candidate));
    }
  }
}

FilterKind Dispatcher::CostKind(FilterKind kind) const noexcept {
  for (const FilterKind similar :
       {kind, KindOf(kind).calibration.costs_as, Kinds().front()->info.kind}) {
    for (const Candidate& candidate : candidates_) {
      if (candidate.kind == similar) return similar;
    }
  }
  return candidates_.front().kind;
}

bool Dispatcher::KnowsCosts(FilterKind kind) const noexcept {
  const FilterKind similar = CostKind(kind);
  const Kind& row = KindOf(kind);
  return calibrated_ &&
         (similar == kind || (similar == row.calibration.costs_as && !row.info.has_layers));
}

uint64_t Dispatcher::LargestCalibrated(FilterKind kind) const noexcept {
  uint64_t bytes = 1;
  for (const Candidate& candidate : candidates_) {
    if (candidate.kind != CostKind(kind)) continue;
    bytes = std::max(bytes, candidate.points.back().filter_bytes);
  }
  return bytes;
}

// Returns whether there is a candidate that is not a GPU.
bool Dispatcher::HasHost(FilterKind kind) const noexcept {
  return std::any_of(candidates_.begin(), candidates_.end(), [kind](const Candidate& candidate) {
    return candidate.kind == kind && candidate.backend->make_accelerator == nullptr;
  });
}

Dispatcher::Costs Dispatcher::CostsOf(const Candidate& candidate, uint64_t filter_bytes) noexcept {
  const Cost cost = CostOfSize(candidate.points, filter_bytes);
  return {cost, LookupCostOf(candidate.points, filter_bytes, cost.contains_ns)};
}

double Dispatcher::Seconds(const Costs& costs, const PlanRequest& request,
                           const CallRoute& route) const noexcept {
  const auto keys = static_cast<double>(request.keys);
  if (route.on_device) {
    return device_start_seconds_ + 1e-9 * costs.cost.contains_ns * keys +
           (route.uploads ? static_cast<double>(request.filter_bytes) / upload_bytes_per_second_
                          : 0);
  }
  const unsigned helpers = route.threads - 1;
  const double speed = 1 + thread_efficiency_ * helpers;
  const double start = thread_start_seconds_ * helpers;
  if (request.operation == Engine::Operation::kContains) {
    LookupCost lookup = costs.lookup;
    lookup.direct_ns *= request.cost.contains;
    lookup.covered_ns *= request.cost.contains;
    return start + (route.partitioned
                        ? OrderedLookupSeconds(lookup, request.filter_bytes, keys,
                                               static_cast<double>(route.slice_keys), speed)
                        : LookupSeconds(lookup, keys, speed));
  }
  Cost insert = costs.cost;
  insert.insert_ns *= request.cost.insert;
  insert.partitioned_insert_ns *= request.cost.insert;
  if (route.partitioned) {
    return start + PartitionedSeconds(insert, request.filter_bytes, keys, speed);
  }
  return start + (helpers > 0 ? UnionSeconds(insert, request.filter_bytes, keys, speed)
                              : DirectSeconds(insert, keys));
}

template <typename Visit>
void Dispatcher::ForEachRoute(const PlanRequest& request, const Visit& visit) const {
  const bool insert = request.operation == Engine::Operation::kInsert;
  const Kind& row = KindOf(request.kind);
  uint64_t most = threads_;  // threads that do not order keys
  uint64_t most_by_region = threads_;
  if (insert) {
    const uint64_t inserting = std::min<uint64_t>(threads_, kMaxInsertThreads);
    const bool copies = row.has_union_writer && request.only_inserts;
    most = copies ? std::min(inserting, 1 + kMaxUnionBytes / request.filter_bytes) : 1;
    most_by_region = row.info.can.parallel_build
                         ? std::clamp<uint64_t>(request.filter_bytes / kRegionBytes, 1, inserting)
                         : 1;
  }

  const auto emit = [&](const Candidate& candidate, const Costs& costs, unsigned threads,
                        bool partitioned) {
    CallRoute route{candidate.backend, threads, partitioned, request.keys, 0};
    uint64_t share = request.keys;
    if (!insert && partitioned) {
      share = std::min({request.keys / threads + 1, kMaxOrderedKeys, kMaxOrderedByAll / threads});
    } else if (threads > 1) {
      share = std::min(request.keys / (kSlicesPerThread * threads) + 1, kMaxSliceKeys);
    }
    // Rounds up, so that no two slices share a word of a bitmap.
    if (share != request.keys) route.slice_keys = (share + 63) / 64 * 64;
    route.seconds = Seconds(costs, request, route);
    visit(route);
  };
  const FilterKind kind = CostKind(request.kind);
  const bool orders = request.by_region && request.filter_bytes > kTlbBytes;
  for (const Candidate& candidate : candidates_) {
    if (candidate.kind != kind) continue;
    const Costs costs = CostsOf(candidate, request.filter_bytes);
    if (!insert && candidate.backend->make_accelerator != nullptr) {
      // Without the device, this candidate has the kernels of the best host backend, which is a
      // candidate of its own. So such a route is used only if there is no host candidate.
      CallRoute route{candidate.backend, 1, false, request.keys, 0};
      route.on_device = request.device.takes;
      route.uploads = request.device.takes && !request.device.mirrored;
      route.seconds = Seconds(costs, request, route);
      if (route.on_device || !HasHost(kind)) visit(route);
      continue;
    }
    if (pin_) {
      const unsigned threads = insert ? std::min<unsigned>(threads_, kMaxInsertThreads) : threads_;
      const bool by_region = pin_->partitioned && (insert || request.by_region);
      emit(candidate, costs, threads, by_region || threads > most);
      continue;
    }
    const auto emit_up_to = [&](uint64_t limit, bool partitioned) {
      for (uint64_t threads = 1;; threads = std::min(2 * threads, limit)) {
        emit(candidate, costs, static_cast<unsigned>(threads), partitioned);
        if (threads == limit) return;
      }
    };
    emit_up_to(most, false);
    if (insert || orders) emit_up_to(most_by_region, true);
  }
}

CallRoute Dispatcher::Choose(const PlanRequest& request) const noexcept {
  CallRoute best;
  ForEachRoute(request, [&](const CallRoute& route) {
    if (best.backend == nullptr || Faster(route, best)) best = route;
  });
  return best;
}

Engine::CallPlan Dispatcher::Explain(const PlanRequest& request) const {
  Engine::CallPlan plan{request.operation, request.keys, request.filter_bytes, {}, {}, {}};
  ForEachRoute(request, [&](const CallRoute& route) { plan.alternatives.push_back(route); });
  std::stable_sort(plan.alternatives.begin(), plan.alternatives.end(), Faster);
  plan.chosen = plan.alternatives.front();
  plan.alternatives.erase(plan.alternatives.begin());
  plan.reason = Reason(plan);
  return plan;
}

std::string Dispatcher::Reason(const Engine::CallPlan& plan) const {
  std::string reason =
      StrCat(Describe(plan.chosen, plan.operation), ": ", DurationText(plan.chosen.seconds),
             " predicted for ", plan.keys, " keys and a filter of ",
             BytesText(static_cast<double>(plan.filter_bytes)));
  if (!plan.alternatives.empty()) {
    const CallRoute& next = plan.alternatives.front();
    reason += "; the next best, " + Describe(next, plan.operation) + ", would take " +
              DurationText(next.seconds);
  }
  if (!backend_pin_.empty()) reason += "; " + backend_pin_ + " pins the backend";
  if (pin_) reason += "; the options of the engine pin the route";
  reason += " (calibration: " + machine_;
  const auto on_device = [](const CallRoute& route) { return route.on_device; };
  if (on_device(plan.chosen) ||
      std::any_of(plan.alternatives.begin(), plan.alternatives.end(), on_device)) {
    reason += "; of the GPU: " +
              (device_ == Calibration::kNotMeasured ? "defaults, not measured" : device_);
  }
  return reason + ").";
}

}  // namespace tamis::detail
