// Rates and sizes, against a direct sum in more precision and against published figures.
#include "tamis/sizing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tamis/error.h"
#include "tamis/layout/split_block.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::sizing_test {

constexpr uint64_t kMaxBlocks = split_block::kMaxBlocks;

// Sum over i of Poisson(i; load) (1 - (31/32)^i)^8, term by term from 0 until nothing is left.
long double DirectFpr(long double load) {
  const long double last = load + 30 * std::sqrt(load) + 200;
  long double sum = 0;
  for (long double i = 1; i <= last; ++i) {
    const long double weight = std::exp(i * std::log(load) - load - std::lgamma(i + 1));
    sum += weight * std::pow(1 - std::pow(31 / 32.0L, i), 8.0L);
  }
  return sum;
}

// Between 10^low and 10^high, every order of magnitude as likely.
double LogUniform(Random& random, double low, double high) {
  return std::pow(10, low + (high - low) * random.Unit());
}

TEST(SplitBlockFprTest, IsTheSumOverAllLoads) {
  for (double load = 0.01; load <= 200; load *= 1.07) {
    const auto want = static_cast<double>(DirectFpr(load));
    EXPECT_NEAR(SplitBlockFpr(load, 1) / want, 1, 1e-9) << "load " << load;
    EXPECT_NEAR(SplitBlockFpr(load * 1e6, 1'000'000) / want, 1, 1e-9) << "load " << load;
  }
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

// The figures that this filter is known by, to the digits in which they are given.
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
    if (blocks < kMaxBlocks) {
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
                  "at most 4294967295 blocks");
    }
  }
}

TEST(SizingErrorsTest, BlocksOutOfRange) {
  for (const uint64_t blocks : {uint64_t{0}, kMaxBlocks + 1, ~uint64_t{0}}) {
    ExpectError([&] { SplitBlockCapacity(blocks, 0.01); }, ErrorCode::kInvalidArgument,
                std::to_string(blocks) + " blocks are out of range [1, 4294967295]");
  }
}

// n keys leave each bit unset with probability exp(-n / (32 z)): each sets one bit of 32 in each
// word of a block that Poisson(n / z) keys fall in, and E[(31/32)^i] = exp(-load / 32).
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
