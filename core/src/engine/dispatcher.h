// The run-time dispatcher, which chooses the route of a call that should be fastest.
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

// Whether a GPU can take a lookup, as its Accelerator reports.
struct DeviceState {
  bool takes = false;
  bool mirrored = false;
};

// The call to plan.
struct PlanRequest {
  Engine::Operation operation;
  FilterKind kind;
  uint64_t filter_bytes;
  uint64_t keys;
  DeviceState device = {};
  RelativeCost cost = {};    // the cost of this filter relative to the measured filters
  bool by_region = false;    // lookups can be ordered by region
  bool only_inserts = true;  // false for erasures, and for calls that report new keys
};

// Immutable, and therefore thread-safe.
class Dispatcher {
 public:
  // Reads TAMIS_THREADS and TAMIS_BACKEND. Throws the errors of the constructor of Engine.
  // `accelerator` is a GPU that is not in Backends(), or nullptr.
  explicit Dispatcher(const EngineOptions& options, const Accelerator* accelerator = nullptr);

  unsigned threads() const noexcept { return threads_; }
  bool backend_is_pinned() const noexcept { return !backend_pin_.empty(); }
  // Returns the candidate that is a GPU, or nullptr.
  const Backend* device() const noexcept;

  // Returns whether the calibration has costs that hold for this kind. If not, plans use the costs
  // of another kind, which are good enough to choose a route, but do not predict its time.
  bool KnowsCosts(FilterKind kind) const noexcept;
  // Returns the bytes of the largest filter that was measured. Calls on larger filters take at
  // least as long.
  uint64_t LargestCalibrated(FilterKind kind) const noexcept;

  // Returns the route that is predicted to be fastest. Among equally fast routes, prefers fewer
  // threads, then the better backend. Cheap enough to be called for each batch.
  CallRoute Choose(const PlanRequest& request) const noexcept;

  // Returns the route that Choose returns, with all alternatives and the reason.
  Engine::CallPlan Explain(const PlanRequest& request) const;

 private:
  struct Candidate {
    const Backend* backend;
    FilterKind kind;
    std::vector<CostAtSize> points;  // ascending, at least one
  };

  void AddCandidates(std::span<const Backend> backends, const Calibration& calibration);
  // The costs that predict the time of a route, for one candidate and size of filter.
  struct Costs {
    Cost cost;
    LookupCost lookup;
  };
  static Costs CostsOf(const Candidate& candidate, uint64_t filter_bytes) noexcept;
  double Seconds(const Costs& costs, const PlanRequest& request,
                 const CallRoute& route) const noexcept;
  // Returns the kind whose costs are used for `kind`. The calibration may have none for `kind`
  // itself.
  FilterKind CostKind(FilterKind kind) const noexcept;
  bool HasHost(FilterKind kind) const noexcept;
  // Calls visit(route) for every possible route.
  template <typename Visit>
  void ForEachRoute(const PlanRequest& request, const Visit& visit) const;
  std::string Reason(const Engine::CallPlan& plan) const;

  unsigned threads_;
  std::string backend_pin_;  // the setting that pins the backend; empty if none does
  std::optional<CallRoute> pin_;
  std::string machine_;
  double thread_start_seconds_;
  double thread_efficiency_;
  std::string device_;  // the GPU on which the next two members were measured
  double device_start_seconds_;
  double upload_bytes_per_second_;
  std::vector<Candidate> candidates_;
  bool calibrated_ = true;  // false if the costs of a typical machine are used
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_DISPATCHER_H_
