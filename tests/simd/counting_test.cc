// The kernels of counting filters of every backend give the same answers and the same counters as
// the portable kernels.
#include "tamis/layout/counting.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/os/test_os.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::counting_test {

// Kernels may prefetch differently beyond 64 MiB.
constexpr uint64_t kFarBlocks = 1'100'000;

class CountingKernelTest : public BackendTest {
 protected:
  const detail::CountingKernels& counting() const { return kernels().counting; }
  const detail::CountingKernels& oracle() const { return portable().counting; }
};

// One counter in twelve is 0, so about half of all probes are hits. One in twelve is saturated.
std::vector<uint64_t> RandomCounters(uint64_t num_blocks) {
  std::vector<uint64_t> words(num_blocks * counting::kWords);
  Random random(num_blocks);
  for (uint64_t& word : words) {
    uint64_t number = random();
    for (int i = 0; i < 16; ++i, number /= 12) {
      const uint64_t draw = number % 12;
      word = (word << 4) | (draw == 1 ? 15 : draw);
      if (i == 8) number = random();
    }
  }
  return words;
}

TEST_P(CountingKernelTest, ContainsEqualsPortable) {
  for (const uint64_t num_blocks :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, kFarBlocks}) {
    const GuardedArray<uint64_t> words(RandomCounters(num_blocks));
    size_t hits = 0, misses = 0;
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : TestSizes()) {
        const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), n % 2);
        const detail::Batch batch = spec.Make(values.data(), n);
        std::vector<uint64_t> want(BitmapWords(n));
        oracle().contains(words.data(), num_blocks, batch, want.data());
        const auto got = GuardedArray<uint64_t>::Output(BitmapWords(n), n % 2);
        counting().contains(words.data(), num_blocks, batch, got.data());
        ASSERT_EQ(got.vector(), want) << num_blocks << " blocks, " << spec << ", n = " << n;
        ASSERT_TRUE(got.Intact());
        const uint64_t ones = portable().popcount(want.data(), want.size());
        hits += ones;
        misses += n - ones;
      }
    }
    EXPECT_GT(hits, 1000u) << num_blocks << " blocks";
    EXPECT_GT(misses, 1000u) << num_blocks << " blocks";
  }
}

// Includes steps whose keys all fall into one block or are equal, and counters that saturate.
TEST_P(CountingKernelTest, InsertEqualsPortable) {
  for (const uint64_t num_blocks : {uint64_t{1}, uint64_t{3}, uint64_t{1000}, kFarBlocks}) {
    const std::vector<uint64_t> before = RandomCounters(num_blocks);
    GuardedArray<uint64_t> want(before), got(before);
    for (const BatchSpec& spec : kBatchSpecs) {
      for (const size_t n : TestSizes()) {
        const GuardedArray<uint64_t> values(RandomValues(n, spec.seed + n), n % 2);
        oracle().insert(want.data(), num_blocks, spec.Make(values.data(), n));
        counting().insert(got.data(), num_blocks, spec.Make(values.data(), n));
        if (num_blocks <= 3) {
          ASSERT_EQ(got.vector(), want.vector()) << spec << ", n = " << n;
        }
      }
    }
    ASSERT_EQ(got.vector(), want.vector()) << num_blocks << " blocks";
    EXPECT_TRUE(got.Intact());
  }
}

TEST_P(CountingKernelTest, OneKeyEqualsPortable) {
  for (const uint64_t num_blocks : {1, 2, 3, 1000}) {
    const std::vector<uint64_t> before = RandomCounters(num_blocks);
    GuardedArray<uint64_t> want(before), got(before);
    size_t erased = 0, refused = 0;
    Random random(num_blocks);
    for (const uint64_t hash : RandomValues(3000, /*seed=*/num_blocks)) {
      ASSERT_EQ(counting().contains_one(got.data(), num_blocks, hash),
                oracle().contains_one(want.data(), num_blocks, hash));
      if (random.Below(3) == 0) {
        oracle().insert_one(want.data(), num_blocks, hash);
        counting().insert_one(got.data(), num_blocks, hash);
        ASSERT_TRUE(counting().contains_one(got.data(), num_blocks, hash));
      } else {
        const bool done = oracle().erase_one(want.data(), num_blocks, hash);
        ASSERT_EQ(counting().erase_one(got.data(), num_blocks, hash), done);
        erased += done;
        refused += !done;
      }
      if (num_blocks <= 3) {
        ASSERT_EQ(got.vector(), want.vector()) << num_blocks << " blocks, hash " << hash;
      }
    }
    EXPECT_EQ(got.vector(), want.vector()) << num_blocks << " blocks";
    EXPECT_GT(erased, 20u);
    EXPECT_GT(refused, 20u);
  }
}

// A key is missing if any of its counters is 0, in any word.
TEST_P(CountingKernelTest, EveryWordCounts) {
  constexpr uint64_t kBlocks = 5;
  for (const uint64_t hash : RandomKeys(50, /*seed=*/3)) {
    for (int w = 0; w < counting::kWords; ++w) {
      alignas(64) std::array<uint64_t, kBlocks * counting::kWords> words;
      words.fill(~uint64_t{0});
      const uint64_t at = counting::kWords * counting::BlockIndex(hash, kBlocks) + w;
      words[at] ^= counting::kMaxCount << counting::CounterShift(hash, w);
      const auto before = words;
      EXPECT_FALSE(counting().contains_one(words.data(), kBlocks, hash)) << "word " << w;
      EXPECT_FALSE(counting().erase_one(words.data(), kBlocks, hash)) << "word " << w;
      EXPECT_EQ(words, before);
      const std::vector<uint64_t> hashes(128, hash);
      uint64_t bits[2];
      counting().contains(words.data(), kBlocks, detail::HashBatch(hashes.data(), 128), bits);
      EXPECT_EQ(bits[0] | bits[1], 0u) << "word " << w;
    }
  }
}

// The largest possible filter, 256 GiB. Only the written pages take memory.
TEST_P(CountingKernelTest, OffsetsBeyond4GiBAreNotCutOff) {
  constexpr uint64_t kBlocks = counting::kMaxBlocks;
  constexpr size_t kBytes = kBlocks * counting::kBlockBytes;
  const test_os::SparseMemory memory(kBytes);
  if (memory.empty()) GTEST_SKIP() << "no 256 GiB of address space";
  void* const map = memory.begin();
  auto* const words = static_cast<uint64_t*>(map);
  const std::vector<uint64_t> hashes = RandomKeys(300, /*seed=*/4);
  counting().insert(words, kBlocks, detail::HashBatch(hashes.data(), 200));
  for (size_t i = 200; i < 300; ++i) counting().insert_one(words, kBlocks, hashes[i]);
  uint64_t last = 0;
  for (const uint64_t hash : hashes) {
    const uint64_t block = counting::BlockIndex(hash, kBlocks);
    last = std::max(last, block);
    EXPECT_TRUE(counting::BlockContains(words + counting::kWords * block, hash));
  }
  EXPECT_GT(last, kBlocks / 2);
  std::vector<uint64_t> got(BitmapWords(300)), want(got);
  counting().contains(words, kBlocks, detail::HashBatch(hashes.data(), 300), got.data());
  oracle().contains(words, kBlocks, detail::HashBatch(hashes.data(), 300), want.data());
  EXPECT_EQ(got, want);
  EXPECT_EQ(portable().popcount(got.data(), got.size()), 300u);
  for (const uint64_t hash : hashes) EXPECT_TRUE(counting().erase_one(words, kBlocks, hash));
  for (const uint64_t hash : hashes) EXPECT_FALSE(counting().contains_one(words, kBlocks, hash));
}

INSTANTIATE_TEST_SUITE_P(Backends, CountingKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::counting_test
