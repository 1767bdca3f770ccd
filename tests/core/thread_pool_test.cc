// The pool of threads: every task once, all threads at work, no two of the same number.
#include "core/src/engine/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace tamis {
namespace {

TEST(ThreadPoolTest, EveryTaskRunsOnceAndIsSeenByTheCaller) {
  detail::ThreadPool pool;
  for (const size_t tasks : {0, 1, 2, 7, 8, 9, 1000}) {
    for (const unsigned threads : {1, 2, 3, 8, 4, 1}) {  // up and down: workers are kept
      std::vector<int> runs(tasks);  // not atomic: what tasks wrote must be visible afterwards
      pool.ParallelFor(tasks, threads, [&](size_t i, unsigned thread) noexcept {
        EXPECT_LT(thread, threads);
        ++runs[i];
      });
      EXPECT_EQ(runs, std::vector<int>(tasks, 1)) << tasks << " tasks, " << threads << " threads";
    }
  }
}

TEST(ThreadPoolTest, AllThreadsWorkAtTheSameTime) {
  detail::ThreadPool pool;
  for (const unsigned threads : {2, 5, 8}) {
    // Nobody leaves before all have come; the limit of time is for a pool that is broken.
    std::atomic<unsigned> arrived{0};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    pool.ParallelFor(threads, threads, [&](size_t, unsigned) noexcept {
      ++arrived;
      while (arrived < threads && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      EXPECT_EQ(arrived, threads);
    });
  }
}

TEST(ThreadPoolTest, ThreadNumbersAreNotShared) {
  constexpr unsigned kThreads = 6;
  detail::ThreadPool pool;
  std::vector<std::atomic<bool>> busy(kThreads);
  for (int call = 0; call < 200; ++call) {
    pool.ParallelFor(50, kThreads, [&](size_t, unsigned thread) noexcept {
      EXPECT_FALSE(busy[thread].exchange(true));
      std::this_thread::yield();
      busy[thread] = false;
    });
  }
}

TEST(ThreadPoolTest, CallsFromSeveralThreadsTakeTurns) {
  constexpr int kCallers = 4;
  detail::ThreadPool pool;
  std::vector<std::atomic<int>> running(kCallers);  // tasks, of each caller
  std::vector<size_t> sums(kCallers);
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        for (int call = 0; call < 50; ++call) {
          std::vector<size_t> squares(30);
          pool.ParallelFor(squares.size(), 3, [&](size_t i, unsigned) noexcept {
            ++running[c];
            for (int other = 0; other < kCallers; ++other) {
              EXPECT_TRUE(other == c || running[other] == 0);
            }
            squares[i] = i * i;
            --running[c];
          });
          sums[c] += std::accumulate(squares.begin(), squares.end(), size_t{0});
        }
      });
    }
  }
  EXPECT_EQ(sums, std::vector<size_t>(kCallers, 50 * 8555));
}

TEST(ThreadPoolTest, EndsWhetherUsedOrNot) {
  for (int i = 0; i < 50; ++i) {
    const auto pool = std::make_unique<detail::ThreadPool>();
    if (i % 2 == 1) pool->ParallelFor(3, 3, [](size_t, unsigned) noexcept {});
  }
}

}  // namespace
}  // namespace tamis
