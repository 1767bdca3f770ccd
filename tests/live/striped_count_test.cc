#include "tamis/live/detail/striped_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace tamis::detail::striped_count_test {

TEST(OwnStripeTest, RunningThreadsNeverShareOne) {
  constexpr size_t kThreads = kStripes + 5;
  std::vector<size_t> stripes(kThreads);
  std::barrier all_have_one(kThreads);
  std::vector<std::jthread> threads;
  for (size_t& stripe : stripes) {
    threads.emplace_back([&] {
      stripe = OwnStripeOfThisThread();
      all_have_one.arrive_and_wait();
      EXPECT_EQ(OwnStripeOfThisThread(), stripe);
    });
  }
  threads.clear();
  std::multiset<size_t> owned(stripes.begin(), stripes.end());
  owned.erase(kStripes);
  EXPECT_LE(owned.size(), kStripes);
  EXPECT_EQ(owned.size(), std::set<size_t>(owned.begin(), owned.end()).size());
}

TEST(OwnStripeTest, IsFreeAgainAfterTheThreadEnds) {
  for (size_t i = 0; i < 10 * kStripes; ++i) {
    std::jthread([] { EXPECT_LT(OwnStripeOfThisThread(), kStripes); });
  }
}

// Threads come and go, more than there are stripes, so stripes change their owner while others add.
TEST(StripedCountTest, LosesNothing) {
  constexpr uint64_t kThreads = 3 * kStripes, kRounds = 4, kAdditions = 2'000;
  StripedCount count(7);
  for (uint64_t round = 0; round < kRounds; ++round) {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (uint64_t j = 0; j < kAdditions; ++j) count.Add(3);
        for (uint64_t j = 0; j < kAdditions; ++j) count.Subtract(2);
      });
    }
  }
  EXPECT_EQ(count.Get(), 7 + kRounds * kThreads * kAdditions);
}

TEST(StripedCountTest, IsNeverBelowZero) {
  StripedCount count;
  count.Subtract(1);  // as if read before the matching addition on another stripe
  EXPECT_EQ(count.Get(), 0u);
  count.Add(3);
  EXPECT_EQ(count.Get(), 2u);
}

namespace {

StripedCount late_count;

// Such an object may be destroyed after the thread gave its stripe back.
struct AddsWhenItsThreadEnds {
  ~AddsWhenItsThreadEnds() { late_count.Add(1); }
};

}  // namespace

TEST(StripedCountTest, ObjectsOfAThreadThatEndsMayAdd) {
  constexpr uint64_t kThreads = 2 * kStripes;
  std::vector<std::jthread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      static thread_local const AddsWhenItsThreadEnds adds;  // older, so destroyed later
      late_count.Add(1);
      (void)adds;
    });
  }
  threads.clear();
  EXPECT_EQ(late_count.Get(), 2 * kThreads);
}

}  // namespace tamis::detail::striped_count_test
