// The arithmetic of counters, one by one, and the sizes of counting filters.
#include "tamis/layout/counting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::counting_test {

uint64_t CounterOf(uint64_t word, int i) { return (word >> (4 * i)) & 15; }

// In these words, every count is equally likely.
TEST(CountingWordTest, OperationsOnWordsEqualThoseOnCounters) {
  Random random(/*seed=*/1);
  for (int round = 0; round < 10'000; ++round) {
    const uint64_t a = random(), b = random();
    const uint64_t sum = counting::ClampedSum(a, b);
    const uint32_t frozen = counting::FrozenWord(a & b);
    for (int i = 0; i < 16; ++i) {
      ASSERT_EQ(CounterOf(sum, i), std::min<uint64_t>(15, CounterOf(a, i) + CounterOf(b, i)));
      ASSERT_EQ(CounterOf(counting::NonZero(a & b), i), CounterOf(a & b, i) != 0);
      ASSERT_EQ(CounterOf(counting::Saturated(a | b), i), CounterOf(a | b, i) == 15);
      ASSERT_EQ((frozen >> (2 * i)) & 3, CounterOf(a & b, i) != 0 ? 3u : 0u);
    }
  }
}

// Freeze depends on this.
TEST(CountingShiftTest, CounterJCoversBits2JAnd2JPlus1) {
  for (const uint64_t hash : RandomKeys(1000, /*seed=*/2)) {
    for (int w = 0; w < counting::kWords; ++w) {
      const uint64_t counters = uint64_t{1} << counting::CounterShift(hash, w);
      EXPECT_NE(counting::FrozenWord(counters) & split_block::WordBit(hash, w), 0u);
    }
  }
}

// Returns the sum over i of Poisson(i; load) times the probability of passing a block of i keys,
// term by term from 0 until the rest is negligible. This is the rate of many blocks. An absent key
// passes if each word has its bit by chance, p = (1 - (15/16)^i)^8, or if a key selects the same
// counters, about i / 2^32.
long double DirectFpr(long double load) {
  long double sum = 0;
  for (long double i = 1; i <= load + 30 * std::sqrt(load) + 200; ++i) {
    const long double weight = std::exp(i * std::log(load) - load - std::lgamma(i + 1));
    const long double chance = std::pow(1 - std::pow(15 / 16.0L, i), 8.0L);
    sum += weight * (chance + (1 - chance) * i * 0x1p-32L);
  }
  return sum;
}

TEST(CountingSizingTest, TheRateIsTheSumOverAllLoads) {
  for (double load = 0.01; load <= 200; load *= 1.07) {
    const auto want = static_cast<double>(DirectFpr(load));
    EXPECT_NEAR(CountingFpr(load * 4e9, 4'000'000'000) / want, 1, 1e-7) << "load " << load;
  }
}

TEST(CountingSizingTest, BlocksAreTheFewestAndCapacityTheInverse) {
  Random random(/*seed=*/3);
  for (int i = 0; i < 300; ++i) {
    const auto keys = static_cast<uint64_t>(std::pow(10, 9 * random.Unit()));
    const double fpr = std::pow(10, -4 * random.Unit() - 0.31);
    const uint64_t blocks = CountingBlocks(keys, fpr);
    EXPECT_LE(CountingFpr(static_cast<double>(keys), blocks), fpr);
    EXPECT_TRUE(blocks == 1 || CountingFpr(static_cast<double>(keys), blocks - 1) > fpr);
    const uint64_t most = CountingCapacity(blocks, fpr);
    EXPECT_GE(most, keys);
    EXPECT_GT(CountingFpr(static_cast<double>(most + 1), blocks), fpr);
  }
  EXPECT_NEAR(512e-8 * static_cast<double>(CountingBlocks(100'000'000, 0.01)), 45.7, 0.1);
  EXPECT_NEAR(512e-8 * static_cast<double>(CountingBlocks(100'000'000, 0.001)), 77.6, 0.1);
  ExpectError([] { CountingBlocks(~uint64_t{0}, 0.01); }, ErrorCode::kInvalidArgument,
              "a counting filter cannot hold 18446744073709551615 keys");
  ExpectError([] { CountingBlocks(~uint64_t{0}, 0.01); }, ErrorCode::kInvalidArgument, "(256 GiB)");
  ExpectError([] { CountingCapacity(0, 0.01); }, ErrorCode::kInvalidArgument, "0 blocks");
}

}  // namespace tamis::counting_test
