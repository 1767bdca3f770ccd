#include "bench/suite/sampler.h"

namespace tamis::bench {

Sampler::~Sampler() {
  if (!context_reported_) return;
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->Finalize();
}

double Sampler::Sample(const std::string& name, uint64_t keys,
                       const std::map<std::string, double>& counters, double limit_ns,
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
        if (limit_ns > 0) state.counters["share_of_limit"] = limit_ns * items / ns;
        for (const auto& [counter, value] : counters) state.counters[counter] = value;
      });
  registered->UseManualTime()->Unit(benchmark::kMicrosecond)->Repetitions(1);
  name_ = name;
  current_ = &known_[name];
  if (current_->repetitions > 0) {
    registered->Iterations(current_->iterations);
  } else if (min_seconds_ > 0) {
    registered->MinTime(min_seconds_);
  }
  benchmark::RunSpecifiedBenchmarks(this, "all");
  benchmark::ClearRegisteredBenchmarks();
  ++current_->repetitions;
  return 1e9 * seconds_per_iteration_ / static_cast<double>(keys);
}

bool Sampler::ReportContext(const Context& context) {
  if (context_reported_) return true;
  context_reported_ = true;
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->ReportContext(context);
  return true;
}

void Sampler::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> renamed = runs;
  for (Run& run : renamed) {
    if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
    current_->iterations = run.iterations;
    seconds_per_iteration_ = run.real_accumulated_time / static_cast<double>(run.iterations);
    // Google Benchmark adds its settings to the name. The settings of the first repetition differ
    // from those of the others.
    run.run_name = {};
    run.run_name.function_name = name_;
    run.repetition_index = current_->repetitions;
  }
  for (benchmark::BenchmarkReporter* reporter : reporters_) reporter->ReportRuns(renamed);
}

}  // namespace tamis::bench
