// The regions of filters, and the predicted costs of lookups ordered by them.
#include "core/src/bulk/regions.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace tamis::detail::regions_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBlockBytes = 32;

uint64_t Regions(uint64_t blocks) {
  return (blocks - 1) / RegionBlocks(blocks * kBlockBytes, blocks) + 1;
}

TEST(RegionsTest, BlocksOfARegionArePowersOfTwo) {
  for (uint64_t blocks = 1; blocks < uint64_t{1} << 40; blocks = blocks * 5 / 4 + 1) {
    const uint64_t bytes = blocks * kBlockBytes;
    EXPECT_TRUE(std::has_single_bit(RegionBlocks(bytes, blocks))) << blocks;
    EXPECT_LE(Regions(blocks), NumRegions(bytes)) << blocks;
    EXPECT_GE(2 * Regions(blocks), NumRegions(bytes)) << blocks;
  }
}

// No region is larger than necessary, and no region has only the last block.
TEST(RegionsTest, FiltersOfPowersOfTwoHaveAllRegions) {
  for (const uint64_t bytes : {2 * kMiB, 64 * kMiB, 512 * kMiB, 4096 * kMiB}) {
    EXPECT_EQ(Regions(bytes / kBlockBytes), NumRegions(bytes)) << bytes;
    EXPECT_LE(2 * Regions(bytes / kBlockBytes + 1), NumRegions(bytes) + 2) << bytes;
  }
}

CostAtSize Point(uint64_t bytes, double contains_ns) { return {bytes, {contains_ns, 1, 1}}; }

TEST(LookupCostTest, WalksAreOfFiltersThatTheTlbDoesNotCover) {
  const std::vector<CostAtSize> points = {Point(kMiB, 1), Point(64 * kMiB, 8)};
  for (const uint64_t bytes : {kMiB, kTlbBytes}) {
    const double ns = CostOfSize(points, bytes).contains_ns;
    const LookupCost cost = LookupCostOf(points, bytes, ns);
    EXPECT_EQ(cost.direct_ns, ns);
    EXPECT_EQ(cost.covered_ns, ns);
  }
  const LookupCost cost = LookupCostOf(points, kTlbBytes + 1, 8);
  EXPECT_GT(cost.direct_ns, 8);
  EXPECT_EQ(cost.covered_ns, 8);

  // Measured with walks. The cost without them is the cost at the last size without walks.
  const std::vector<CostAtSize> large = {Point(kMiB, 1), Point(kTlbBytes, 9),
                                         Point(2 * kTlbBytes, 30)};
  const LookupCost measured = LookupCostOf(large, 2 * kTlbBytes, 30);
  EXPECT_EQ(measured.direct_ns, 30);
  EXPECT_EQ(measured.covered_ns, 9);
}

TEST(OrderedLookupSecondsTest, GrowWithTheWork) {
  constexpr uint64_t kBytes = 2 * kTlbBytes;
  constexpr double kSlice = 1 << 20;
  const LookupCost cost = {30, 10};
  const auto seconds = [&](double keys, double slice_keys, double speed = 1) {
    return OrderedLookupSeconds(cost, kBytes, keys, slice_keys, speed);
  };
  EXPECT_DOUBLE_EQ(seconds(kSlice, kSlice, 4), seconds(kSlice, kSlice) / 4);
  // The lists begin again for each slice, full or not.
  const double next_slice = seconds(kSlice + 1, kSlice) - seconds(kSlice, kSlice);
  EXPECT_GT(next_slice, 1000 * (seconds(kSlice, kSlice) - seconds(kSlice - 1, kSlice)));
  EXPECT_NEAR(seconds(9 * kSlice, kSlice), 9 * seconds(kSlice, kSlice), 1e-9);
  // If few keys share a line, a key takes as long as in a covered filter, plus the time to order
  // it.
  EXPECT_GT(1e9 * seconds(kSlice, kSlice), (cost.covered_ns + 1) * kSlice);
  // If many keys share a line, each takes less time, but not none.
  const double many = 1e12;
  EXPECT_LT(1e9 * seconds(many, many), cost.covered_ns * many);
  EXPECT_GT(1e9 * seconds(many, many), many);
}

}  // namespace tamis::detail::regions_test
