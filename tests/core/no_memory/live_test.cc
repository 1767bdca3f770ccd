// Live filters in a process that runs out of memory: the old filter stays in use, and no
// data handed over is lost.
#include "tamis/live/live.h"

#include <gtest/gtest.h>

#include <new>
#include <span>
#include <utility>
#include <vector>

#include "tamis/filters/split_block_filter.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tests/core/no_memory/failing_new.h"
#include "tests/test_util.h"

namespace tamis::live_test {

// Calls `act` once for each of its allocations, and makes this allocation fail. If `later`, all
// later allocations fail, too. `act` must then throw std::bad_alloc. Calls `check` after each call.
template <typename Prepare, typename Act, typename Check>
void ForEachAllocation(bool later, const Prepare& prepare, const Act& act, const Check& check) {
  for (int n = 0;; ++n) {
    SCOPED_TRACE(n);
    ASSERT_LT(n, 1000);
    auto state = prepare();
    failures = 0;
    later_ones_fail = later;
    allocations_left = n;
    bool threw = false;
    try {
      act(state);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    allocations_left = -1;
    if (failures == 0) {
      EXPECT_FALSE(threw);
      EXPECT_GT(n, 0);
      return;
    }
    check(state, threw);
  }
}

const std::vector<uint64_t> kKeys = RandomKeys(1000, /*seed=*/1);

// The error of a thread that cannot start must not be reported through a future, which allocates
// memory.
TEST(LiveWithoutMemoryTest, ARebuildThatCannotBeStartedLeavesNoRebuild) {
  using Filter = SplitBlockBloomFilter;
  for (const bool later : {false, true}) {
    Live<Filter> live;
    live.Publish(Filter({.capacity = kKeys.size()}));
    RebuildSource<Filter> source;
    source.build = [](RebuildContext&) {
      Filter filter({.capacity = kKeys.size()});
      filter.Insert(std::span<const uint64_t>(kKeys));
      return filter;
    };
    ForEachAllocation(
        later, [] { return 0; }, [&](int) { live.StartRebuild(source).Wait(); },
        [&](int, bool threw) {
          EXPECT_TRUE(threw);
          EXPECT_FALSE(live.status().rebuilding);
          live.Rebuild(source);
          EXPECT_EQ(live.Read()->Count(kKeys), kKeys.size());
        });
  }
}

TEST(LiveWithoutMemoryTest, AFilterThatCannotBeTakenOverStaysWhereItIs) {
  for (const bool later : {false, true}) {
    ForEachAllocation(
        later,
        [] {
          CuckooFilter<12> filter({.capacity = kKeys.size()});
          filter.Insert(std::span<const uint64_t>(kKeys));
          return filter;
        },
        [](CuckooFilter<12>& filter) { ConcurrentCuckooFilter<12> shared(std::move(filter)); },
        [](const CuckooFilter<12>& filter, bool threw) {
          EXPECT_TRUE(threw);
          EXPECT_FALSE(filter.moved_from());
          EXPECT_EQ(filter.Count(kKeys), kKeys.size());
        });
  }
}

}  // namespace tamis::live_test
