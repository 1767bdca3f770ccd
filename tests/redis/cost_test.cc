#include "redis/src/filter/cost.h"

#include <gtest/gtest.h>

#include "tamis/filters/sizing.h"

namespace tamis::redis::cost_test {

TEST(RedisCostTest, FewKeysGoByBlocksAndManyBySegments) {
  const Layout layout = LayoutFor(SplitBlockBlocks(100'000'000, 0.01));
  for (const Operation operation : {Operation::kContains, Operation::kInsert}) {
    EXPECT_EQ(PlanRoute(layout, operation, 0, {}).route, Route::kBlocks);
    EXPECT_EQ(PlanRoute(layout, operation, 1'000, {}).route, Route::kBlocks);
    EXPECT_EQ(PlanRoute(layout, operation, 10'000'000, {}).route, Route::kSegments);
    // The route changes only once.
    bool segments = false;
    for (uint64_t keys = 1; keys < 100'000'000; keys *= 2) {
      const RoutePlan plan = PlanRoute(layout, operation, keys, {});
      if (segments) {
        EXPECT_EQ(plan.route, Route::kSegments) << keys;
      }
      segments = plan.route == Route::kSegments;
      const bool cheaper = plan.segments_seconds < plan.blocks_seconds;
      EXPECT_EQ(segments, cheaper);
      EXPECT_GT(plan.blocks_bytes, 0u);
    }
  }
}

TEST(RedisCostTest, SaysWhy) {
  const Layout layout = LayoutFor(SplitBlockBlocks(1'000'000, 0.01));
  const RoutePlan plan = PlanRoute(layout, Operation::kContains, 100, {});
  EXPECT_EQ(plan.reason.rfind("blocks: 100 keys in ", 0), 0u) << plan.reason;
  const RoutePlan pinned = PlanRoute(layout, Operation::kContains, 100, Route::kSegments);
  EXPECT_EQ(pinned.route, Route::kSegments);
  EXPECT_NE(pinned.reason.find("as requested"), std::string::npos) << pinned.reason;
  EXPECT_EQ(pinned.blocks_seconds, plan.blocks_seconds);
}

}  // namespace tamis::redis::cost_test
