// Measures one repetition of one case at a time, with Google Benchmark.
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

// Google Benchmark can repeat its benchmarks or shuffle all of them. Here repetitions take turns in
// one piece of memory, so the suite chooses the order: it lets the library run one benchmark once.
// The library chooses the number of iterations the first time and keeps it.
class Sampler final : private benchmark::BenchmarkReporter {
 public:
  // `min_seconds` is the time of one sample. 0: the flag of Google Benchmark decides. `reporters`
  // are reporters of Google Benchmark that also receive all runs. They are not owned.
  Sampler(double min_seconds, std::vector<benchmark::BenchmarkReporter*> reporters)
      : min_seconds_(min_seconds), reporters_(std::move(reporters)) {}
  ~Sampler() override;

  // Calls `iterate`, which returns the nanoseconds to count, until there are enough of them.
  // Returns nanoseconds per key; an iteration has `keys` keys. Passes `counters` to the reporters,
  // and, if `limit_ns` is not 0, the share of a limit of `limit_ns` nanoseconds per key.
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
  std::string name_;                  // of the current case
  double seconds_per_iteration_ = 0;  // of the last run
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SAMPLER_H_
