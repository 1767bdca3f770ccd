#include "tamis/live/detail/striped_pointer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

namespace tamis::detail::striped_pointer_test {

TEST(StripedPointerTest, IsNullBeforeTheFirst) {
  const StripedPointer<const int> pointer;
  EXPECT_EQ(pointer.Get(), nullptr);
}

TEST(StripedPointerTest, ThreadsAreSpreadOverAllStripes) {
  std::set<size_t> seen;
  for (size_t i = 0; i < kStripes; ++i) {
    std::thread([&] {
      const size_t stripe = StripeOfThisThread();
      EXPECT_LT(stripe, kStripes);
      EXPECT_EQ(StripeOfThisThread(), stripe);
      seen.insert(stripe);
    }).join();
  }
  EXPECT_EQ(seen.size(), kStripes);
}

// If readers of two stripes wrote to one count, they would slow each other down.
TEST(StripedPointerTest, StripesHaveCountsOfTheirOwn) {
  StripedPointer<const int> pointer;
  pointer.Exchange(std::make_shared<const int>(1));
  std::vector<std::shared_ptr<const int>> leases;
  for (size_t i = 0; i < kStripes; ++i)
    std::thread([&] { leases.push_back(pointer.Get()); }).join();
  for (size_t i = 0; i < kStripes; ++i) {
    EXPECT_EQ(leases[i].get(), leases[0].get());
    EXPECT_EQ(leases[i].use_count(), 2) << "the stripe's and the snapshot's";
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(leases[i].owner_before(leases[j]) || leases[j].owner_before(leases[i]));
  }
}

TEST(StripedPointerTest, TheOldOneGoesWithItsLastReader) {
  StripedPointer<const int> pointer;
  auto first = std::make_shared<const int>(1);
  const std::weak_ptr<const int> watched = first;
  pointer.Exchange(first);
  first.reset();
  std::shared_ptr<const int> reader = pointer.Get();
  pointer.Exchange(std::make_shared<const int>(2));
  EXPECT_EQ(*reader, 1);
  EXPECT_FALSE(watched.expired());
  reader.reset();
  EXPECT_TRUE(watched.expired());
}

// After a thread has read a number, no thread reads a smaller one.
TEST(StripedPointerTest, ReplacingIsOneStepForAllThreads) {
  StripedPointer<const uint64_t> pointer;
  pointer.Exchange(std::make_shared<const uint64_t>(0));
  std::atomic<uint64_t> seen = 0;
  std::atomic<uint64_t> went_back = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const uint64_t least = seen.load();
        const uint64_t now = *pointer.Get();
        went_back += now < least;
        uint64_t before = seen.load();
        while (before < now && !seen.compare_exchange_weak(before, now)) {
        }
      }
    });
  }
  uint64_t last = 0;
  while (last < 2000 || seen < 1000) pointer.Exchange(std::make_shared<const uint64_t>(++last));
  EXPECT_EQ(*pointer.Get(), last);
  readers.clear();
  EXPECT_EQ(went_back, 0);
}

}  // namespace tamis::detail::striped_pointer_test
