// Latency of small calls beside large calls: percentiles, the choice of points, and a tiny run.
#include "bench/suite/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>

#include "bench/suite/percentiles.h"
#include "tamis/backends.h"

namespace tamis::bench::latency_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr Caches kCaches{48 << 10, 2 * kMiB, 32 * kMiB};

// Sizes from one time to more than a thousand, with remainders of all kinds.
std::vector<uint64_t> Times(size_t n, uint64_t seed, uint64_t most) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> times(n);
  for (uint64_t& time : times) time = 1 + random() % most;
  return times;
}

// By definition: the smallest time t such that at least the given share of all times is at most t.
uint64_t NearestRank(const std::vector<uint64_t>& times, size_t per_mille) {
  uint64_t least = *std::max_element(times.begin(), times.end());
  for (const uint64_t time : times) {
    const auto at_most = static_cast<size_t>(
        std::count_if(times.begin(), times.end(), [&](uint64_t other) { return other <= time; }));
    if (at_most * 1000 >= per_mille * times.size()) least = std::min(least, time);
  }
  return least;
}

TEST(PercentilesTest, AreTheNearestRanks) {
  for (const size_t n : {1, 2, 3, 10, 99, 100, 101, 999, 1000, 1001, 2500}) {
    for (const uint64_t most : {uint64_t{1}, uint64_t{5}, uint64_t{1} << 40}) {
      const std::vector<uint64_t> times = Times(n, n, most);
      const Percentiles got = PercentilesOf(times);
      EXPECT_EQ(got.p50, static_cast<double>(NearestRank(times, 500))) << n << ", " << most;
      EXPECT_EQ(got.p99, static_cast<double>(NearestRank(times, 990))) << n << ", " << most;
      EXPECT_EQ(got.p999, static_cast<double>(NearestRank(times, 999))) << n << ", " << most;
      EXPECT_EQ(got.max, static_cast<double>(NearestRank(times, 1000))) << n << ", " << most;
    }
  }
}

TEST(PercentilesTest, AreInOrderAndOfTheTimes) {
  for (size_t n = 1; n < 3000; n = n * 5 / 4 + 1) {
    const std::vector<uint64_t> times = Times(n, 7 * n, 1000);
    const Percentiles got = PercentilesOf(times);
    EXPECT_LE(got.p50, got.p99);
    EXPECT_LE(got.p99, got.p999);
    EXPECT_LE(got.p999, got.max);
    const std::set<double> all(times.begin(), times.end());
    for (const double one : {got.p50, got.p99, got.p999, got.max}) EXPECT_EQ(all.count(one), 1u);
    if (n < 1000) {
      EXPECT_EQ(got.p999, got.max);
    }
  }
}

TEST(PercentilesTest, DoNotDependOnTheOrderAndScaleWithTheTimes) {
  std::vector<uint64_t> times = Times(4321, 1, 1'000'000);
  const Percentiles want = PercentilesOf(times);
  std::mt19937_64 random(2);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(times.begin(), times.end(), random);
    EXPECT_EQ(PercentilesOf(times), want);
  }
  for (uint64_t& time : times) time = 3 * time + 7;
  const Percentiles got = PercentilesOf(times);
  EXPECT_EQ(got.p50, 3 * want.p50 + 7);
  EXPECT_EQ(got.p99, 3 * want.p99 + 7);
  EXPECT_EQ(got.p999, 3 * want.p999 + 7);
  EXPECT_EQ(got.max, 3 * want.max + 7);
}

// One late call in a thousand does not affect p99.9; two do.
TEST(PercentilesTest, CountTheLateCalls) {
  std::vector<uint64_t> times(1000, 5);
  times[17] = 9000;
  EXPECT_EQ(PercentilesOf(times), (Percentiles{5, 5, 5, 9000}));
  times[800] = 8000;
  EXPECT_EQ(PercentilesOf(times), (Percentiles{5, 5, 8000, 9000}));
  for (size_t i = 0; i < 11; ++i) times[i] = 7000;
  EXPECT_EQ(PercentilesOf(times).p99, 7000);
}

// Also numbers for which n * 990 would overflow.
TEST(PercentilesTest, RanksOfAnyNumber) {
  EXPECT_EQ(RankOf(1, 500), 0u);
  EXPECT_EQ(RankOf(1000, 999), 998u);
  EXPECT_EQ(RankOf(1001, 999), 999u);
  const size_t most = ~size_t{0};
  EXPECT_EQ(RankOf(most, 1000), most - 1);
  EXPECT_EQ(RankOf(most, 500), most / 2);
}

std::vector<std::string> Names(LatencyInput input) {
  const std::vector<SizeClass> sizes = SizeClasses(input.caches, {});
  if (input.sizes.empty()) input.sizes = sizes;
  const Backend& backend = FindBackend("portable");
  input.backend = &backend;
  std::vector<std::string> names;
  for (const LatencyCase& c : LatencyScheduleFor(input).cases) {
    names.push_back(LatencyName(c, backend, input.processors));
  }
  return names;
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(LatencyScheduleTest, NamesContainTheMeasuredPoint) {
  const auto names = Names({.mode = Mode::kQuick, .caches = kCaches, .processors = 2});
  const std::string prefix = "split_block/latency/backend:portable/threads:2/size:";
  for (const char* size : {"L2", "memory"}) {
    for (const char* call : {"1", "100", "1000"}) {
      for (const char* beside : {"nothing", "contains", "insert", "contains_apart"}) {
        EXPECT_TRUE(Has(names, prefix + size + "/call:" + call + "/beside:" + beside));
      }
    }
  }
  EXPECT_EQ(names.size(), 24u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(LatencyScheduleTest, PresetsHaveTheirPoints) {
  for (const Mode mode : kModes) {
    const auto names = Names({.mode = mode, .caches = kCaches, .processors = 2});
    const size_t want = mode == Mode::kQuick ? 24 : ComparesSpeeds(mode) ? 0 : 32;
    EXPECT_EQ(names.size(), want) << ModeName(mode);
  }
}

TEST(LatencyScheduleTest, AQuickRunStaysQuick) {
  const Backend& backend = FindBackend("portable");
  const std::vector<SizeClass> sizes = SizeClasses(kCaches, {});
  const auto seconds = [&](Mode mode) {
    return LatencyScheduleFor({.mode = mode,
                               .sizes = sizes,
                               .caches = kCaches,
                               .processors = 2,
                               .backend = &backend})
        .Seconds();
  };
  EXPECT_GT(seconds(Mode::kQuick), 0);
  EXPECT_LT(seconds(Mode::kQuick), 20);
  EXPECT_LT(seconds(Mode::kDefault), 90);
  EXPECT_EQ(seconds(Mode::kPeers), 0);
  const LatencyInput given{
      .sizes = sizes, .caches = kCaches, .backend = &backend, .repetitions = 2};
  EXPECT_EQ(LatencyScheduleFor(given).repetitions, 2u);
}

TEST(LatencyScheduleTest, LeavesOutMissingCachesAndThreads) {
  // The second-level cache is the last one.
  auto names = Names({.mode = Mode::kQuick, .caches = {32 << 10, kMiB, kMiB}, .processors = 2});
  EXPECT_EQ(names.size(), 24u);
  EXPECT_NE(names.front().find("size:LLC"), std::string::npos);
  // There is only one thread, so all of them are used.
  names = Names({.mode = Mode::kQuick, .caches = kCaches, .processors = 1});
  EXPECT_EQ(names.size(), 18u);
  const std::vector<SizeClass> l1 = {{"L1", 24 << 10}};
  EXPECT_TRUE(Names({.sizes = l1, .caches = kCaches}).empty());
  const std::vector<SizeClass> given = {{"memory", kMiB, 100'000}};
  EXPECT_TRUE(Names({.sizes = given, .caches = kCaches}).empty());
  names = Names({.caches = kCaches, .processors = 2, .filter = "call:100/beside:insert"});
  EXPECT_EQ(names.size(), 2u);
  EXPECT_THROW(Names({.caches = kCaches, .filter = "("}), std::invalid_argument);
}

TEST(LatencyScheduleTest, TheLargestCallsHaveTheirBounds) {
  const std::vector<SizeClass> sizes = SizeClasses(kCaches, {});
  LatencyInput input{.sizes = sizes, .caches = kCaches, .backend = &FindBackend("portable")};
  EXPECT_EQ(LatencyScheduleFor(input).large_keys, uint64_t{16} << 20);
  input.max_bytes = kMiB;
  EXPECT_EQ(LatencyScheduleFor(input).large_keys, kMiB / 8);
}

// Everything on small filters. Times are not checked.
TEST(LatencyTest, ATinyRunHasAllRowsAndRatios) {
  const std::vector<SizeClass> sizes = {{"L2", 64 << 10}, {"memory", kMiB}};
  const Backend& backend = DefaultBackend();
  LatencySchedule schedule = LatencyScheduleFor({.sizes = sizes,
                                                 .caches = kCaches,
                                                 .processors = 2,
                                                 .max_bytes = kMiB,
                                                 .backend = &backend,
                                                 .filter = "-call:100000"});
  schedule.repetitions = 2;
  schedule.window_seconds = 1e-4;
  const Pinning pinning(std::nullopt);
  Progress progress(false);
  Results results;
  MeasureLatencies(schedule, backend, pinning, progress, results);
  ASSERT_EQ(results.latencies.size(), schedule.cases.size());
  for (size_t i = 0; i < schedule.cases.size(); ++i) {
    const Latency& row = results.latencies[i];
    const LatencyCase& c = schedule.cases[i];
    EXPECT_EQ(row.name, LatencyName(c, backend, pinning.processors()));
    EXPECT_EQ(row.ns.size(), 2u) << row.name;
    EXPECT_GE(row.calls, 2u) << row.name;
    const bool alone = c.beside == Beside::kNothing;
    EXPECT_EQ(row.p99_over_alone.size(), alone ? 0u : 2u) << row.name;
    EXPECT_EQ(row.large_threads == 0, alone) << row.name;
    for (const Percentiles& one : row.ns) {
      EXPECT_GT(one.p50, 0) << row.name;
      EXPECT_LE(one.p50, one.p99) << row.name;
      EXPECT_LE(one.p999, one.max) << row.name;
    }
  }
}

// Without the calls alone there is nothing to compare with.
TEST(LatencyTest, NoRatioWithoutTheCallsAlone) {
  const std::vector<SizeClass> sizes = {{"L2", 64 << 10}};
  const Backend& backend = DefaultBackend();
  LatencySchedule schedule = LatencyScheduleFor({.sizes = sizes,
                                                 .caches = kCaches,
                                                 .max_bytes = 64 << 10,
                                                 .backend = &backend,
                                                 .filter = "call:100/beside:insert"});
  ASSERT_EQ(schedule.cases.size(), 1u);
  schedule.repetitions = 1;
  schedule.window_seconds = 1e-5;
  Progress progress(false);
  Results results;
  MeasureLatencies(schedule, backend, Pinning(std::nullopt), progress, results);
  ASSERT_EQ(results.latencies.size(), 1u);
  EXPECT_TRUE(results.latencies[0].p99_over_alone.empty());
}

}  // namespace tamis::bench::latency_test
