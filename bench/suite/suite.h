// A run of the suite: every size class, with repetitions that take turns.
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
  std::string filter;                 // as ScheduleInput::filter
  std::optional<size_t> repetitions;  // fixed, whatever the time
  double budget_seconds = 0;          // 0: none; repetitions are left out to stay within it
  double sample_seconds = 0;          // 0: as Google Benchmark's flag says
  std::vector<std::string> sizes;     // names of size classes; empty: all
  std::vector<uint64_t> keys;         // numbers of them, in place of size classes; may be empty
  std::optional<uint64_t> max_bytes;  // of a filter
  // Is handed what was measured so far, now and then while a GPU is measured; may be empty.
  std::function<void(Results)> save = {};
};

// Among SuiteOptions::sizes: all of a GPU; names of some begin with it.
inline constexpr const char* kGpuSizes = "GPU";

class Suite {
 public:
  Suite(const SuiteOptions& options, const Pinning& pinning, Sampler& sampler, Progress& progress);
  ~Suite();

  // The names of all cases, in the order of their first repetition.
  std::vector<std::string> CaseNames() const;

  // Measures everything. Throws std::runtime_error if nothing is left to measure.
  Results Run();

 private:
  void ChooseSizes();
  // Makes the schedule of the GPU, or says in the context why it is not measured.
  void OpenDevice();
  void ChooseGpuSizes();
  void Verify(bool any_on_host);
  // One repetition of all that is measured at one size.
  void Repeat(Turns& turns);
  // Of the sizes that have time for another repetition the one that has had the least; nothing if
  // none has.
  Turns* Next();
  void MeasureLimits(Turns& turns);
  void Turn(Turns& turns, const Contender& contender, bool first);
  void MeasureBuilds(Turns& turns, const Contender& contender);
  void MeasureCase(Turns& turns, const Contender& contender, const Case& c, bool first);
  // What the answers to a lookup have wrong, in comparison with those of `portable`.
  std::optional<std::string> WrongAnswers(Turns& turns, const Contender& contender, const Case& c,
                                          const AskedKeys& asked) const;
  // Measures one repetition of a case, of so many keys each iteration, and adds it to its row.
  void Sample(Turns& turns, const Contender& contender, const Case& c, uint64_t batch,
              const std::function<double()>& iterate);
  Row& RowOf(Turns& turns, const Contender& contender, const Case& c, uint64_t batch) const;
  double Elapsed() const;      // seconds
  double SecondsLeft() const;  // about; negative if there is no budget
  ScheduleInput Input() const;
  LatencySchedule Latencies() const;
  double TurnsBudget() const;  // seconds; without what is measured after the turns
  Way BestWay(const Subject& subject, unsigned threads) const;

  SuiteOptions options_;
  const Pinning& pinning_;
  Sampler& sampler_;
  Progress& progress_;
  std::vector<const Backend*> backends_;  // the default one first
  Results results_;
  std::deque<Turns> turns_;         // by size
  Subjects subjects_;               // which have memory of turns_ where a run ends in an error
  std::unique_ptr<GpuDevice> gpu_;  // nullptr if there is none
  GpuSchedule gpu_schedule_;
  double start_ns_;
  OtherLoad other_load_;
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SUITE_H_
