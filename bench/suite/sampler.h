// One repetition of one case at a time, carried out by Google Benchmark.
#ifndef TAMIS_BENCH_SUITE_SAMPLER_H_
#define TAMIS_BENCH_SUITE_SAMPLER_H_

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tamis::bench {

// Google Benchmark can repeat what it measures, or shuffle all that it knows. Here each repetition
// takes turns in one piece of memory, so the order is the suite's own: the library is asked to run
// one benchmark once, chooses the number of iterations the first time, and keeps to it.
class Sampler final : private benchmark::BenchmarkReporter {
 public:
  // `min_seconds`: of one sample; 0 leaves it to Google Benchmark's flag.
  // `reporters`: those of Google Benchmark that are to have all runs, too. Not owned.
  Sampler(double min_seconds, std::vector<benchmark::BenchmarkReporter*> reporters)
      : min_seconds_(min_seconds), reporters_(std::move(reporters)) {}
  ~Sampler() override;

  // Calls iterate(), which returns the nanoseconds that count, until there are enough of them.
  // Returns nanoseconds per key where an iteration has so many keys. For reporters are `counters`,
  // and the share of a limit of so many nanoseconds per key, if it is not 0.
  double Sample(const std::string& name, uint64_t keys,
                const std::map<std::string, double>& counters, double limit_ns,
                const std::function<double()>& iterate);

 private:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  double min_seconds_;
  std::vector<benchmark::BenchmarkReporter*> reporters_;
  bool context_reported_ = false;
  struct Known {
    benchmark::IterationCount iterations = 1;
    int64_t repetitions = 0;
  };
  std::map<std::string, Known> known_;
  Known* current_ = nullptr;
  std::string name_;                  // of the current one
  double seconds_per_iteration_ = 0;  // of the last run
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SAMPLER_H_
