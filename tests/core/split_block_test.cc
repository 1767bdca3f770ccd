// The arithmetic of split blocks, and the portable kernels made of it, which are the reference for
// all others. Compared with the specification in tests/core/reference_filter.h.
#include "tamis/layout/split_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/hash_kinds.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::split_block_test {

namespace sb = split_block;

constexpr uint64_t kBlockCounts[] = {1,      2,          3,          7,          1000,
                                     65'536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, sb::kMaxBlocks32};
// Numbers of blocks for which all bits of the hash choose the block.
constexpr uint64_t kManyBlocks[] = {sb::kMaxBlocks32 + 1, sb::kMaxBlocks32 + 2, 0x234567891,
                                    sb::kMaxBlocks - 1, sb::kMaxBlocks};
constexpr uint64_t kExtremeHashes[] = {
    0, 1, 0xFFFFFFFF, 0x100000000, 0xFFFFFFFF00000000, uint64_t{1} << 63, ~uint64_t{0}};

TEST(SplitBlockTest, ConstantsFollowTheFormat) {
  constexpr uint32_t kSalts[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
  static_assert(sb::kWords == 8 && sb::kBlockBytes == 32 && sb::kBlockBits == 256);
  static_assert(sb::kMaxBlocks32 == 4'294'967'295 && sb::kMaxBlocks == 1'099'511'627'776);
  for (int w = 0; w < sb::kWords; ++w) {
    EXPECT_EQ(sb::Salt(w), kSalts[w]);
    EXPECT_EQ(sb::Salt(w) % 2, 1u) << "word " << w;  // odd, so that no bit of the hash is lost
  }
}

TEST(SplitBlockTest, IndexIsInRangeAndReachesBothEnds) {
  for (const uint64_t blocks : kBlockCounts) {
    EXPECT_EQ(sb::BlockIndex(0, blocks), 0u);
    EXPECT_EQ(sb::BlockIndex(~uint64_t{0}, blocks), blocks - 1);
    for (const uint64_t hash : kExtremeHashes) EXPECT_LT(sb::BlockIndex(hash, blocks), blocks);
    for (const uint64_t hash : RandomKeys(1000, /*seed=*/blocks)) {
      ASSERT_LT(sb::BlockIndex(hash, blocks), blocks);
      // The index is the top of this 64-bit product, which does not wrap around.
      const auto product = static_cast<unsigned __int128>(hash >> 32) * blocks;
      ASSERT_EQ(sb::BlockIndex(hash, blocks), static_cast<uint64_t>(product >> 32));
    }
  }
}

TEST(SplitBlockTest, IndexOfManyBlocksIsTheTopOfAProductOf128Bits) {
  for (const uint64_t blocks : kManyBlocks) {
    EXPECT_EQ(sb::BlockIndex(0, blocks), 0u);
    EXPECT_EQ(sb::BlockIndex(~uint64_t{0}, blocks), blocks - 1);
    // The first hash of each block: 2^64 / blocks times its index, rounded up.
    for (const uint64_t block : {uint64_t{1}, blocks / 3, blocks - 1}) {
      const auto first =
          static_cast<uint64_t>(((static_cast<unsigned __int128>(block) << 64) - 1) / blocks) + 1;
      EXPECT_EQ(sb::BlockIndex(first, blocks), block);
      EXPECT_EQ(sb::BlockIndex(first - 1, blocks), block - 1);
    }
    std::vector<uint64_t> hashes = RandomKeys(1000, /*seed=*/blocks);
    hashes.insert(hashes.end(), std::begin(kExtremeHashes), std::end(kExtremeHashes));
    for (const uint64_t hash : hashes) {
      const auto product = static_cast<unsigned __int128>(hash) * blocks;
      ASSERT_EQ(sb::BlockIndex(hash, blocks), static_cast<uint64_t>(product >> 64));
    }
  }
}

TEST(SplitBlockTest, IndexAscendsWithTheHighHalfAndIgnoresTheLow) {
  for (const uint64_t blocks : kBlockCounts) {
    std::vector<uint64_t> hashes = RandomKeys(1000, /*seed=*/blocks);
    std::sort(hashes.begin(), hashes.end());
    for (size_t i = 1; i < hashes.size(); ++i) {
      ASSERT_LE(sb::BlockIndex(hashes[i - 1], blocks), sb::BlockIndex(hashes[i], blocks));
      ASSERT_EQ(sb::BlockIndex(hashes[i], blocks), sb::BlockIndex(hashes[i] ^ 0xFFFFFFFF, blocks));
    }
  }
}

TEST(SplitBlockTest, EveryBlockGetsItsShare) {
  constexpr uint64_t kBlocks = 97;  // not a power of two
  std::vector<int> count(kBlocks);
  for (const uint64_t hash : RandomKeys(kBlocks * 1000, /*seed=*/1)) {
    ++count[sb::BlockIndex(hash, kBlocks)];
  }
  for (const int c : count) EXPECT_NEAR(c, 1000, 6 * 32);  // six standard deviations
}

TEST(SplitBlockTest, EachWordHasOneBitWhichOnlyTheLowHalfChooses) {
  std::vector<uint64_t> hashes = RandomKeys(1000, /*seed=*/2);
  hashes.insert(hashes.end(), std::begin(kExtremeHashes), std::end(kExtremeHashes));
  for (int w = 0; w < sb::kWords; ++w) {
    std::set<uint32_t> seen;
    for (const uint64_t hash : hashes) {
      const uint32_t bit = sb::WordBit(hash, w);
      ASSERT_EQ(std::popcount(bit), 1);
      ASSERT_EQ(sb::WordBit(hash ^ 0xFFFFFFFF00000000, w), bit);
      seen.insert(bit);
    }
    EXPECT_EQ(seen.size(), 32u) << "word " << w;
  }
  for (int w = 0; w < sb::kWords; ++w) {
    EXPECT_EQ(sb::WordBit(0, w), 1u);
    EXPECT_EQ(sb::WordBit(1, w), uint32_t{1} << (sb::Salt(w) >> 27));
  }
}

TEST(SplitBlockTest, BlocksFollowTheSpecification) {
  Random random(/*seed=*/3);
  for (int round = 0; round < 100; ++round) {
    ReferenceFilter want(1);
    uint32_t block[sb::kWords] = {};
    for (uint64_t keys = random.Below(60); keys > 0; --keys) {
      const uint64_t hash = random();
      want.Insert(hash);
      sb::BlockInsert(block, hash);
      ASSERT_TRUE(sb::BlockContains(block, hash));
    }
    for (int i = 0; i < 200; ++i) {
      const uint64_t hash = random();
      ASSERT_EQ(sb::BlockContains(block, hash), want.Contains(hash));
    }
    const std::vector<std::byte> bytes = want.Bytes();
    ASSERT_EQ(std::memcmp(block, bytes.data(), sizeof(block)), 0);
  }
}

TEST(SplitBlockTest, PortableKernelsFollowTheSpecification) {
  const detail::SplitBlockKernels& kernels = FindBackend("portable").kernels->split_block;
  for (const uint64_t num_blocks : {1, 2, 3, 1000}) {
    for (const size_t n : TestSizes()) {
      const std::vector<uint64_t> keys = RandomKeys(n, /*seed=*/n);
      for (const HashKind kind : kHashKinds) {
        const HashSpec spec = HashOf(kind, num_blocks);
        const size_t half = n / 2;
        ReferenceFilter want(num_blocks);
        for (size_t i = 0; i < half; ++i) want.Insert(ReferenceHash(keys[i], spec));
        GuardedArray<uint32_t> words(8 * num_blocks);
        kernels.insert(words.data(), num_blocks, detail::KeyBatch(spec, keys.data(), half));
        const std::vector<std::byte> bytes = want.Bytes();
        ASSERT_EQ(std::memcmp(words.data(), bytes.data(), bytes.size()), 0);
        ASSERT_TRUE(words.Intact());

        const auto bits = GuardedArray<uint64_t>::Output(BitmapWords(n), 4);
        kernels.contains(words.data(), num_blocks, detail::KeyBatch(spec, keys.data(), n),
                         bits.data());
        ASSERT_TRUE(bits.Intact()) << "n = " << n;
        for (size_t i = 0; i < 64 * bits.size(); ++i) {
          const bool got = (bits.data()[i / 64] >> (i % 64)) & 1;
          ASSERT_EQ(got, i < n && want.Contains(ReferenceHash(keys[i], spec)))
              << num_blocks << " blocks, key " << i << " of " << n;
        }
      }
    }
  }
}

}  // namespace tamis::split_block_test
