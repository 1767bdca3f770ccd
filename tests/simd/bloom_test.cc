// The kernels of classic Bloom filters of every backend give the same answers and the same filter
// memory as the portable kernels.
#include "tamis/layout/bloom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "tamis/backends.h"
#include "tamis/detail/kernels.h"
#include "tamis/keys.h"
#include "tests/os/test_os.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::bloom_test {

class BloomKernelTest : public BackendTest {
 protected:
  const detail::BloomKernels& bloom() const { return kernels().bloom; }
  const detail::BloomKernels& oracle() const { return portable().bloom; }
};

constexpr uint32_t kHashCounts[] = {1, 2, 3, 7, 8, 13, 64};

// Sets a share of bits with which about half of all probes are hits, except with few hashes.
std::vector<uint64_t> RandomWords(uint64_t num_words, uint32_t num_hashes) {
  std::vector<uint64_t> words(num_words);
  Random random(num_words);
  for (uint64_t& word : words) {
    word = random();
    for (uint32_t i = 2; i < 2 * num_hashes; i *= 2) word |= random();
  }
  return words;
}

std::vector<size_t> Sizes() {
  std::vector<size_t> sizes = TestSizes();
  for (const size_t n : {511, 519, 520, 1023, 1024, 1025, 1031, 2500}) sizes.push_back(n);
  return sizes;
}

TEST_P(BloomKernelTest, ContainsEqualsPortable) {
  for (const uint64_t num_words : {1, 2, 3, 1000, 300'000}) {
    const uint64_t num_bits = 64 * num_words;
    for (const uint32_t num_hashes : kHashCounts) {
      const GuardedArray<uint64_t> words(RandomWords(num_words, num_hashes), num_words % 2);
      size_t hits = 0, misses = 0;
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : Sizes()) {
          const GuardedArray<uint64_t> values(RandomValues(n, /*seed=*/n), n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          std::vector<uint64_t> want(BitmapWords(n));
          oracle().contains(words.data(), num_bits, num_hashes, batch, want.data());
          const auto got = GuardedArray<uint64_t>::Output(BitmapWords(n), n % 2);
          bloom().contains(words.data(), num_bits, num_hashes, batch, got.data());
          ASSERT_EQ(got.vector(), want)
              << num_words << " words, " << num_hashes << " hashes, " << spec << ", n = " << n;
          ASSERT_TRUE(got.Intact());
          const uint64_t ones = portable().popcount(want.data(), want.size());
          hits += ones;
          misses += n - ones;
        }
      }
      EXPECT_TRUE(words.Intact());
      EXPECT_GT(hits, 1000u) << num_words << " words, " << num_hashes << " hashes";
      if (num_words > 3) {
        EXPECT_GT(misses, 1000u) << num_words << " words, " << num_hashes;
      }
    }
  }
}

// A filter that is larger than 16 MiB, whose positions vector kernels prefetch.
constexpr int kPrefetchedWords = 2'100'000;

TEST_P(BloomKernelTest, InsertEqualsPortable) {
  for (const uint64_t num_words : {1, 2, 3, 1000, 300'000, kPrefetchedWords}) {
    const uint64_t num_bits = 64 * num_words;
    for (const uint32_t num_hashes : kHashCounts) {
      GuardedArray<uint64_t> want(num_words, num_words % 2), got(num_words, num_words % 2);
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : Sizes()) {
          const GuardedArray<uint64_t> values(RandomValues(n, spec.seed + n), n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          oracle().insert(want.data(), num_bits, num_hashes, batch);
          bloom().insert(got.data(), num_bits, num_hashes, batch);
          if (num_words <= 1000) {
            ASSERT_EQ(got.vector(), want.vector())
                << num_words << " words, " << num_hashes << " hashes, " << spec << ", n = " << n;
          }
        }
      }
      ASSERT_EQ(got.vector(), want.vector()) << num_words << " words, " << num_hashes << " hashes";
      EXPECT_TRUE(got.Intact());
    }
  }
}

constexpr uint32_t kGuard = 0xABAB'ABAB;

// The contents of a list in any order, because kernels append positions in different orders.
struct Contents {
  size_t size;
  uint64_t sum;  // of mixed positions

  friend bool operator==(const Contents&, const Contents&) = default;
};

// Returns the contents of the lists that a kernel fills. `memory` is for the lists.
std::vector<Contents> Scattered(const detail::BloomKernels& kernels, uint64_t num_bits,
                                uint32_t num_hashes, const detail::Batch& batch, unsigned shift,
                                std::vector<uint32_t>& memory) {
  const size_t most = batch.n * num_hashes;
  std::vector<uint32_t*> ends(((num_bits - 1) >> shift) + 1);
  memory.resize(std::max(memory.size(), ends.size() * (most + 1)));
  const auto list = [&](size_t i) { return memory.data() + i * (most + 1); };
  // Also removes the positions of an earlier call, so that a kernel must write its own.
  std::memset(memory.data(), 0xAB, ends.size() * (most + 1) * sizeof(uint32_t));
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = list(i);
  kernels.scatter(num_bits, num_hashes, batch, shift, ends.data());
  std::vector<Contents> contents;
  for (size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(list(i)[most], kGuard);
    Contents& of_list = contents.emplace_back(Contents{static_cast<size_t>(ends[i] - list(i)), 0});
    for (const uint32_t* position = list(i); position < ends[i]; ++position)
      of_list.sum += Mix(*position);
  }
  return contents;
}

TEST_P(BloomKernelTest, ScatterEqualsPortable) {
  constexpr uint64_t kPast32Bits = (uint64_t{1} << 33) + 64;
  std::vector<uint32_t> memory;
  for (const uint64_t num_bits : {uint64_t{64}, uint64_t{64'000}, kPast32Bits}) {
    const unsigned shift = static_cast<unsigned>(std::bit_width(num_bits - 1)) - 3;
    for (const uint32_t num_hashes : kHashCounts) {
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : TestSizes()) {
          std::vector<uint64_t> some = RandomValues(n, spec.seed + n);
          // Equal keys with one position each fill a list, and the guard follows their positions.
          if (num_hashes == 1 && n % 2 == 0) std::fill(some.begin(), some.end(), n);
          const GuardedArray<uint64_t> values(some, n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          const auto want = Scattered(oracle(), num_bits, num_hashes, batch, shift, memory);
          ASSERT_TRUE(Scattered(bloom(), num_bits, num_hashes, batch, shift, memory) == want)
              << num_bits << " bits, " << num_hashes << " hashes, " << spec << ", n = " << n;
          size_t positions = 0;
          for (const Contents& list : want) positions += list.size;
          ASSERT_EQ(positions, n * num_hashes);
        }
      }
    }
  }
}

TEST_P(BloomKernelTest, InsertIfAbsentEqualsPortable) {
  for (const uint64_t num_words : {1, 2, 3, 1000, 300'000, kPrefetchedWords}) {
    const uint64_t num_bits = 64 * num_words;
    for (const uint32_t num_hashes : kHashCounts) {
      GuardedArray<uint64_t> want(num_words, num_words % 2), got(num_words, num_words % 2);
      size_t fresh = 0, total = 0;
      for (const BatchSpec& spec : kBatchSpecs) {
        for (const size_t n : Sizes()) {
          std::vector<uint64_t> some = RandomValues(n, spec.seed + n);
          for (size_t i = 0; i < n; ++i) {
            if (i % 5 == 1 || n == 33) some[i] = some[i / 2];
          }
          const GuardedArray<uint64_t> values(some, n % 2);
          const detail::Batch batch = spec.Make(values.data(), n);
          std::vector<uint64_t> want_fresh(BitmapWords(n));
          oracle().insert_if_absent(want.data(), num_bits, num_hashes, batch, want_fresh.data());
          const auto got_fresh = GuardedArray<uint64_t>::Output(BitmapWords(n), n % 2);
          bloom().insert_if_absent(got.data(), num_bits, num_hashes, batch, got_fresh.data());
          ASSERT_EQ(got_fresh.vector(), want_fresh)
              << num_words << " words, " << num_hashes << " hashes, " << spec << ", n = " << n;
          ASSERT_TRUE(got_fresh.Intact());
          fresh += portable().popcount(want_fresh.data(), want_fresh.size());
          total += n;
        }
      }
      ASSERT_EQ(got.vector(), want.vector()) << num_words << " words, " << num_hashes << " hashes";
      EXPECT_TRUE(got.Intact());
      EXPECT_GT(fresh, 0u);
      EXPECT_LT(fresh, total - 1000);
    }
  }
}

// The functions for one key are the same for all backends.
TEST_P(BloomKernelTest, OneKeyEqualsBulk) {
  for (const uint64_t num_words : {1, 3, 1000}) {
    const uint64_t num_bits = 64 * num_words;
    for (const uint32_t num_hashes : kHashCounts) {
      const auto probed = RandomWords(num_words, num_hashes);
      GuardedArray<uint64_t> want(num_words), got(num_words);
      const auto hashes = RandomValues(320, /*seed=*/num_words);
      uint64_t bits[5];
      const detail::Batch batch = detail::HashBatch(hashes.data(), hashes.size());
      bloom().contains(probed.data(), num_bits, num_hashes, batch, bits);
      bloom().insert(want.data(), num_bits, num_hashes, batch);
      for (size_t i = 0; i < hashes.size(); ++i) {
        ASSERT_EQ(bloom::Contains(probed.data(), num_bits, num_hashes, hashes[i]),
                  bits[i / 64] >> (i % 64) & 1);
        bloom::Insert(got.data(), num_bits, num_hashes, hashes[i]);
        ASSERT_TRUE(bloom::Contains(got.data(), num_bits, num_hashes, hashes[i]));
      }
      EXPECT_EQ(got.vector(), want.vector());
    }
  }
}

// A key is missing if any of its bits is missing.
TEST_P(BloomKernelTest, EveryBitCounts) {
  constexpr uint64_t kBits = 64 * 100'003;
  constexpr uint32_t kHashes = 7;
  std::vector<uint64_t> words(kBits / 64);
  for (const uint64_t hash : RandomKeys(50, /*seed=*/3)) {
    bloom::Walk walk = bloom::Start(hash, kBits);
    for (uint32_t i = 1; i <= kHashes; ++i) {
      std::fill(words.begin(), words.end(), ~uint64_t{0});
      words[walk.position / 64] ^= uint64_t{1} << (walk.position % 64);
      const std::vector<uint64_t> hashes(70, hash);
      uint64_t bits[2];
      bloom().contains(words.data(), kBits, kHashes, detail::HashBatch(hashes.data(), 70), bits);
      EXPECT_EQ(bits[0] | bits[1], 0u) << "position " << i;
      walk = bloom::Next(walk, i, kBits);
    }
  }
}

// Maps 16 GiB. Only the written pages take memory.
TEST_P(BloomKernelTest, PositionsPast2To36BitsAreNotCutOff) {
  constexpr uint64_t kBits = (uint64_t{1} << 37) - 64;
  constexpr size_t kBytes = kBits / 8;
  constexpr uint32_t kHashes = 7;
  const test_os::SparseMemory memory(kBytes);
  if (memory.empty()) GTEST_SKIP() << "no 16 GiB of address space";
  void* const map = memory.begin();
  auto* const words = static_cast<uint64_t*>(map);

  const std::vector<uint64_t> hashes = RandomKeys(300, /*seed=*/4);
  bloom().insert(words, kBits, kHashes, detail::HashBatch(hashes.data(), 200));
  for (size_t i = 200; i < 300; ++i) bloom::Insert(words, kBits, kHashes, hashes[i]);
  uint64_t far = 0, set = 0;
  for (const uint64_t hash : hashes) {
    bloom::Walk walk = bloom::Start(hash, kBits);
    for (uint32_t i = 1; i <= kHashes; ++i) {
      far += walk.position >= uint64_t{1} << 36;
      set += bloom::TestBit(words, walk.position);
      walk = bloom::Next(walk, i, kBits);
    }
  }
  EXPECT_EQ(set, 300u * kHashes);
  EXPECT_NEAR(static_cast<double>(far), 150.0 * kHashes, 100);
  std::vector<uint64_t> probes = hashes;
  for (size_t i = 0; i < probes.size(); i += 3) probes[i] ^= 0x20;  // other steps
  std::vector<uint64_t> got(BitmapWords(300)), want(got);
  bloom().contains(words, kBits, kHashes, detail::HashBatch(probes.data(), 300), got.data());
  oracle().contains(words, kBits, kHashes, detail::HashBatch(probes.data(), 300), want.data());
  EXPECT_EQ(got, want);
  EXPECT_EQ(portable().popcount(got.data(), got.size()), 200u);
}

INSTANTIATE_TEST_SUITE_P(Backends, BloomKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::bloom_test
