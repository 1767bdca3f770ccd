// A thousand rebuilds while threads read and threads insert.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "tamis/live/live.h"
#include "tests/live/live_test_util.h"
#include "tests/test_util.h"

namespace tamis::swaps_test {

// The keys that threads have committed; each thread has its own keys.
struct Table {
  void Insert(uint64_t key) {
    const std::lock_guard lock(mutex);
    keys.push_back(key);
  }
  std::vector<uint64_t> Copy() {
    const std::lock_guard lock(mutex);
    return keys;
  }

  std::mutex mutex;
  std::vector<uint64_t> keys;
};

template <typename F>
class SwapsTest : public testing::Test {};
using Changed = testing::Types<LockedBlocks, LockedCuckoo>;
TYPED_TEST_SUITE(SwapsTest, Changed);

TYPED_TEST(SwapsTest, AThousandRebuildsLoseNothing) {
  constexpr uint64_t kSwaps = 1000;
  constexpr uint64_t kAlways = 1000;  // keys in all generations
  constexpr uint64_t kOfEach = 3;     // keys that each thread inserts per generation
  // Twice as many, because a key that is committed during a rebuild is both read and replayed.
  constexpr uint64_t kCapacity = 2 * (kAlways + 2 * kOfEach * kSwaps);
  Table table;
  table.keys = RandomKeys(kAlways, /*seed=*/9);
  const std::vector<uint64_t> always = table.keys;
  {
    Live<TypeParam> live;
    live.Publish(FilterOf<TypeParam>(always, kCapacity));
    std::atomic<uint64_t> missed = 0, read = 0, inserted = 0;
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < 2; ++t) {
      threads.emplace_back([&](const std::stop_token& stop) {
        for (; !stop.stop_requested(); ++read) {
          const auto snapshot = live.Read();
          missed += always.size() - snapshot->Count(always);
        }
      });
      threads.emplace_back([&, t](const std::stop_token& stop) {
        std::vector<uint64_t> mine;
        while (!stop.stop_requested()) {
          if (mine.size() < kOfEach * std::min(live.Read().generation(), kSwaps)) {
            mine.push_back(Mix(t << 40 | mine.size()));
            auto change = live.BeginChange();
            change.Insert(Keys(mine).Slice(mine.size() - 1, 1));
            table.Insert(mine.back());
            ++inserted;
          }
          const auto snapshot = live.Read();
          missed += !snapshot->Contains(mine.back());
          if (mine.size() % 64 == 0) missed += mine.size() - snapshot->Count(mine);
        }
      });
    }
    for (uint64_t i = 0; i < kSwaps || inserted < kSwaps || read < kSwaps; ++i) {
      EXPECT_EQ(live.Rebuild({[&](RebuildContext&) {
        return FilterOf<TypeParam>(table.Copy(), kCapacity);
      }}),
                i + 2);
      EXPECT_LE(TypeParam::instances, 10)
          << "the one that serves, those that are read, and those on their way";
    }
    threads.clear();
    EXPECT_EQ(missed, 0u);
    EXPECT_EQ(live.Read()->Count(table.keys), table.keys.size());
    EXPECT_EQ(TypeParam::instances, 1);
  }
  EXPECT_EQ(TypeParam::instances, 0);
}

}  // namespace tamis::swaps_test
