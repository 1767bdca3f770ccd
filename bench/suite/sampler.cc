#include "bench/suite/sampler.h"

namespace tamis::bench {

Sampler::~Sampler() {
  if (!context_reported_) return;
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->Finalize();
}

double Sampler::Sample(const std::string& name, uint64_t keys,
                       const std::map<std::string, double>& counters,
                       const std::function<double()>& iterate) {
  benchmark::internal::Benchmark* const registered =
      benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) {
        double ns = 0;
        for (auto _ : state) {
          const double once = iterate();
          ns += once;
          state.SetIterationTime(1e-9 * once);
        }
        const auto items = static_cast<double>(state.iterations()) * static_cast<double>(keys);
        state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys));
        state.counters["ns/key"] = ns / items;
        for (const auto& [counter, value] : counters) state.counters[counter] = value;
      });
  registered->UseManualTime()->Unit(benchmark::kMicrosecond)->Repetitions(1);
  const auto known = iterations_.find(name);
  if (known != iterations_.end()) {
    registered->Iterations(known->second);
  } else if (min_seconds_ > 0) {
    registered->MinTime(min_seconds_);
  }
  benchmark::RunSpecifiedBenchmarks(this, "all");
  benchmark::ClearRegisteredBenchmarks();
  iterations_[name] = last_iterations_;
  return 1e9 * seconds_per_iteration_ / static_cast<double>(keys);
}

bool Sampler::ReportContext(const Context& context) {
  if (context_reported_) return true;
  context_reported_ = true;
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->ReportContext(context);
  return true;
}

void Sampler::ReportRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
    last_iterations_ = run.iterations;
    seconds_per_iteration_ = run.real_accumulated_time / static_cast<double>(run.iterations);
  }
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->ReportRuns(runs);
}

}  // namespace tamis::bench
