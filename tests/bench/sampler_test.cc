// Samples that the suite measures with Google Benchmark.
#include "bench/suite/sampler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tamis::bench::sampler_test {

// Stores the runs that Google Benchmark reports.
class Counter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    ++contexts;
    return true;
  }
  void ReportRuns(const std::vector<Run>& reported) override {
    runs.insert(runs.end(), reported.begin(), reported.end());
  }
  void Finalize() override { ++ends; }

  int contexts = 0, ends = 0;
  std::vector<Run> runs;
};

TEST(SamplerTest, GivesNanosecondsPerKeyFromTheTimesOfIterations) {
  Counter counter;
  {
    Sampler sampler(0.001, {&counter});
    int calls = 0;
    const auto iterate = [&] {
      ++calls;
      return 1e5;
    };
    EXPECT_NEAR(sampler.Sample("a", 100, {{"bits/key", 12}}, 250, iterate), 1000, 1e-6);
    EXPECT_GE(calls, 10);  // ten calls are a millisecond
    const auto iterations = counter.runs.back().iterations;
    calls = 0;
    EXPECT_NEAR(sampler.Sample("a", 100, {}, 0, iterate), 1000, 1e-6);
    EXPECT_EQ(calls, iterations);  // as many as the first time
    EXPECT_NEAR(sampler.Sample("b", 10, {}, 0, iterate), 10'000, 1e-6);
  }
  ASSERT_EQ(counter.runs.size(), 3u);
  EXPECT_EQ(counter.contexts, 1);
  EXPECT_EQ(counter.ends, 1);
  EXPECT_NEAR(counter.runs[0].counters.at("ns/key"), 1000, 1e-6);
  EXPECT_EQ(counter.runs[0].counters.at("bits/key"), 12);
  EXPECT_NEAR(counter.runs[0].counters.at("share_of_limit"), 0.25, 1e-9);
  EXPECT_EQ(counter.runs[0].benchmark_name(), "a");
  EXPECT_EQ(counter.runs[1].benchmark_name(), "a");
  EXPECT_EQ(counter.runs[1].repetition_index, 1);
}

}  // namespace tamis::bench::sampler_test
