// The decision of the run-time dispatcher: the way to carry out a call that should be the fastest.
#ifndef TAMIS_CORE_SRC_ENGINE_PLANNER_H_
#define TAMIS_CORE_SRC_ENGINE_PLANNER_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/engine.h"

namespace tamis {

// Whether a GPU can take a lookup, which is for its Accelerator to say.
struct DeviceState {
  bool takes = false;
  bool mirrored = false;
};

// What is to be planned.
struct PlanRequest {
  Operation operation;
  FilterKind kind;
  uint64_t filter_bytes;
  uint64_t keys;
  DeviceState device = {};
  uint32_t hashes = 0;  // of a classic filter; 0 for others
};

// The bits that a lookup in a full classic filter of `hashes` bits per key tests on average, if
// half of the keys are in: all of them for those, and as half of the bits are set, 1 + 1/2 + 1/4
// ... for the others, up to the first that is missing.
inline double BloomReads(double hashes) noexcept {
  return 0.5 * hashes + 0.5 * 2 * (1 - std::exp2(-hashes));
}

// Immutable, hence thread-safe.
class Planner {
 public:
  // Reads TAMIS_THREADS and TAMIS_BACKEND; throws as Engine does.
  explicit Planner(const EngineOptions& options);

  unsigned threads() const noexcept { return threads_; }
  bool backend_is_pinned() const noexcept { return !backend_pin_.empty(); }
  // The candidate that is a GPU, or nullptr.
  const Backend* device() const noexcept;

  // Whether the calibration has figures of this kind, or of another width of cuckoo filters.
  // Without them plans are made by a similar kind's, which serve to choose a way and are no
  // prediction.
  bool KnowsCosts(FilterKind kind) const noexcept;
  // The bytes of the largest filter they were measured with; what is larger takes at least as long.
  uint64_t LargestCalibrated(FilterKind kind) const noexcept;

  // The way that is predicted to be fastest; of equal ones that of fewer threads, then of the
  // better backend. Cheap enough to be called for each batch.
  PlanStep Choose(const PlanRequest& request) const noexcept;

  // The same, with all other ways and the reason.
  Plan Explain(const PlanRequest& request) const;

 private:
  // Nanoseconds per key on one thread, at one size of filter.
  struct Cost {
    double contains = 0;
    double insert = 0;
    double partitioned_insert = 0;
  };
  struct Point {
    double log2_bytes;
    Cost cost;
  };
  struct Candidate {
    const Backend* backend;
    FilterKind kind;
    std::vector<Point> points;  // ascending, at least one
  };

  void AddCandidates(std::span<const Backend> backends, const Calibration& calibration);
  static Cost CostAt(const Candidate& candidate, uint64_t filter_bytes) noexcept;
  // What an operation costs relative to the filter that was measured: classic filters differ in
  // their bits per key.
  static double RelativeReads(const PlanRequest& request) noexcept;
  static double RelativeWrites(const PlanRequest& request) noexcept;
  double Seconds(const Cost& cost, const PlanRequest& request, const PlanStep& step) const noexcept;
  // The kind whose costs stand for those of `kind`: cuckoo filters of one size cost the same
  // whatever their fingerprints.
  FilterKind CostKind(FilterKind kind) const noexcept;
  bool HasHost(FilterKind kind) const noexcept;
  // Calls visit(step) for every way there is.
  template <typename Visit>
  void ForEachStep(const PlanRequest& request, const Visit& visit) const;
  std::string Reason(const Plan& plan) const;

  unsigned threads_;
  std::string backend_pin_;  // who pins the backend; empty if nobody does
  std::optional<PlanStep> pin_;
  std::string machine_;
  double thread_start_seconds_;
  double thread_efficiency_;
  std::string device_;  // that the next two were measured on
  double device_start_seconds_;
  double upload_bytes_per_second_;
  std::vector<Candidate> candidates_;
  bool calibrated_ = true;  // not, if the typical figures had to serve
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_ENGINE_PLANNER_H_
