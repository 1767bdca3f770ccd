// The choices of the run-time dispatcher, as PlanCall reports them.
#include <gtest/gtest.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/src/bulk/regions.h"
#include "core/src/engine/dispatcher.h"
#include "tamis/backend.h"
#include "tamis/backends.h"
#include "tamis/engine/calibration.h"
#include "tamis/engine/engine.h"
#include "tamis/engine/engine_threads.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/fuse_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/scoped_env.h"

namespace tamis::dispatcher_test {

using detail::Dispatcher;
using detail::PlanRequest;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Removes pins in the environment.
class DispatcherTest : public testing::Test {
 protected:
  ScopedEnv backend_{"TAMIS_BACKEND", nullptr};
  ScopedEnv threads_{"TAMIS_THREADS", nullptr};
};

// Returns figures of one size, for the portable backend alone.
Calibration Costs(double contains_ns, double insert_ns, double partitioned_insert_ns) {
  Calibration calibration;
  calibration.machine = "made up";
  calibration.thread_start_us = 10;
  calibration.thread_efficiency = 0.5;
  calibration.points = {{"portable", kMiB, contains_ns, insert_ns, partitioned_insert_ns}};
  return calibration;
}

SplitBlockBloomFilter FilterOf(uint64_t bytes) { return SplitBlockBloomFilter({.bytes = bytes}); }

bool Mentions(const Engine::CallPlan& plan, const std::string& text) {
  return plan.reason.find(text) != std::string::npos;
}

TEST_F(DispatcherTest, PredictsByTheFormula) {
  const SplitBlockBloomFilter filter = FilterOf(kMiB);
  const Engine engine({.threads = 3, .calibration = Costs(100, 1, 1)});
  const Engine::CallPlan plan = engine.PlanCall(filter, 1'000'000);
  EXPECT_EQ(plan.operation, Engine::Operation::kContains);
  EXPECT_EQ(plan.keys, 1'000'000u);
  EXPECT_EQ(plan.filter_bytes, kMiB);
  // One thread takes 0.1 s. Each further thread adds half as much speed, and takes 10 us to start.
  EXPECT_EQ(plan.chosen.threads, 3u);
  EXPECT_DOUBLE_EQ(plan.chosen.seconds, 0.1 / 2 + 20e-6);
  ASSERT_EQ(plan.alternatives.size(), 2u);
  EXPECT_EQ(plan.alternatives[0].threads, 2u);
  EXPECT_DOUBLE_EQ(plan.alternatives[0].seconds, 0.1 / 1.5 + 10e-6);
  EXPECT_EQ(plan.alternatives[1].threads, 1u);
  EXPECT_DOUBLE_EQ(plan.alternatives[1].seconds, 0.1);
  EXPECT_EQ(plan.reason,
            "portable on 3 threads: 50.0 ms predicted for 1000000 keys and a filter of 1.00 MiB; "
            "the next best, portable on 2 threads, would take 66.7 ms (calibration: made up).");
}

TEST_F(DispatcherTest, CostsAreInterpolatedOverTheLogarithmOfTheSize) {
  Calibration calibration = Costs(2, 1, 1);
  calibration.points.push_back({"portable", 16 * kMiB, 6, 1, 1});
  const Engine engine({.threads = 1, .calibration = calibration});
  const std::tuple<uint64_t, double> expected[] = {{kMiB / 4, 2}, {kMiB, 2},     {2 * kMiB, 3},
                                                   {4 * kMiB, 4}, {8 * kMiB, 5}, {16 * kMiB, 6},
                                                   {32 * kMiB, 6}};
  for (const auto& [bytes, ns] : expected) {
    EXPECT_DOUBLE_EQ(engine.PlanCall(FilterOf(bytes), 1000).chosen.seconds, 1e-6 * ns) << bytes;
  }
}

TEST_F(DispatcherTest, EachKindHasItsOwnCosts) {
  Calibration calibration = Costs(10, 1, 1);
  const auto seconds = [&](const Filter& filter) {
    return Engine({.threads = 1, .calibration = calibration}).PlanCall(filter, 100).chosen.seconds;
  };
  const CuckooFilter<8> cuckoo8({.bytes = kMiB});
  const CuckooFilter<12> cuckoo12({.bytes = kMiB});
  EXPECT_DOUBLE_EQ(seconds(cuckoo8), 1e-6) << "no figures of its own nor of its like";
  calibration.points.push_back({"portable", kMiB, 20, 1, 1, FilterKind::kCuckoo16});
  EXPECT_DOUBLE_EQ(seconds(cuckoo8), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(cuckoo12), 2e-6);
  calibration.points.push_back({"portable", kMiB, 30, 1, 1, FilterKind::kCuckoo8});
  EXPECT_DOUBLE_EQ(seconds(cuckoo8), 3e-6);
  EXPECT_DOUBLE_EQ(seconds(cuckoo12), 2e-6);
  EXPECT_DOUBLE_EQ(seconds(FilterOf(kMiB)), 1e-6);
  const auto fuse16 = FuseFilter<16>::From(std::vector<uint64_t>{1, 2, 3});
  EXPECT_DOUBLE_EQ(seconds(fuse16), 1e-6);
  calibration.points.push_back({"portable", kMiB, 40, 1, 1, FilterKind::kFuse8});
  EXPECT_DOUBLE_EQ(seconds(fuse16), 4e-6);
}

TEST_F(DispatcherTest, CostsOfClassicFiltersFollowTheirHashes) {
  Calibration calibration = Costs(1, 1, 1);
  calibration.points.push_back({"portable", kMiB, 10, 7, 7, FilterKind::kBloom});
  const Engine engine({.threads = 1, .calibration = calibration});
  const auto ns = [&](double fpr, Engine::Operation operation) {
    const BloomFilter filter({.capacity = 1000, .fpr = fpr});
    return 1e9 * engine.PlanCall(filter, 1'000'000, operation).chosen.seconds / 1e6;
  };
  // With 7 hashes the costs are as calibrated. With one hash, lookups test one bit, and with 7 they
  // test 4.5.
  EXPECT_NEAR(ns(0.01, Engine::Operation::kContains), 10, 1e-9);
  EXPECT_NEAR(ns(0.01, Engine::Operation::kInsert), 7, 1e-9);
  EXPECT_NEAR(ns(0.5, Engine::Operation::kContains), 10 * 1 / (3.5 + 1 - 1 / 128.), 1e-9);
  EXPECT_NEAR(ns(0.5, Engine::Operation::kInsert), 1, 1e-9);
  EXPECT_GT(ns(1e-6, Engine::Operation::kContains), 2 * ns(0.01, Engine::Operation::kContains));
}

TEST_F(DispatcherTest, ScalableFiltersAreWrittenByOneThread) {
  const ScalableFilter<SplitBlockBloomFilter> filter({.initial_capacity = 50'000'000});
  const Engine engine({.threads = 8});
  EXPECT_EQ(engine.PlanCall(filter, 100'000'000, Engine::Operation::kInsert).chosen.threads, 1u);
  EXPECT_EQ(engine.PlanCall(filter, 100'000'000).chosen.threads, 8u);
}

TEST_F(DispatcherTest, FewKeysStayOnOneThread) {
  const SplitBlockBloomFilter filter = FilterOf(64 * kMiB);
  const Engine engine({.threads = 8});
  for (const Engine::Operation operation :
       {Engine::Operation::kContains, Engine::Operation::kInsert}) {
    for (const uint64_t n : {0, 1, 64, 1000}) {
      const CallRoute chosen = engine.PlanCall(filter, n, operation).chosen;
      EXPECT_EQ(chosen.threads, 1u) << n;
      EXPECT_FALSE(chosen.partitioned) << n;
    }
    EXPECT_EQ(engine.PlanCall(filter, 100'000'000, operation).chosen.threads, 8u);
  }
}

TEST_F(DispatcherTest, ChosenIsTheFastestAndMoreKeysTakeLonger) {
  const Engine engine({.threads = 6});
  for (const uint64_t bytes : {uint64_t{32}, uint64_t{4096}, kMiB, 3 * kMiB, 64 * kMiB}) {
    const SplitBlockBloomFilter filter = FilterOf(bytes);
    for (const Engine::Operation operation :
         {Engine::Operation::kContains, Engine::Operation::kInsert}) {
      double last = 0;
      for (uint64_t n = 1; n < uint64_t{1} << 40; n = 2 * n + 1) {
        const Engine::CallPlan plan = engine.PlanCall(filter, n, operation);
        EXPECT_GE(plan.chosen.seconds, last) << n;
        last = plan.chosen.seconds;
        double slower = plan.chosen.seconds;
        for (const CallRoute& route : plan.alternatives) {
          EXPECT_GE(route.seconds, slower);
          slower = route.seconds;
        }
      }
    }
  }
}

// Threads that insert by region need regions of their own, and only classic filters unite copies.
TEST_F(DispatcherTest, EveryWayIsListedOnce) {
  using Way = std::tuple<std::string, unsigned, bool>;
  const Engine engine({.threads = 6});
  const SplitBlockBloomFilter split_block = FilterOf(12 * kMiB);
  const BloomFilter bloom({.bytes = 8 * kMiB});
  for (const auto& [filter, operation] :
       {std::pair<const Filter*, Engine::Operation>{&split_block, Engine::Operation::kContains},
        {&split_block, Engine::Operation::kInsert},
        {&bloom, Engine::Operation::kInsert}}) {
    const bool insert = operation == Engine::Operation::kInsert;
    const bool copies = insert && filter == &bloom;
    std::set<Way> expected;
    for (const Backend& backend : Backends()) {
      for (const unsigned threads : {1, 2, 4, 6}) {
        if (!insert && backend.make_accelerator != nullptr && threads > 1) continue;
        if (!insert || copies || threads == 1) expected.emplace(backend.name, threads, false);
        if (insert && (!copies || threads <= 4)) expected.emplace(backend.name, threads, true);
      }
    }
    const Engine::CallPlan plan = engine.PlanCall(*filter, 1'000'000, operation);
    std::vector<CallRoute> all = plan.alternatives;
    all.push_back(plan.chosen);
    EXPECT_EQ(all.size(), expected.size());
    for (const CallRoute& route : all) {
      EXPECT_EQ(
          expected.erase({std::string(route.backend->name), route.threads, route.partitioned}), 1u)
          << route.backend->name << ' ' << route.threads << ' ' << route.partitioned;
      EXPECT_TRUE(route.threads == 1 ? route.slice_keys == 1'000'000
                                     : route.slice_keys % 64 == 0 && route.slice_keys > 0);
    }
  }
}

TEST_F(DispatcherTest, SmallClassicFiltersAreCopiedForThreads) {
  const auto costs = [] {
    Calibration calibration = Costs(1, 10, 12);
    calibration.points.front().kind = FilterKind::kBloom;
    return calibration;
  }();
  const Dispatcher four({.threads = 4, .calibration = costs});
  PlanRequest request{Engine::Operation::kInsert, FilterKind::kBloom, 8 * kMiB, 10'000'000};
  const CallRoute route = four.Choose(request);
  EXPECT_EQ(route.threads, 4u);
  EXPECT_FALSE(route.partitioned);
  EXPECT_DOUBLE_EQ(route.seconds, 30e-6 + 0.1 / 2.5 + 0.3e-9 * 8 * kMiB);
  EXPECT_NE(four.Explain(request).reason.find("portable on 4 threads, each with a copy: 42.5 ms"),
            std::string::npos)
      << four.Explain(request).reason;
  // Few keys do not pay for the copies.
  request.keys = 100;
  EXPECT_EQ(four.Choose(request).threads, 1u);
  request.keys = 10'000'000;
  // A call that reports new keys cannot use copies.
  request.only_inserts = false;
  EXPECT_TRUE(four.Choose(request).partitioned);
  request.only_inserts = true;
  request.kind = FilterKind::kSplitBlock;
  EXPECT_TRUE(four.Choose(request).partitioned);
  // At most 128 MiB of copies.
  request.kind = FilterKind::kBloom;
  request.filter_bytes = 128 * kMiB + 1;
  EXPECT_TRUE(four.Choose(request).partitioned);
}

TEST_F(DispatcherTest, InsertsAreOrderedWhereThatPays) {
  const SplitBlockBloomFilter filter = FilterOf(64 * kMiB);  // 32 regions at 0.8 us
  const Engine one({.threads = 1, .calibration = Costs(1, 10, 2)});
  EXPECT_FALSE(one.PlanCall(filter, 3000, Engine::Operation::kInsert).chosen.partitioned);
  // Few keys share a line, so most of them would still cause an access to memory.
  EXPECT_FALSE(one.PlanCall(filter, 10'000, Engine::Operation::kInsert).chosen.partitioned);
  EXPECT_TRUE(one.PlanCall(filter, 3'000'000, Engine::Operation::kInsert).chosen.partitioned);
  // The calibration's figures are for this number of keys: one key for 8 bytes of filter.
  const Engine::CallPlan plan = one.PlanCall(filter, 8 * kMiB, Engine::Operation::kInsert);
  EXPECT_TRUE(plan.chosen.partitioned);
  EXPECT_DOUBLE_EQ(plan.chosen.seconds, 2e-9 * 8 * kMiB + 25.6e-6);
  EXPECT_TRUE(Mentions(plan, "portable on 1 thread, partitioned: 16.8 ms")) << plan.reason;
  EXPECT_TRUE(Mentions(plan, "portable on 1 thread, direct, would take 83.9 ms")) << plan.reason;

  // Each thread needs its own part of the filter.
  const Engine eight({.threads = 8, .calibration = Costs(1, 10, 2)});
  EXPECT_EQ(
      eight.PlanCall(FilterOf(2 * kMiB), 10'000'000, Engine::Operation::kInsert).chosen.threads,
      1u);
  EXPECT_EQ(
      eight.PlanCall(FilterOf(6 * kMiB), 10'000'000, Engine::Operation::kInsert).chosen.threads,
      3u);
  EXPECT_EQ(eight.PlanCall(filter, 10'000'000, Engine::Operation::kInsert).chosen.threads, 8u);
}

// Filters that the TLB covers are looked up directly. For larger ones, the number of keys decides.
TEST_F(DispatcherTest, LookupsInFiltersBeyondTheTlbAreOrdered) {
  const Dispatcher dispatcher({.threads = 2, .calibration = Costs(7, 1, 1)});
  const auto choose = [&](uint64_t bytes, uint64_t keys, bool by_region = true) {
    return dispatcher.Choose({.operation = Engine::Operation::kContains,
                              .kind = FilterKind::kSplitBlock,
                              .filter_bytes = bytes,
                              .keys = keys,
                              .by_region = by_region});
  };
  constexpr uint64_t kMany = 100'000'000;
  EXPECT_FALSE(choose(detail::kTlbBytes, kMany).partitioned);
  EXPECT_FALSE(choose(detail::kTlbBytes + kMiB, kMany, false).partitioned);
  EXPECT_FALSE(choose(detail::kTlbBytes + kMiB, 10'000).partitioned);
  const CallRoute route = choose(detail::kTlbBytes + kMiB, kMany);
  EXPECT_TRUE(route.partitioned);
  EXPECT_EQ(route.threads, 2u);
  EXPECT_EQ(route.slice_keys, detail::kMaxOrderedKeys);
  EXPECT_LT(route.seconds, choose(detail::kTlbBytes + kMiB, kMany, false).seconds);

  // The memory limit is for all threads together.
  const Dispatcher many({.threads = 16, .calibration = Costs(7, 1, 1)});
  const CallRoute shared = many.Choose({.operation = Engine::Operation::kContains,
                                        .kind = FilterKind::kSplitBlock,
                                        .filter_bytes = detail::kTlbBytes * 2,
                                        .keys = uint64_t{1} << 40,
                                        .by_region = true});
  ASSERT_TRUE(shared.partitioned);
  EXPECT_LE(shared.slice_keys * shared.threads, detail::kMaxOrderedByAll);

  // The figures of a calibration with such filters include the walks.
  Calibration large = Costs(7, 1, 1);
  large.points.push_back({"portable", 2 * detail::kTlbBytes, 8, 1, 1});
  const Dispatcher calibrated({.threads = 1, .calibration = large});
  const PlanRequest request{.operation = Engine::Operation::kContains,
                            .kind = FilterKind::kSplitBlock,
                            .filter_bytes = 2 * detail::kTlbBytes,
                            .keys = kMany,
                            .by_region = true};
  EXPECT_FALSE(calibrated.Choose(request).partitioned);
  EXPECT_DOUBLE_EQ(calibrated.Choose(request).seconds, 8e-9 * kMany);
}

TEST_F(DispatcherTest, BackendsWithoutMeasurementsAreNotChosen) {
  const Engine engine({.threads = 1, .calibration = Costs(1000, 1000, 1000)});
  const Engine::CallPlan plan = engine.PlanCall(FilterOf(kMiB), 1000);
  EXPECT_EQ(plan.chosen.backend->name, "portable");
  EXPECT_TRUE(plan.alternatives.empty());

  // If figures for all backends, or for the pinned one, are missing, the typical figures are
  // used.
  Calibration other = Costs(1, 1, 1);
  other.points[0].backend = "of another machine";
  const Engine any({.threads = 1, .calibration = other});
  EXPECT_EQ(any.PlanCall(FilterOf(kMiB), 1000).alternatives.size() + 1, Backends().size());
  const Engine pinned({.threads = 1, .backend = &Backends().front(), .calibration = other});
  EXPECT_EQ(pinned.PlanCall(FilterOf(kMiB), 1000).chosen.backend, &Backends().front());
}

TEST_F(DispatcherTest, BackendPins) {
  const SplitBlockBloomFilter filter = FilterOf(kMiB);
  for (const Backend& backend : Backends()) {
    backend_.Set(nullptr);
    const auto expect_pinned = [&](const Engine& engine, const std::string& by) {
      const Engine::CallPlan plan = engine.PlanCall(filter, 1'000'000);
      EXPECT_EQ(plan.chosen.backend, &backend);
      for (const CallRoute& route : plan.alternatives) EXPECT_EQ(route.backend, &backend);
      EXPECT_TRUE(Mentions(plan, by + " pins the backend")) << plan.reason;
    };
    expect_pinned(Engine({.threads = 4, .backend = &backend}), "the options of the engine");
    backend_.Set(std::string(backend.name).c_str());
    expect_pinned(Engine({.threads = 4}), "TAMIS_BACKEND");
  }
  backend_.Set("no-such");
  ExpectError([] { Engine(); }, ErrorCode::kUnknownBackend, "no-such");
  EXPECT_NO_THROW(Engine({.backend = &Backends().back()}));  // the variable is not read
  backend_.Set("");
  EXPECT_FALSE(Mentions(Engine().PlanCall(filter, 1), "pins"));
}

TEST_F(DispatcherTest, WayPins) {
  const SplitBlockBloomFilter filter = FilterOf(kMiB);
  const Backend& portable = Backends().back();
  const Engine engine({.threads = 2, .pin = CallRoute{&portable, 5, true, 0, 0}});
  EXPECT_EQ(engine.threads(), 5u);
  for (const uint64_t n : {0, 1, 1000}) {
    const Engine::CallPlan insert = engine.PlanCall(filter, n, Engine::Operation::kInsert);
    EXPECT_EQ(insert.chosen.backend, &portable);
    EXPECT_EQ(insert.chosen.threads, 5u);
    EXPECT_TRUE(insert.chosen.partitioned);
    EXPECT_TRUE(insert.alternatives.empty());
    EXPECT_TRUE(Mentions(insert, "pin the route")) << insert.reason;
    EXPECT_TRUE(engine.PlanCall(filter, n, Engine::Operation::kContains).chosen.partitioned);
    // The keys of a Bloom filter do not fall into one region each.
    EXPECT_FALSE(engine.PlanCall(BloomFilter({.bytes = kMiB}), n).chosen.partitioned);
  }
  // Several threads always insert ordered by region. Without a backend, the calibration chooses
  // one.
  const Engine direct({.pin = CallRoute{nullptr, 2, false, 0, 0}});
  const Engine::CallPlan plan = direct.PlanCall(filter, 1000, Engine::Operation::kInsert);
  EXPECT_TRUE(plan.chosen.partitioned);
  EXPECT_EQ(plan.alternatives.size() + 1, Backends().size());
}

TEST_F(DispatcherTest, ThreadsFromTheEnvironment) {
  threads_.Set("3");
  EXPECT_EQ(Engine().threads(), 3u);
  EXPECT_EQ(Engine({.threads = 2}).threads(), 2u);
  EXPECT_EQ(EngineThreads(), 3u);
  EXPECT_EQ(EngineThreads(2), 2u);
  threads_.Set("1024");
  EXPECT_EQ(Engine().threads(), kMaxThreads);
  for (const char* unset : {static_cast<const char*>(nullptr), ""}) {
    threads_.Set(unset);
    EXPECT_GE(Engine().threads(), 1u);
    EXPECT_LE(Engine().threads(), kMaxThreads);
  }
  for (const char* wrong :
       {"0", "-1", "+2", "2x", " 2", "2 ", "0x2", "1.5", "1025", "two", "99999999999999999999"}) {
    threads_.Set(wrong);
    ExpectError(
        [] { Engine(); }, ErrorCode::kInvalidArgument,
        "TAMIS_THREADS is \"" + std::string(wrong) + "\"; allowed: whole numbers from 1 to 1024");
    EXPECT_NO_THROW(Engine({.threads = 1}));  // the variable is not read
  }
}

TEST_F(DispatcherTest, OptionsOutOfRangeAreRefused) {
  ExpectError([] { Engine({.threads = 1025}); }, ErrorCode::kInvalidArgument, "1025");
  for (const unsigned threads : {0u, 1025u}) {
    ExpectError(
        [&] {
          Engine({.pin = CallRoute{nullptr, threads, false, 0, 0}});
        },
        ErrorCode::kInvalidArgument, std::to_string(threads));
  }
  Calibration calibration = Costs(1, 1, 1);
  calibration.thread_efficiency = 0;
  ExpectError([&] { Engine({.calibration = calibration}); }, ErrorCode::kInvalidArgument,
              "thread_efficiency is 0");
}

TEST_F(DispatcherTest, AffinityLimitsThreads) {
#ifdef __linux__
  cpu_set_t old;
  ASSERT_EQ(sched_getaffinity(0, sizeof(old), &old), 0);
  EXPECT_EQ(Engine().threads(), static_cast<unsigned>(CPU_COUNT(&old)));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &old)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(Engine().threads(), 1u);
    break;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(old), &old), 0);
#else
  GTEST_SKIP() << "affinity is asked on Linux only";
#endif
}

}  // namespace tamis::dispatcher_test
