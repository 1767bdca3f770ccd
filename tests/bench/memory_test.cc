// The memory that filters use one after the other, and the statistics of samples.
#include <gtest/gtest.h>

#include <new>

#include "bench/huge_memory.h"
#include "bench/timing.h"

namespace tamis::bench::memory_test {

TEST(ArenaTest, BeginsAgainWhenAllIsFreed) {
  for (const bool huge_pages : {true, false}) {
    Arena arena(10'000, huge_pages);
    void* const first = arena.allocate(100, 64);
    void* const second = arena.allocate(100, 64);
    EXPECT_EQ(first, arena.memory().data());
    EXPECT_EQ(static_cast<std::byte*>(second) - static_cast<std::byte*>(first), 128);
    arena.deallocate(first, 100, 64);
    EXPECT_NE(arena.allocate(100, 64), first);  // the second is still allocated
    arena.deallocate(second, 100, 64);
    arena.deallocate(first, 100, 64);
    EXPECT_EQ(arena.allocate(10'000, 64), first);
  }
}

TEST(ArenaTest, DoesNotGrow) {
  Arena arena(1'000);
  EXPECT_THROW(static_cast<void>(arena.allocate(1'001, 1)), std::bad_alloc);
  arena.deallocate(arena.allocate(1'000, 1), 1'000, 1);
  static_cast<void>(arena.allocate(990, 1));
  EXPECT_THROW(static_cast<void>(arena.allocate(10, 64)), std::bad_alloc);
}

TEST(TimingTest, QuantilesAreLinear) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({1, 2, 3, 4, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(Quantile({7}, 0.75), 7);
}

}  // namespace tamis::bench::memory_test
