// The split-block kernels of every backend give the same answers and the same filter memory as the
// portable kernels.
#include "tamis/layout/split_block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/os/test_os.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::split_block_test {

namespace sb = split_block;

// Kernels may prefetch differently beyond 64 MiB.
constexpr uint64_t kFarBlocks = 2'500'000;

class SplitBlockKernelTest : public BackendTest {
 protected:
  const detail::SplitBlockKernels& split_block() const { return kernels().split_block; }
  const detail::SplitBlockKernels& oracle() const { return portable().split_block; }
};

// Blocks at a multiple of 64 bytes, as in Storage, with all bits zero.
class Blocks : public GuardedArray<uint32_t> {
 public:
  explicit Blocks(uint64_t num_blocks)
      : GuardedArray(num_blocks * sb::kWords, num_blocks % 2 * sb::kWords) {}

  // Sets seven of eight bits. A third of all probes are then hits, and most misses lack only one
  // bit.
  void Randomize(uint64_t seed) {
    Random random(seed);
    for (uint32_t& word : span()) word = static_cast<uint32_t>(random() | random() | random());
  }

  bool operator==(const Blocks& other) const {
    return size() == other.size() && std::memcmp(data(), other.data(), 4 * size()) == 0;
  }
};

TEST_P(SplitBlockKernelTest, ContainsEqualsPortable) {
  for (const uint64_t num_blocks :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, kFarBlocks}) {
    Blocks blocks(num_blocks);
    blocks.Randomize(/*seed=*/num_blocks);
    size_t hits = 0, misses = 0;
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : TestSizes()) {
        const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), n % 2);
        const detail::Batch batch = spec.Make(values.data(), n);
        const size_t num_words = BitmapWords(n);
        std::vector<uint64_t> want(num_words);
        oracle().contains(blocks.data(), num_blocks, batch, want.data());
        for (const size_t slack : {8, 9}) {
          const auto got = GuardedArray<uint64_t>::Output(num_words, slack);
          split_block().contains(blocks.data(), num_blocks, batch, got.data());
          ASSERT_EQ(got.vector(), want) << num_blocks << " blocks, " << spec << ", n = " << n;
          ASSERT_TRUE(got.Intact()) << num_blocks << " blocks, " << spec << ", n = " << n;
        }
        if (n % 64 != 0) {
          ASSERT_EQ(want.back() >> (n % 64), 0u) << "n = " << n;
        }
        const uint64_t ones = portable().popcount(want.data(), num_words);
        hits += ones;
        misses += n - ones;
      }
    }
    EXPECT_GT(hits, 1000u) << num_blocks << " blocks";
    EXPECT_GT(misses, 1000u) << num_blocks << " blocks";
    EXPECT_TRUE(blocks.Intact());
  }
}

// Includes steps whose keys all fall into one block or are equal.
TEST_P(SplitBlockKernelTest, InsertEqualsPortable) {
  for (const uint64_t num_blocks : {1, 2, 3, 1000}) {
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : TestSizes()) {
        const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), n % 2);
        Blocks want(num_blocks), got(num_blocks);
        oracle().insert(want.data(), num_blocks, spec.Make(values.data(), n));
        split_block().insert(got.data(), num_blocks, spec.Make(values.data(), n));
        ASSERT_TRUE(got == want) << num_blocks << " blocks, " << spec << ", n = " << n;
        ASSERT_TRUE(got.Intact()) << num_blocks << " blocks, " << spec << ", n = " << n;
      }
    }
  }
}

TEST_P(SplitBlockKernelTest, InsertEqualsPortableInALargeFilter) {
  Blocks want(kFarBlocks), got(kFarBlocks);
  for (const BatchSpec& spec : kBatchSpecs) {
    for (const size_t n : TestSizes()) {
      const GuardedArray<uint64_t> values(RandomValues(n, spec.seed + n), n % 2);
      oracle().insert(want.data(), kFarBlocks, spec.Make(values.data(), n));
      split_block().insert(got.data(), kFarBlocks, spec.Make(values.data(), n));
    }
    ASSERT_TRUE(got == want) << spec;
  }
  EXPECT_TRUE(got.Intact());
}

TEST_P(SplitBlockKernelTest, InsertKeepsTheBitsThatAreThere) {
  constexpr uint64_t kBlocks = 50;
  Blocks want(kBlocks), got(kBlocks);
  want.Randomize(/*seed=*/1);
  got.Randomize(/*seed=*/1);
  const std::vector<uint64_t> values = RandomValues(100, /*seed=*/2);
  oracle().insert(want.data(), kBlocks, detail::HashBatch(values.data(), values.size()));
  split_block().insert(got.data(), kBlocks, detail::HashBatch(values.data(), values.size()));
  EXPECT_TRUE(got == want);
}

// Includes equal keys in a step or a whole batch, and keys that were inserted before.
TEST_P(SplitBlockKernelTest, InsertIfAbsentEqualsPortable) {
  for (const uint64_t num_blocks :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, kFarBlocks}) {
    Blocks want(num_blocks), got(num_blocks);
    size_t fresh = 0, total = 0;
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : TestSizes()) {
        std::vector<uint64_t> some = RandomValues(n, spec.seed + n);
        for (size_t i = 0; i < n; ++i) {
          if (i % 5 == 1 || n == 33) some[i] = some[i / 2];
        }
        const GuardedArray<uint64_t> values(some, n % 2);
        const detail::Batch batch = spec.Make(values.data(), n);
        std::vector<uint64_t> want_fresh(BitmapWords(n));
        oracle().insert_if_absent(want.data(), num_blocks, batch, want_fresh.data());
        const auto got_fresh = GuardedArray<uint64_t>::Output(BitmapWords(n), 8 + n % 2);
        split_block().insert_if_absent(got.data(), num_blocks, batch, got_fresh.data());
        ASSERT_EQ(got_fresh.vector(), want_fresh) << num_blocks << " blocks, " << spec << ", " << n;
        ASSERT_TRUE(got_fresh.Intact()) << num_blocks << " blocks, " << spec << ", n = " << n;
        if (num_blocks <= 1000) {
          ASSERT_TRUE(got == want) << num_blocks << " blocks, " << spec << ", n = " << n;
        }
        if (n % 64 != 0) {
          ASSERT_EQ(want_fresh.back() >> (n % 64), 0u) << "n = " << n;
        }
        fresh += portable().popcount(want_fresh.data(), want_fresh.size());
        total += n;
      }
    }
    EXPECT_TRUE(got == want) << num_blocks << " blocks";
    EXPECT_TRUE(got.Intact()) << num_blocks << " blocks";
    EXPECT_GT(fresh, 5u) << num_blocks << " blocks";
    EXPECT_LT(fresh, total - 1000) << num_blocks << " blocks";
  }
}

TEST_P(SplitBlockKernelTest, OneKeyEqualsPortable) {
  for (const uint64_t num_blocks :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, kFarBlocks}) {
    Blocks want(num_blocks), got(num_blocks), probed(num_blocks);
    probed.Randomize(/*seed=*/num_blocks);
    size_t hits = 0;
    for (const uint64_t hash : RandomValues(1000, /*seed=*/num_blocks)) {
      const bool found = split_block().contains_one(probed.data(), num_blocks, hash);
      ASSERT_EQ(found, oracle().contains_one(probed.data(), num_blocks, hash)) << hash;
      hits += found;
      oracle().insert_one(want.data(), num_blocks, hash);
      split_block().insert_one(got.data(), num_blocks, hash);
      ASSERT_TRUE(split_block().contains_one(got.data(), num_blocks, hash)) << hash;
    }
    EXPECT_TRUE(got == want) << num_blocks << " blocks";
    EXPECT_TRUE(got.Intact()) << num_blocks << " blocks";
    EXPECT_GT(hits, 100u) << num_blocks << " blocks";
    EXPECT_LT(hits, 900u) << num_blocks << " blocks";
  }
}

// A key is missing if any of its eight bits is missing, in any word.
TEST_P(SplitBlockKernelTest, EveryWordCounts) {
  constexpr uint64_t kBlocks = 5;
  for (const uint64_t hash : RandomKeys(50, /*seed=*/3)) {
    for (int w = 0; w < sb::kWords; ++w) {
      Blocks blocks(kBlocks);
      oracle().insert_one(blocks.data(), kBlocks, hash);
      blocks.data()[sb::kWords * sb::BlockIndex(hash, kBlocks) + w] = ~sb::WordBit(hash, w);
      EXPECT_FALSE(split_block().contains_one(blocks.data(), kBlocks, hash)) << "word " << w;
      const std::vector<uint64_t> hashes(128, hash);
      uint64_t bits[2];
      split_block().contains(blocks.data(), kBlocks, detail::HashBatch(hashes.data(), 128), bits);
      EXPECT_EQ(bits[0] | bits[1], 0u) << "word " << w;
    }
  }
}

// The largest possible filters of each way to choose blocks: 128 GiB and 32 TiB, and two others.
// Only the written pages take memory. The expected blocks come from products of 128 bits.
TEST_P(SplitBlockKernelTest, OffsetsBeyond4GiBAndManyBlocks) {
  for (const uint64_t num_blocks :
       {sb::kMaxBlocks32, sb::kMaxBlocks32 + 1, uint64_t{0x234567891}, sb::kMaxBlocks}) {
    const test_os::SparseMemory memory(num_blocks * sb::kBlockBytes);
    if (memory.empty()) GTEST_SKIP() << "no address space for " << num_blocks << " blocks";
    auto* const words = static_cast<uint32_t*>(memory.begin());

    const std::vector<uint64_t> hashes = RandomValues(500, /*seed=*/4);
    const auto inserted = [&](size_t from, size_t n) {
      return detail::HashBatch(hashes.data() + from, n);
    };
    split_block().insert(words, num_blocks, inserted(0, 200));
    for (size_t i = 200; i < 300; ++i) split_block().insert_one(words, num_blocks, hashes[i]);
    uint64_t fresh[BitmapWords(200)];
    split_block().insert_if_absent(words, num_blocks, inserted(300, 200), fresh);

    std::map<uint64_t, std::vector<uint32_t>> want;  // by block
    for (size_t i = 0; i < hashes.size(); ++i) {
      const uint64_t hash = hashes[i];
      const uint64_t chooses = num_blocks <= sb::kMaxBlocks32 ? hash >> 32 << 32 : hash;
      const auto product = static_cast<unsigned __int128>(chooses) * num_blocks;
      std::vector<uint32_t>& block = want[static_cast<uint64_t>(product >> 64)];
      block.resize(sb::kWords);
      if (i >= 300) {
        EXPECT_NE((fresh[(i - 300) / 64] >> ((i - 300) % 64) & 1) != 0,
                  sb::BlockContains(block.data(), hash));
      }
      sb::BlockInsert(block.data(), hash);
    }
    EXPECT_GT(want.rbegin()->first, num_blocks - 2);
    for (const auto& [index, block] : want) {
      const uint32_t* const got = words + sb::kWords * index;
      EXPECT_EQ(std::vector<uint32_t>(got, got + sb::kWords), block) << "block " << index;
    }
    std::vector<uint64_t> bits(BitmapWords(500)), want_bits(bits.size());
    std::vector<uint64_t> probes = hashes;
    for (size_t i = 0; i < probes.size(); i += 3) probes[i] ^= 0x20;  // another bit of the block
    const detail::Batch batch = detail::HashBatch(probes.data(), 500);
    split_block().contains(words, num_blocks, batch, bits.data());
    oracle().contains(words, num_blocks, batch, want_bits.data());
    EXPECT_EQ(bits, want_bits);
    EXPECT_LT(portable().popcount(bits.data(), bits.size()), 500u);
    for (const BatchSpec& spec : kBatchSpecs) {
      const detail::Batch keys = spec.Make(hashes.data(), 500);
      split_block().insert(words, num_blocks, keys);
      oracle().contains(words, num_blocks, keys, bits.data());
      EXPECT_EQ(portable().popcount(bits.data(), bits.size()), 500u);
    }
    split_block().contains(words, num_blocks, batch, bits.data());
    for (size_t i = 0; i < probes.size(); ++i) {
      ASSERT_EQ(split_block().contains_one(words, num_blocks, probes[i]),
                (bits[i / 64] >> (i % 64) & 1) != 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, SplitBlockKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::split_block_test
