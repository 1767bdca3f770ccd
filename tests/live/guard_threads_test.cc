// A guard and many threads: one load serves all waiting calls, and no existing key is answered
// "no".
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/live/guard.h"
#include "tests/live/guard_test_util.h"
#include "tests/test_util.h"

namespace tamis::guard_threads_test {

using Found = TestStore::Found;

class GuardThreadsTest : public testing::Test {
 protected:
  GuardThreadsTest() { live_.Publish(FilterOf<LockedBlocks>({1, 2, 3})); }

  template <typename Load>
  Found Get(uint64_t key, const Load& load) {
    return guard_.Get(key, cache_, load);
  }
  Found Get(uint64_t key) {
    return Get(key, [&](uint64_t asked) { return database_.Get(asked); });
  }
  // Waits until `calls` calls have passed the filter and have had time to find a load to wait for.
  void AwaitPassed(uint64_t calls) {
    while (guard_.stats().passed < calls) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  Live<LockedBlocks> live_;
  TestStore cache_, database_;
  Guard guard_{live_};
};

TEST_F(GuardThreadsTest, ConcurrentLoadsOfOneKeyAreOne) {
  constexpr uint64_t kThreads = 6;
  std::atomic<int> loads = 0;
  Event go;
  std::vector<Found> found(kThreads);
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      found[t] = Get(1, [&](uint64_t) {
        ++loads;
        go.Wait();
        return Found(10);
      });
    });
  }
  AwaitPassed(kThreads);
  go.Set();
  threads.clear();
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(found, std::vector<Found>(kThreads, 10));
  EXPECT_EQ(guard_.stats().loads, 1u);
  EXPECT_EQ(guard_.stats().coalesced, kThreads - 1);
}

TEST_F(GuardThreadsTest, AnExceptionReachesAllWaitersAndTheNextCallTriesAgain) {
  constexpr uint64_t kThreads = 4;
  // Kept until all threads have ended: ThreadSanitizer does not see how libstdc++ counts
  // references.
  const auto exception = std::make_exception_ptr(std::runtime_error("no connection"));
  std::atomic<int> loads = 0, thrown = 0;
  Event go;
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      try {
        Get(1, [&](uint64_t) -> Found {
          ++loads;
          go.Wait();
          std::rethrow_exception(exception);
        });
      } catch (const std::runtime_error& error) {
        thrown += std::string(error.what()) == "no connection";
      }
    });
  }
  AwaitPassed(kThreads);
  go.Set();
  threads.clear();
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(thrown, kThreads);
  database_.Insert(1);
  EXPECT_EQ(Get(1), Found(10));
}

struct Interrupt : LoadInterrupted {};

// Each interrupt hits the load that is under way. The last load succeeds.
TEST_F(GuardThreadsTest, AnInterruptEndsOneCallAndTheOthersLoadAgain) {
  constexpr uint64_t kThreads = 5;
  constexpr int kInterrupts = 3;
  const auto exception = std::make_exception_ptr(Interrupt());  // kept as above
  std::atomic<int> loads = 0, under_way = 0, thrown = 0, right = 0;
  Event go;
  {
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const auto load = [&](uint64_t key) -> Found {
          EXPECT_EQ(++under_way, 1) << "two loads at a time";
          go.Wait();
          const bool last = ++loads > kInterrupts;
          // Gives the other calls time to wait for this one.
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          --under_way;
          if (!last) std::rethrow_exception(exception);
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          return key * 10;
        };
        try {
          if (t % 2 == 0) {
            right += Get(1, load) == Found(10);
          } else {
            TestStore no_cache;
            const std::vector<uint64_t> keys = {1};
            right += guard_.GetMany(keys, no_cache, [&](std::span<const uint64_t> asked) {
              return std::vector<Found>{load(asked[0])};
            }) == std::vector<Found>{10};
          }
        } catch (const Interrupt&) {
          ++thrown;
        }
      });
    }
    AwaitPassed(kThreads);
    go.Set();
  }
  EXPECT_EQ(thrown, kInterrupts);
  EXPECT_EQ(right, static_cast<int>(kThreads) - kInterrupts);
  EXPECT_GE(loads, kInterrupts + 1);
  const GuardStats stats = guard_.stats();
  EXPECT_EQ(stats.load_failures, uint64_t{kInterrupts});
  EXPECT_EQ(stats.passed, stats.coalesced + stats.loads);
}

TEST_F(GuardThreadsTest, AWaiterCanLeaveAndTheLoadGoesOn) {
  Event loading, go;
  Found found;
  std::jthread loader([&] {
    found = Get(1, [&](uint64_t key) {
      loading.Set();
      go.Wait();
      return Found(key * 10);
    });
  });
  loading.Wait();
  int waits = 0;
  const auto leave = [&] {
    if (++waits == 3) throw std::runtime_error("enough");
  };
  const auto never = [](uint64_t) -> Found { throw std::logic_error("loaded twice"); };
  EXPECT_THROW(guard_.Get(1, cache_, never, leave), std::runtime_error);
  EXPECT_EQ(waits, 3);
  go.Set();
  loader.join();
  EXPECT_EQ(found, Found(10));
}

// The load reads the database before the commit, and ends after it.
TEST_F(GuardThreadsTest, ALoadThatBeganBeforeAnInsertLeavesNothing) {
  Event read, go;
  Found early = Found(0);
  std::jthread client([&] {
    early = Get(2, [&](uint64_t key) {
      const Found found = database_.Get(key);
      read.Set();
      go.Wait();
      return found;
    });
  });
  read.Wait();
  guard_.Insert(2, [&] { database_.Insert(2); });
  EXPECT_EQ(Get(2), Found(20)) << "it does not wait for the one that began before";
  go.Set();
  client.join();
  EXPECT_EQ(early, Found()) << "it asked before";
  EXPECT_EQ(guard_.stats().negatives, 0u);
  TestStore no_cache;
  EXPECT_EQ(guard_.Get(2, no_cache, [&](uint64_t key) { return database_.Get(key); }), Found(20));
}

// Stops each of two threads once, at its second key.
struct StoppingHash {
  static inline std::barrier<> both{2};
  static inline thread_local uint64_t second = 0;

  size_t operator()(uint64_t key) const {
    if (std::exchange(second, second == key ? 0 : second) == key) both.arrive_and_wait();
    return key;
  }
};

// Each of two batches loads one key, and then waits for a key that the other batch loads.
TEST_F(GuardThreadsTest, BatchesDoNotWaitForEachOther) {
  CacheGuard<uint64_t, uint64_t, LockedBlocks, StoppingHash> guard(live_);
  TestStore caches[2];
  std::vector<std::jthread> threads;
  for (const int t : {0, 1}) {
    threads.emplace_back([&, t] {
      const std::vector<uint64_t> keys =
          t == 0 ? std::vector<uint64_t>{1, 2} : std::vector<uint64_t>{2, 1};
      StoppingHash::second = keys[1];
      const std::vector<Found> found =
          guard.GetMany(keys, caches[t], [&](std::span<const uint64_t> asked) {
            EXPECT_EQ(asked.size(), 1u);
            StoppingHash::both.arrive_and_wait();  // no load lands before both wait
            return std::vector<Found>{asked[0] * 10};
          });
      EXPECT_EQ(found, (std::vector<Found>{keys[0] * 10, keys[1] * 10}));
    });
  }
  threads.clear();
  EXPECT_EQ(guard.stats().loads, 2u);
  EXPECT_EQ(guard.stats().coalesced, 2u);
}

// Threads insert keys, and query their own keys and missing keys. Meanwhile the filter is rebuilt
// and dropped, and the database sometimes fails.
TEST_F(GuardThreadsTest, EveryKeyWhoseInsertHasReturnedIsFound) {
  constexpr uint64_t kThreads = 3;
  Guard guard(live_, {.negative_ttl = std::chrono::hours(1), .max_negatives = 1000});
  std::atomic<uint64_t> last[kThreads] = {};  // number of the last key inserted by each thread
  const auto key_of = [](uint64_t t, uint64_t i) { return t * 1'000'000 + i * 5; };
  std::atomic<uint64_t> wrong = 0;
  const auto exception = std::make_exception_ptr(std::runtime_error("now and then"));
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t](const std::stop_token& stop) {
      Random random(t);
      TestStore mine;  // a cache that is often empty
      for (uint64_t i = 1; !stop.stop_requested() && i < 20'000; ++i) {
        const auto ask = [&](uint64_t key) -> Found {
          for (;;) {
            try {
              return guard.Get(key, mine, [&](uint64_t asked) {
                if (random.Below(50) == 0) std::rethrow_exception(exception);
                return database_.Get(asked);
              });
            } catch (const std::runtime_error&) {
            }
          }
        };
        const uint64_t key = key_of(t, i);
        if (random.Below(3) == 0) ask(key);  // so that its absence may be cached
        guard.Insert(key, [&] { database_.Insert(key); });
        last[t] = i;
        const uint64_t of = random.Below(kThreads);
        const uint64_t count = last[of];
        if (count > 0) {
          const uint64_t there = key_of(of, 1 + random.Below(count));
          wrong += ask(there) != Found(there * 10);
        }
        const uint64_t ahead = key_of(of, last[of] + 1);  // is being inserted at this time
        ask(ahead);
        wrong += ask(key + 1) != Found();
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    live_.Rebuild({[&](RebuildContext&) {
      std::vector<uint64_t> keys = {1, 2, 3};
      for (uint64_t t = 0; t < kThreads; ++t) {
        const uint64_t count = last[t] + 10;  // all committed keys, and more
        for (uint64_t j = 1; j <= count; ++j) {
          if (database_.Has(key_of(t, j))) keys.push_back(key_of(t, j));
        }
      }
      return FilterOf<LockedBlocks>(keys, 100'000);
    }});
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  threads.clear();
  EXPECT_EQ(wrong, 0u);
  const GuardStats stats = guard.stats();
  EXPECT_EQ(stats.passed, stats.cache_hits + stats.negative_hits + stats.coalesced + stats.loads);
  EXPECT_GT(stats.blocked, 0u);
}

}  // namespace tamis::guard_threads_test
