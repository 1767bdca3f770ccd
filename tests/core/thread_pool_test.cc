// The thread pool: it runs every task once, all threads work, and no two have the same number.
#include "core/src/engine/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace tamis::thread_pool_test {

TEST(ThreadPoolTest, EveryTaskRunsOnceAndIsSeenByTheCaller) {
  detail::ThreadPool pool;
  for (const size_t tasks : {0, 1, 2, 7, 8, 9, 1000}) {
    for (const unsigned threads : {1, 2, 3, 8, 4, 1}) {  // up and down: workers are kept
      std::vector<int> runs(tasks);  // not atomic: the writes of tasks must be visible afterwards
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
    // No thread leaves before all have arrived; the time limit is for a pool that is broken.
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

TEST(ThreadPoolTest, CallsFromSeveralThreadsRunSideBySide) {
  constexpr int kCallers = 4;
  constexpr unsigned kThreads = 3;
  detail::ThreadPool pool;
  std::vector<size_t> sums(kCallers);
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        std::vector<std::atomic<bool>> busy(kThreads);
        for (int call = 0; call < 50; ++call) {
          std::vector<size_t> squares(30);
          pool.ParallelFor(squares.size(), kThreads, [&](size_t i, unsigned thread) noexcept {
            EXPECT_FALSE(busy[thread].exchange(true));
            squares[i] = i * i;
            busy[thread] = false;
          });
          sums[c] += std::accumulate(squares.begin(), squares.end(), size_t{0});
        }
      });
    }
  }
  EXPECT_EQ(sums, std::vector<size_t>(kCallers, 50 * 8555));
}

// Between two tasks, the threads of a call may turn to a later call, except for the calling thread.
TEST(ThreadPoolTest, ASmallCallDoesNotWaitForALargeOne) {
  constexpr unsigned kThreads = 4;
  detail::ThreadPool pool;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto in_time = [&] { return std::chrono::steady_clock::now() < deadline; };
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> at_work{0};
  std::jthread large([&] {
    pool.ParallelFor(1'000'000, kThreads, [&](size_t, unsigned) noexcept {
      ++at_work;
      if (!is_over && in_time()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  while (at_work < kThreads && in_time()) std::this_thread::yield();
  for (int call = 0; call < 20; ++call) {
    // No thread leaves before this many have arrived.
    constexpr unsigned kLeft = kThreads - 1;
    std::atomic<unsigned> arrived{0};
    pool.ParallelFor(kLeft, kThreads, [&](size_t, unsigned) noexcept {
      ++arrived;
      while (arrived < kLeft && in_time()) std::this_thread::yield();
    });
    EXPECT_EQ(arrived, kLeft);
  }
  EXPECT_TRUE(in_time());
  EXPECT_LT(at_work, 1'000'000u) << "the large call was over before";
  is_over = true;
}

TEST(ThreadPoolTest, EndsWhetherUsedOrNot) {
  for (int i = 0; i < 50; ++i) {
    const auto pool = std::make_unique<detail::ThreadPool>();
    if (i % 2 == 1) pool->ParallelFor(3, 3, [](size_t, unsigned) noexcept {});
  }
}

}  // namespace tamis::thread_pool_test
