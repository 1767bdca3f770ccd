// The decision of the run-time dispatcher: the way to carry out a call that should be the fastest.
#ifndef TAMIS_CORE_SRC_ENGINE_DISPATCHER_H_
#define TAMIS_CORE_SRC_ENGINE_DISPATCHER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/src/bulk/costs.h"
#include "core/src/bulk/regions.h"
#include "core/src/engine/accelerator.h"
#include "core/src/filters/base/kind.h"
#include "tamis/engine/engine.h"

namespace tamis::detail {

// Whether a GPU can take a lookup, which is for its Accelerator to say.
struct DeviceState {
  bool takes = false;
  bool mirrored = false;
};

// What is to be planned.
struct PlanRequest {
  Engine::Operation operation;
  FilterKind kind;
  uint64_t filter_bytes;
  uint64_t keys;
  DeviceState device = {};
  RelativeCost cost = {};  // of the filter, in relation to those that were measured
  bool by_region = false;  // lookups can be ordered by region
};

// Immutable, hence thread-safe.
class Dispatcher {
 public:
  // Reads TAMIS_THREADS and TAMIS_BACKEND; throws as Engine does.
  // `accelerator` is a GPU besides those of Backends(), or nullptr.
  explicit Dispatcher(const EngineOptions& options, const Accelerator* accelerator = nullptr);

  unsigned threads() const noexcept { return threads_; }
  bool backend_is_pinned() const noexcept { return !backend_pin_.empty(); }
  // The candidate that is a GPU, or nullptr.
  const Backend* device() const noexcept;

  // Whether the calibration has figures that hold for this kind. Without them plans are made by
  // another kind's, which serve to choose a way and are no prediction.
  bool KnowsCosts(FilterKind kind) const noexcept;
  // The bytes of the largest filter they were measured with; what is larger takes at least as long.
  uint64_t LargestCalibrated(FilterKind kind) const noexcept;

  // The way that is predicted to be fastest; of equal ones that of fewer threads, then of the
  // better backend. Cheap enough to be called for each batch.
  CallRoute Choose(const PlanRequest& request) const noexcept;

  // The same, with all other ways and the reason.
  Engine::CallPlan Explain(const PlanRequest& request) const;

 private:
  struct Candidate {
    const Backend* backend;
    FilterKind kind;
    std::vector<CostAtSize> points;  // ascending, at least one
  };

  void AddCandidates(std::span<const Backend> backends, const Calibration& calibration);
  // What a route costs by, of one candidate and a filter of some size.
  struct Costs {
    Cost cost;
    LookupCost lookup;
  };
  static Costs CostsOf(const Candidate& candidate, uint64_t filter_bytes) noexcept;
  double Seconds(const Costs& costs, const PlanRequest& request,
                 const CallRoute& route) const noexcept;
  // The kind whose costs stand for those of `kind`, which the calibration may not have.
  FilterKind CostKind(FilterKind kind) const noexcept;
  bool HasHost(FilterKind kind) const noexcept;
  // Calls visit(route) for every route there is.
  template <typename Visit>
  void ForEachRoute(const PlanRequest& request, const Visit& visit) const;
  std::string Reason(const Engine::CallPlan& plan) const;

  unsigned threads_;
  std::string backend_pin_;  // who pins the backend; empty if nobody does
  std::optional<CallRoute> pin_;
  std::string machine_;
  double thread_start_seconds_;
  double thread_efficiency_;
  std::string device_;  // that the next two were measured on
  double device_start_seconds_;
  double upload_bytes_per_second_;
  std::vector<Candidate> candidates_;
  bool calibrated_ = true;  // not, if the typical figures had to serve
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_DISPATCHER_H_
