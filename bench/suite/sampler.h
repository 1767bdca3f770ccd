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

// Google Benchmark can only repeat its benchmarks, or shuffle all of them. Here repetitions use one
// piece of memory in turns, so the suite chooses the order: it lets Google Benchmark run one
// benchmark at a time. The first time, Google Benchmark chooses the number of iterations, which it
// then keeps.
class Sampler final : private benchmark::BenchmarkReporter {
 public:
  // `min_seconds` is the time of one sample. 0: the flag of Google Benchmark decides. `reporters`
  // are reporters of Google Benchmark that also receive all runs. They are not owned.
  Sampler(double min_seconds, std::vector<benchmark::BenchmarkReporter*> reporters)
      : min_seconds_(min_seconds), reporters_(std::move(reporters)) {}
  ~Sampler() override;

  // Calls `iterate` until the sample is long enough. `iterate` processes `keys` keys, and returns
  // the nanoseconds that count. Returns nanoseconds per key. Passes `counters` to the reporters. If
  // `limit_ns` is not 0, also passes the share of a limit of `limit_ns` nanoseconds per key.
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
  std::string name_;                  // name of the current case
  double seconds_per_iteration_ = 0;  // seconds per iteration of the last run
};

}  // namespace tamis::bench

#endif  // TAMIS_BENCH_SUITE_SAMPLER_H_
