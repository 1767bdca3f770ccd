#include "redis/src/client/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/test_util.h"

namespace tamis::redis::batch_test {

TEST(RedisBatchTest, EveryKeyIsInItsSegmentOnce) {
  const std::vector<uint64_t> keys = RandomKeys(10'000, 1);
  const HashSpec hash = {HashKind::kXxh64, 5};
  const Layout layout = LayoutFor(1'000'000);
  const Batch batch(keys, hash, layout);
  EXPECT_EQ(batch.size(), keys.size());
  std::vector<int> seen(keys.size(), 0);
  uint64_t last = 0;
  for (size_t i = 0; i < batch.segments().size(); ++i) {
    const uint64_t segment = batch.segments()[i];
    if (i > 0) {
      EXPECT_GT(segment, last);
    }
    last = segment;
    ASSERT_EQ(batch.Hashes(i).size(), batch.Indices(i).size());
    ASSERT_GT(batch.Hashes(i).size(), 0u);
    for (size_t k = 0; k < batch.Hashes(i).size(); ++k) {
      const uint64_t h = batch.Hashes(i)[k];
      ++seen[batch.Indices(i)[k]];
      ASSERT_EQ(h, HashU64(keys[batch.Indices(i)[k]], hash));
      ASSERT_EQ(layout.SegmentOf(split_block::BlockIndex(h, layout.blocks)), segment);
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 10'000);
}

TEST(RedisBatchTest, NullsAreLeftOutAndIndicesStay) {
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e"};
  const uint8_t valid[] = {0b10110};
  const Batch batch(Keys(keys).WithValidity(valid), {}, LayoutFor(10));
  ASSERT_EQ(batch.segments().size(), 1u);
  const auto indices = batch.Indices(0);
  EXPECT_EQ(std::vector<uint32_t>(indices.begin(), indices.end()),
            (std::vector<uint32_t>{1, 2, 4}));
  EXPECT_EQ(batch.Hashes(0)[1], HashBytes("c"));
}

TEST(RedisBatchTest, NoKeysNoSegments) {
  const Batch batch(std::vector<uint64_t>(), {}, LayoutFor(10));
  EXPECT_TRUE(batch.segments().empty());
  const uint8_t none[] = {0};
  const std::vector<uint64_t> nulls = {1, 2, 3};
  EXPECT_TRUE(Batch(Keys(nulls).WithValidity(none), {}, LayoutFor(10)).segments().empty());
}

TEST(RedisBatchTest, MasksAreTheBitsOfTheBlocks) {
  const Layout layout = LayoutFor(20'000);
  std::vector<uint64_t> hashes;
  Random random(3);
  while (hashes.size() < 500) {
    const uint64_t h = random();
    if (layout.SegmentOf(split_block::BlockIndex(h, layout.blocks)) == 1) hashes.push_back(h);
  }
  hashes.push_back(hashes[0]);
  std::vector<uint32_t> want(8 * layout.BlocksOf(1), 0), got(8 * layout.BlocksOf(1), 0);
  for (const uint64_t h : hashes) {
    const uint64_t block = split_block::BlockIndex(h, layout.blocks) - layout.FirstBlock(1);
    split_block::BlockInsert(&want[8 * block], h);
  }
  const std::vector<BlockMask> masks = MasksOf(hashes, layout, layout.FirstBlock(1));
  for (size_t i = 0; i < masks.size(); ++i) {
    if (i > 0) {
      ASSERT_GT(masks[i].number, masks[i - 1].number);
    }
    std::copy(masks[i].bits, masks[i].bits + 8, &got[8 * masks[i].number]);
  }
  EXPECT_EQ(want, got);
}

TEST(RedisBatchTest, BytesOfMasksAreLittleEndian) {
  BlockMask mask;
  mask.bits[0] = 0x04030201;
  mask.bits[7] = 0x80000000;
  EXPECT_EQ(mask.Bytes(), "\1\2\3\4" + std::string(27, '\0') + "\x80");
}

}  // namespace tamis::redis::batch_test
