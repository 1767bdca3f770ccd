// Rates and sizes, compared with a direct sum in higher precision and with published figures.
#include "tamis/filters/sizing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/layout/split_block.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::sizing_test {

constexpr uint64_t kMaxBlocks = split_block::kMaxBlocks;

// Returns the sum over i of Binomial(i; keys, 1 / blocks) times the probability of passing a block
// of i keys, term by term from 0 until the rest is negligible.
long double DirectFpr(long double keys, long double blocks) {
  const long double load = keys / blocks;
  const long double last = std::min(keys, load + 30 * std::sqrt(load) + 200);
  long double sum = 0;
  for (long double i = 1; i <= last; ++i) {
    const long double weight =
        blocks == 1
            ? (i == keys ? 1 : 0)
            : std::exp(std::lgamma(keys + 1) - std::lgamma(i + 1) - std::lgamma(keys - i + 1) -
                       i * std::log(blocks) + (keys - i) * std::log1p(-1 / blocks));
    const long double chance = std::pow(1 - std::pow(31 / 32.0L, i), 8.0L);
    sum += weight * (chance + (1 - chance) * std::min(1.0L, i * 0x1p-32L));
  }
  return sum;
}

// Returns a number between 10^low and 10^high; every order of magnitude is equally likely.
double LogUniform(Random& random, double low, double high) {
  return std::pow(10, low + (high - low) * random.Unit());
}

TEST(SplitBlockFprTest, IsTheSumOverAllLoads) {
  for (const uint64_t blocks : {1, 2, 3, 10, 1000}) {
    for (double load = 1; load <= 200; load *= 1.07) {
      const double keys = std::round(load * static_cast<double>(blocks));
      const auto want = static_cast<double>(DirectFpr(keys, static_cast<long double>(blocks)));
      EXPECT_NEAR(SplitBlockFpr(keys, blocks) / want, 1, 1e-9) << keys << " in " << blocks;
      const double next = SplitBlockFpr(keys + 1, blocks);
      EXPECT_NEAR(SplitBlockFpr(keys + 0.25, blocks) / (0.75 * want + 0.25 * next), 1, 1e-9);
    }
  }
}

// In small filters, the keys of a block are not Poisson-distributed.
TEST(SplitBlockFprTest, IsTheRateOfSmallFilters) {
  constexpr uint64_t kFilters = 2000;
  constexpr uint64_t kAbsent = 10'000;
  for (const uint64_t n : {4, 16, 64, 256}) {
    uint64_t hits = 0;
    Random random(n);
    std::vector<uint64_t> keys(n), absent(kAbsent);
    uint64_t blocks = 0;
    for (uint64_t i = 0; i < kFilters; ++i) {
      SplitBlockBloomFilter filter({.capacity = n, .fpr = 1e-3, .hash = {.seed = i}});
      for (uint64_t& key : keys) key = random() | 1;
      for (uint64_t& key : absent) key = random() & ~uint64_t{1};
      filter.Insert(keys);
      hits += filter.Count(absent);
      blocks = filter.num_blocks();
    }
    const double stated = SplitBlockFpr(static_cast<double>(n), blocks);
    const double measured = static_cast<double>(hits) / (kFilters * kAbsent);
    const double sigma = std::sqrt(static_cast<double>(hits)) / (kFilters * kAbsent);
    EXPECT_LE(stated, 1e-3) << n;
    EXPECT_NEAR(measured, stated, 0.1 * stated + 3 * sigma) << n << " keys";
  }
}

// Tries all 2^32 values of the half of a hash that selects bits, and counts those that pass a block
// of one key.
TEST(SplitBlockFprTest, AKeyPassesThatSelectsTheSameBitsAndHardlyAnyOther) {
  constexpr int kKeys = 4;
  Random random(/*seed=*/4);
  uint64_t passing = 0;
  for (int i = 0; i < kKeys; ++i) {
    uint32_t block[8] = {};
    const uint64_t key = random();
    split_block::BlockInsert(block, key);
    // Multiplication by an odd number is invertible, so the values with the first bit are known.
    uint32_t inverse = 1;
    for (int step = 0; step < 5; ++step) inverse *= 2 - split_block::Salt(0) * inverse;
    const uint32_t first = static_cast<uint32_t>(key) * split_block::Salt(0) >> 27 << 27;
    const uint32_t second = static_cast<uint32_t>(key) * split_block::Salt(1) >> 27;
    for (uint32_t rest = 0; rest < uint32_t{1} << 27; ++rest) {
      const uint32_t value = (first | rest) * inverse;
      if (value * split_block::Salt(1) >> 27 != second) continue;  // saves the time of a full test
      passing += split_block::BlockContains(block, value);
    }
  }
  // The expectation is 1 + 2^-8 of 2^32 values. Without the key itself it would be 2^-8.
  EXPECT_NEAR(static_cast<double>(passing) / kKeys, 1 + 0x1p-8, 0.4);
  EXPECT_NEAR(SplitBlockFpr(1, 1) * 0x1p32, 1 + 0x1p-8, 1e-5);
}

TEST(SplitBlockFprTest, IsAProbabilityAtEveryLoad) {
  EXPECT_EQ(SplitBlockFpr(0, 1), 0);
  EXPECT_GT(SplitBlockFpr(1, kMaxBlocks), 0);
  for (const double keys : {200.0, 1000.0, 1299.0, 1301.0, 1e6, 1e19}) {
    EXPECT_LE(SplitBlockFpr(keys, 1), 1) << keys;
    EXPECT_GT(SplitBlockFpr(keys, 1), 0.98) << keys;
  }
  EXPECT_EQ(SplitBlockFpr(std::numeric_limits<double>::infinity(), 1), 1);  // a full filter
}

TEST(SplitBlockFprTest, GrowsWithKeysAndShrinksWithBlocks) {
  Random random(/*seed=*/1);
  for (int i = 0; i < 1000; ++i) {
    const auto blocks = static_cast<uint64_t>(LogUniform(random, 0.5, 9));
    const double keys = static_cast<double>(blocks) * LogUniform(random, -2, 2);
    const double fpr = SplitBlockFpr(keys, blocks);
    EXPECT_GT(SplitBlockFpr(keys * 1.001, blocks), fpr) << keys << " keys, " << blocks << " blocks";
    EXPECT_LT(SplitBlockFpr(keys, blocks + 1), fpr) << keys << " keys, " << blocks << " blocks";
  }
}

// The published figures of this filter, to their last digits.
TEST(SplitBlockBlocksTest, GivesThePublishedBitsPerKey) {
  struct Row {
    double fpr, bits_per_key;
  };
  for (const Row& row : {Row{0.01, 10.53}, Row{0.001, 16.89}, Row{0.0001, 26.34}}) {
    constexpr uint64_t kKeys = 100'000'000;
    const double bits = 256.0 * static_cast<double>(SplitBlockBlocks(kKeys, row.fpr));
    EXPECT_NEAR(bits / kKeys / row.bits_per_key, 1, 0.002) << row.fpr;
  }
}

TEST(SplitBlockBlocksTest, FiveBillionKeysAtOnePercentTake6Point13GiB) {
  const double bytes = 32.0 * static_cast<double>(SplitBlockBlocks(5'000'000'000, 0.01));
  EXPECT_NEAR(bytes / std::exp2(30) / 6.13, 1, 0.01);
}

TEST(SplitBlockBlocksTest, IsTheFewestThatDo) {
  Random random(/*seed=*/2);
  for (int i = 0; i < 500; ++i) {
    const auto keys = static_cast<uint64_t>(LogUniform(random, 0, 9));
    const double fpr = LogUniform(random, std::log10(kMinFpr), std::log10(kMaxFpr));
    if (SplitBlockFpr(static_cast<double>(keys + 1), kMaxBlocks) > fpr) continue;
    const uint64_t blocks = SplitBlockBlocks(keys, fpr);
    ASSERT_GE(blocks, 1u);
    EXPECT_LE(SplitBlockFpr(static_cast<double>(keys), blocks), fpr) << keys << " keys";
    if (blocks > 1) {
      EXPECT_GT(SplitBlockFpr(static_cast<double>(keys), blocks - 1), fpr) << keys << " keys";
    }
    EXPECT_LE(blocks, SplitBlockBlocks(keys + 1, fpr));
    EXPECT_GE(blocks, SplitBlockBlocks(keys, std::min(kMaxFpr, 1.01 * fpr)));
  }
  EXPECT_EQ(SplitBlockBlocks(0, kMinFpr), 1u);
  EXPECT_EQ(SplitBlockBlocks(1, kMaxFpr), 1u);
}

TEST(SplitBlockCapacityTest, IsTheInverse) {
  Random random(/*seed=*/3);
  for (int i = 0; i < 500; ++i) {
    const auto blocks = static_cast<uint64_t>(LogUniform(random, 0, std::log10(kMaxBlocks)));
    const double fpr = LogUniform(random, std::log10(kMinFpr), std::log10(kMaxFpr));
    const uint64_t keys = SplitBlockCapacity(blocks, fpr);
    ASSERT_GE(keys, 1u);
    EXPECT_GT(SplitBlockFpr(static_cast<double>(keys + 1), blocks), fpr) << blocks << " blocks";
    if (keys > 1) {
      EXPECT_LE(SplitBlockFpr(static_cast<double>(keys), blocks), fpr) << blocks << " blocks";
      EXPECT_LE(SplitBlockBlocks(keys, fpr), blocks);
    }
    // Otherwise no filter can hold one more key at this rate.
    if (SplitBlockFpr(static_cast<double>(keys + 1), kMaxBlocks) <= fpr) {
      EXPECT_GT(SplitBlockBlocks(keys + 1, fpr), blocks);
    }
  }
}

TEST(SizingErrorsTest, RatesOutOfRange) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double fpr : {0.0, -0.01, 1.0, inf, -inf, std::nan(""), std::nextafter(kMinFpr, 0),
                           std::nextafter(kMaxFpr, 1)}) {
    for (const std::string text : {"false-positive rate ", " is out of range [1e-12, 0.5]"}) {
      ExpectError([&] { SplitBlockBlocks(1000, fpr); }, ErrorCode::kInvalidArgument, text);
      ExpectError([&] { SplitBlockCapacity(1000, fpr); }, ErrorCode::kInvalidArgument, text);
    }
  }
  ExpectError([] { SplitBlockBlocks(1000, 0.75); }, ErrorCode::kInvalidArgument, "rate 0.75 is");
  for (const double fpr : {kMinFpr, kMaxFpr}) {
    EXPECT_NO_THROW(SplitBlockBlocks(1000, fpr));
    EXPECT_NO_THROW(SplitBlockCapacity(1000, fpr));
  }
}

TEST(SizingErrorsTest, MoreKeysThanTheLargestFilterHolds) {
  for (const double fpr : {kMinFpr, 1e-4, 0.01, kMaxFpr}) {
    const uint64_t most = SplitBlockCapacity(kMaxBlocks, fpr);
    EXPECT_LE(SplitBlockBlocks(most, fpr), kMaxBlocks);
    for (const uint64_t keys : {most + 1, 2 * most, ~uint64_t{0}}) {
      ExpectError([&] { SplitBlockBlocks(keys, fpr); }, ErrorCode::kInvalidArgument,
                  "cannot hold " + std::to_string(keys) + " keys");
      ExpectError([&] { SplitBlockBlocks(keys, fpr); }, ErrorCode::kInvalidArgument,
                  "at most 1099511627776 blocks (32.0 TiB)");
    }
  }
}

TEST(SizingErrorsTest, BlocksOutOfRange) {
  for (const uint64_t blocks : {uint64_t{0}, kMaxBlocks + 1, ~uint64_t{0}}) {
    ExpectError([&] { SplitBlockCapacity(blocks, 0.01); }, ErrorCode::kInvalidArgument,
                std::to_string(blocks) + " blocks are out of range [1, 1099511627776]");
  }
}

// n keys leave each bit unset with probability exp(-n / (32 z)). Each key sets one bit of 32 in
// each word of its block, a block gets Poisson(n / z) keys, and E[(31/32)^i] = exp(-load / 32).
TEST(SplitBlockEstimatedCountTest, InvertsTheExpectedNumberOfBits) {
  for (const uint64_t blocks : {uint64_t{1'000'000}, kMaxBlocks}) {
    const double z = static_cast<double>(blocks);
    for (double load = 0.01; load < 200; load *= 1.5) {
      const double bits = 256 * z * -std::expm1(-load / 32);
      const double count = SplitBlockEstimatedCount(static_cast<uint64_t>(bits), blocks);
      EXPECT_NEAR(count / (load * z), 1, 1e-3) << blocks << " blocks, load " << load;
    }
    EXPECT_EQ(SplitBlockEstimatedCount(0, blocks), 0);
    EXPECT_EQ(SplitBlockEstimatedCount(256 * blocks, blocks),
              std::numeric_limits<double>::infinity());
  }
}

}  // namespace tamis::sizing_test
