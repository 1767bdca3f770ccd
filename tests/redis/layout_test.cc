#include "redis/src/filter/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "redis/src/client/slot.h"
#include "tamis/filters/sizing.h"
#include "tests/redis/redis_test_util.h"

namespace tamis::redis::layout_test {

// Returns block counts around each change of the segment size, and the smallest and largest counts.
std::vector<uint64_t> BlocksOfInterest() {
  std::vector<uint64_t> blocks = {1, 2, 8189, 8190, 8191, 100'000, 4'294'967'294, 4'294'967'295};
  for (uint64_t n = 100'000; n < 4'000'000'000; n = n * 3 + 1) blocks.push_back(n);
  return blocks;
}

TEST(RedisLayoutTest, SegmentsCoverAllBlocksOnce) {
  for (const uint64_t blocks : BlocksOfInterest()) {
    const Layout layout = LayoutFor(blocks);
    ASSERT_EQ(layout.blocks, blocks);
    ASSERT_TRUE(IsSegmentBytes(layout.segment_bytes()));
    uint64_t sum = 0;
    for (uint64_t s = 0; s < layout.segments(); ++s) {
      ASSERT_EQ(layout.FirstBlock(s), sum);
      ASSERT_GE(layout.BlocksOf(s), 1u);
      ASSERT_EQ(layout.SegmentOf(sum), s);
      sum += layout.BlocksOf(s);
      ASSERT_EQ(layout.SegmentOf(sum - 1), s);
    }
    ASSERT_EQ(sum, blocks);
    // With 240 segments, a master of 12 has at most 1 segment more than its share of 20, so
    // segments are not made smaller.
    if (layout.segment_bytes() < (1 << 23) - 64) {
      EXPECT_LT(layout.segments(), 300u) << blocks;
    }
  }
}

TEST(RedisLayoutTest, SegmentsAreOfTheseSizes) {
  for (uint64_t log = 14; log <= 20; ++log) {
    for (const uint64_t times : {4, 5, 6, 7, 8}) {
      const uint64_t bytes = times << log;
      EXPECT_TRUE(IsSegmentBytes(bytes - 64)) << bytes;
      EXPECT_FALSE(IsSegmentBytes(bytes)) << bytes;
      EXPECT_FALSE(IsSegmentBytes(bytes - 32)) << bytes;
    }
  }
  EXPECT_FALSE(IsSegmentBytes((7 << 13) - 64));
  EXPECT_FALSE(IsSegmentBytes((5 << 21) - 64));
  EXPECT_FALSE(IsSegmentBytes(0));
}

TEST(RedisLayoutTest, KeysAreInTheSlotsTheyAreMeantFor) {
  for (const uint64_t blocks : BlocksOfInterest()) {
    const Layout layout = LayoutFor(blocks);
    const uint64_t n = layout.segments();
    const uint64_t step = std::max<uint64_t>(1, n / 50);
    for (uint64_t s = 0; s < n; s += step) {
      const SegmentKey key = KeyOfSegment("a name", layout, 5, s);
      // floor((s + 1/2) * 16384 / n)
      ASSERT_EQ(key.slot, static_cast<uint32_t>((static_cast<double>(s) + 0.5) * 16384 /
                                                static_cast<double>(n)));
      ASSERT_EQ(SlotOfKey(key.text), key.slot);
      ASSERT_EQ(SlotOfKey(DeltaKey("a name", key.slot, 3)), key.slot);
    }
  }
  const SegmentKey key = KeyOfSegment("phones", LayoutFor(1), 0x12AB, 0);
  EXPECT_EQ(key.slot, 8192u);
  const std::string tag = std::to_string(TagOfSlot(8192));
  EXPECT_EQ(key.text, "tamis:{" + tag + "}:bits:00000000000012ab:0:phones");
  EXPECT_EQ(DeltaKey("phones", 8192, 7), "tamis:{" + tag + "}:delta:0000000000000007:phones");
  EXPECT_EQ(DescriptorKey("phones"), "tamis:{phones}");
}

// 10^8 keys at 1%.
TEST(RedisLayoutTest, MastersHaveEqualShares) {
  const Layout layout = LayoutFor(SplitBlockBlocks(100'000'000, 0.01));
  EXPECT_LT(layout.segments(), 130u);  // few, because each segment costs a call of few keys
  for (const uint64_t masters : {3, 5, 12}) {
    std::vector<uint64_t> bytes(masters, 0);
    for (uint64_t s = 0; s < layout.segments(); ++s) {
      bytes[layout.SlotOf(s) * masters / kSlots] += layout.BytesOf(s);
    }
    const double share = static_cast<double>(layout.bytes()) / static_cast<double>(masters);
    for (const uint64_t b : bytes) {
      EXPECT_NEAR(static_cast<double>(b) / share, 1, 0.05) << masters;
    }
  }
}

// This holds for every filter that is large enough for 240 segments of the smallest size.
TEST(RedisLayoutTest, MastersHaveEqualSharesOfAnyLargeFilter) {
  for (uint64_t blocks = 2'100'000; blocks < split_block::kMaxBlocks32; blocks += blocks / 7) {
    const Layout layout = LayoutFor(blocks);
    std::vector<double> bytes(12, 0);
    for (uint64_t s = 0; s < layout.segments(); ++s) {
      bytes[layout.SlotOf(s) * 12 / kSlots] += static_cast<double>(layout.BytesOf(s));
    }
    const double most = *std::max_element(bytes.begin(), bytes.end());
    EXPECT_LE(most * 12 / static_cast<double>(layout.bytes()), 1.05) << blocks;
  }
}

TEST(RedisLayoutTest, Names) {
  RequireName("a");
  RequireName("with spaces, colons: and slashes/");
  RequireName(std::string(200, 'x'));
  RequireName("\xC3\xA9");
  for (const std::string& name : {std::string(), std::string("a{b"), std::string("a}b"),
                                  std::string("\n"), std::string("a\0b", 3), std::string("\x7F"),
                                  std::string(201, 'x'), std::string(512 << 20, 'x')}) {
    ExpectError([&] { RequireName(name); }, ErrorCode::kInvalidArgument, "the name of a filter");
  }
}

}  // namespace tamis::redis::layout_test
