// A run of the suite: all size classes, with repetitions in turns.
#ifndef TAMIS_BENCH_SUITE_SUITE_H_
#define TAMIS_BENCH_SUITE_SUITE_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/suite/gpu.h"
#include "bench/suite/keys.h"
#include "bench/suite/latency.h"
#include "bench/suite/other_load.h"
#include "bench/suite/progress.h"
#include "bench/suite/results.h"
#include "bench/suite/sampler.h"
#include "bench/suite/schedule.h"
#include "bench/suite/turns.h"

namespace tamis::bench {

struct SuiteOptions {
  Mode mode = Mode::kDefault;
  std::string filter;                 // the text of a NameFilter
  std::optional<size_t> repetitions;  // fixed, regardless of the time
  double budget_seconds = 0;          // 0: no limit; otherwise repetitions are dropped to keep it
  double sample_seconds = 0;          // 0: Google Benchmark's flag decides
  std::vector<std::string> sizes;     // names of size classes; empty: all
  std::vector<uint64_t> keys;         // numbers of keys instead of size classes; may be empty
  std::optional<uint64_t> max_bytes;  // largest size of a filter
  // Receives the results so far, several times while a GPU is measured. May be empty.
  std::function<void(Results)> save = {};
};

// A name in SuiteOptions::sizes for all sizes of a GPU. Names of single sizes begin with it.
inline constexpr const char* kGpuSizes = "GPU";

class Suite {
 public:
  Suite(const SuiteOptions& options, const Pinning& pinning, Sampler& sampler, Progress& progress);
  ~Suite();

  // Returns the names of all cases, in the order of their first repetition.
  std::vector<std::string> CaseNames() const;

  // Measures everything. Throws std::runtime_error if nothing is left to measure.
  Results Run();

 private:
  void ChooseSizes();
  // Makes the schedule of the GPU, or adds to the context the reason why it is not measured.
  void OpenDevice();
  void ChooseGpuSizes();
  void Verify(bool any_on_host);
  // Measures one repetition of everything at one size.
  void Repeat(Turns& turns);
  // Returns the size that was measured for the least time, among the sizes for which there is time
  // for another repetition. Returns nullptr if there is no such size.
  Turns* Next();
  void MeasureLimits(Turns& turns);
  void Turn(Turns& turns, const Contender& contender, bool first);
  void MeasureBuilds(Turns& turns, const Contender& contender);
  void MeasureCase(Turns& turns, const Contender& contender, const Case& c, bool first);
  // Compares the answers to a query with the answers of `portable`. Returns a description of the
  // difference, or nothing if they are equal.
  std::optional<std::string> WrongAnswers(Turns& turns, const Contender& contender, const Case& c,
                                          const AskedKeys& asked) const;
  // Measures one repetition of a case and adds it to its row. An iteration has `batch` keys.
  void Sample(Turns& turns, const Contender& contender, const Case& c, uint64_t batch,
              const std::function<double()>& iterate);
  Row& RowOf(Turns& turns, const Contender& contender, const Case& c, uint64_t batch) const;
  double Elapsed() const;      // seconds
  double SecondsLeft() const;  // an estimate; negative without a budget
  ScheduleInput Input() const;
  LatencySchedule Latencies() const;
  double TurnsBudget() const;  // seconds for the turns, without the measurements after them
  Way BestWay(const Subject& subject, unsigned threads) const;

  SuiteOptions options_;
  const Pinning& pinning_;
  Sampler& sampler_;
  Progress& progress_;
  std::vector<const Backend*> backends_;  // the default one first
  Results results_;
  std::deque<Turns> turns_;  // by size
  // Declared after turns_, so that it is destroyed first: after an error, subjects still use memory
  // of turns_.
  Subjects subjects_;
  std::unique_ptr<GpuDevice> gpu_;  // nullptr without a GPU
  GpuSchedule gpu_schedule_;
  double start_ns_;
  OtherLoad other_load_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SUITE_H_
