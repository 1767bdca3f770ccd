// Sizes and rates of classic Bloom filters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/sizing.h"
#include "tamis/layout/bloom.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::bloom_sizing_test {

double LogUniform(Random& random, double low, double high) {
  return std::pow(10, low + (high - low) * random.Unit());
}

// The textbook's m. A whole number of hashes needs up to 6% more if it is one or two, and less than
// 1% more from four on. Few keys at low rates need more, for m^2 pairs of positions and steps.
TEST(BloomBitsTest, IsTheTextbooks) {
  Random random(/*seed=*/1);
  for (int i = 0; i < 2000; ++i) {
    const auto n = static_cast<uint64_t>(LogUniform(random, 5, 10));
    const double p = LogUniform(random, std::log10(kMinFpr), std::log10(kMaxFpr));
    const auto bits = static_cast<double>(BloomBits(n, p));
    const double want = -static_cast<double>(n) * std::log(p) / std::pow(std::log(2.0), 2);
    const uint32_t k = BloomHashes(BloomBits(n, p), n);
    EXPECT_GE(bits, want) << n << " keys at " << p;
    const double pairs = std::sqrt(static_cast<double>(n) / p);  // n / m^2 is p
    if (pairs < want / 30) {
      EXPECT_LE(bits / want, k <= 2 ? 1.06 : k == 3 ? 1.024 : 1.01) << n << " keys at " << p;
      EXPECT_NEAR(k, -std::log2(p), 0.56) << n << " keys at " << p;
    } else {
      EXPECT_LE(bits, 2 * std::max(want, pairs)) << n << " keys at " << p;
    }
    EXPECT_LE(BloomFpr(static_cast<double>(n), BloomBits(n, p), k), p * (1 + 1e-9))
        << n << " keys at " << p;
  }
}

TEST(BloomBitsTest, KnownSizes) {
  struct Row {
    double fpr, bits_per_key;
    uint32_t hashes;
  };
  for (const Row& row : {Row{0.01, 9.585, 7}, Row{0.001, 14.378, 10}, Row{0.0001, 19.170, 13}}) {
    constexpr uint64_t kKeys = 100'000'000;
    const uint64_t bits = BloomBits(kKeys, row.fpr);
    EXPECT_NEAR(static_cast<double>(bits) / kKeys / row.bits_per_key, 1, 0.002);
    EXPECT_EQ(BloomHashes(bits, kKeys), row.hashes);
  }
  EXPECT_NEAR(static_cast<double>(BloomBits(5'000'000'000, 0.01)) / 8 / std::exp2(30), 5.58, 0.01);
  EXPECT_EQ(BloomBits(0, 0.01), 64u);
}

TEST(BloomFprTest, IsTheFormula) {
  for (const double load : {0.01, 0.1, 0.5, 1.0}) {
    for (const uint32_t k : {1u, 7u, 64u}) {
      const double chance = std::pow(1 - std::exp(-load * k), k);
      const double want = 1 - (1 - chance) * std::exp(-load / 64'000);
      EXPECT_NEAR(BloomFpr(load * 64'000, 64'000, k) / want, 1, 1e-9);
    }
  }
  EXPECT_EQ(BloomFpr(0, 64, 1), 0);
  EXPECT_EQ(BloomFpr(std::numeric_limits<double>::infinity(), 64, 3), 1);
}

// A filter cannot distinguish two keys with the same first position and step. If the formula
// ignored such keys, the rate of 16 keys at 1e-4 would be 2.3 times the stated rate.
TEST(BloomFprTest, IsTheRateOfSmallFilters) {
  constexpr uint64_t kFilters = 1000;
  constexpr uint64_t kAbsent = 20'000;
  for (const uint64_t n : {16, 64, 256}) {
    double stated = 0, expected = 0;
    uint64_t hits = 0;
    Random random(n);
    std::vector<uint64_t> keys(n), absent(kAbsent);
    for (uint64_t i = 0; i < kFilters; ++i) {
      BloomFilter filter({.capacity = n, .fpr = 1e-4, .hash = {.seed = i}});
      for (uint64_t& key : keys) key = random() | 1;
      for (uint64_t& key : absent) key = random() & ~uint64_t{1};
      filter.Insert(keys);
      hits += filter.Count(absent);
      stated += BloomFpr(static_cast<double>(n), filter.num_bits(), filter.num_hashes());
      expected += filter.expected_fpr();
    }
    stated /= kFilters;
    expected /= kFilters;
    const double measured = static_cast<double>(hits) / (kFilters * kAbsent);
    const double sigma = std::sqrt(static_cast<double>(hits)) / (kFilters * kAbsent);
    EXPECT_LE(stated, 1e-4) << n;
    EXPECT_NEAR(measured, stated, 0.1 * stated + 3 * sigma) << n << " keys";
    EXPECT_NEAR(measured, expected, 0.1 * stated + 3 * sigma) << n << " keys";
  }
}

// Queries all m^2 pairs of a first position and a step, so that the measured rate is exact.
TEST(BloomFprTest, IsTheShareOfPairsThatPass) {
  constexpr uint64_t kBits = 1024;
  constexpr int kFilters = 20;
  for (const uint64_t n : {1, 4, 16, 64}) {
    const uint32_t k = BloomHashes(kBits, n);
    uint64_t passing = 0;
    Random random(n);
    for (int filter = 0; filter < kFilters; ++filter) {
      uint64_t words[kBits / bloom::kWordBits] = {};
      for (uint64_t i = 0; i < n; ++i) bloom::Insert(words, kBits, k, random());
      for (uint64_t pair = 0; pair < kBits * kBits; ++pair) {
        bloom::Walk walk = {pair % kBits, pair / kBits};
        uint32_t i = 1;
        while (bloom::TestBit(words, walk.position) && i < k) walk = bloom::Next(walk, i++, kBits);
        passing += bloom::TestBit(words, walk.position);
      }
    }
    const double share = static_cast<double>(passing) / (kFilters * kBits * kBits);
    EXPECT_NEAR(share / BloomFpr(static_cast<double>(n), kBits, k), 1, n == 1 ? 0.01 : 0.15) << n;
  }
}

TEST(BloomCapacityTest, IsTheInverse) {
  Random random(/*seed=*/2);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t bits = 64 * static_cast<uint64_t>(LogUniform(random, 0, 12));
    const double p = LogUniform(random, -9, std::log10(kMaxFpr));
    const uint64_t n = BloomCapacity(bits, p);
    ASSERT_GE(n, 1u);
    if (n == 1) continue;
    EXPECT_LE(BloomFpr(static_cast<double>(n), bits, BloomHashes(bits, n)), p) << bits;
    const double more = static_cast<double>(n) * 1.002 + 2;
    EXPECT_GT(BloomFpr(more, bits, BloomHashes(bits, static_cast<uint64_t>(more))), p) << bits;
  }
}

TEST(BloomSizingErrorsTest, AreSaid) {
  for (const double fpr : {0.0, 0.6, std::nan("")}) {
    ExpectError([&] { BloomBits(1000, fpr); }, ErrorCode::kInvalidArgument, "out of range");
    ExpectError([&] { BloomCapacity(6400, fpr); }, ErrorCode::kInvalidArgument, "out of range");
  }
  for (const uint64_t bits : {uint64_t{0}, uint64_t{63}, bloom::kMaxBits + 1}) {
    ExpectError([&] { BloomCapacity(bits, 0.01); }, ErrorCode::kInvalidArgument,
                std::to_string(bits) + " bits are out of range [64, 9007199254740992]");
  }
  ExpectError([] { BloomBits(~uint64_t{0}, 0.01); }, ErrorCode::kInvalidArgument,
              "cannot hold 18446744073709551615 keys");
  EXPECT_LE(BloomBits(900'000'000'000'000, 0.01), bloom::kMaxBits);
}

TEST(BloomEstimatedCountTest, InvertsTheExpectedNumberOfBits) {
  for (const uint64_t m : {uint64_t{64'000'000}, bloom::kMaxBits}) {
    for (const uint32_t k : {1u, 7u, 30u}) {
      for (const double fill : {0.001, 0.3, 0.5, 0.99}) {
        const double n = -static_cast<double>(m) / k * std::log(1 - fill);
        const auto bits = static_cast<uint64_t>(fill * static_cast<double>(m));
        EXPECT_NEAR(BloomEstimatedCount(bits, m, k) / n, 1, 1e-4) << m << " " << k << " " << fill;
      }
      EXPECT_EQ(BloomEstimatedCount(0, m, k), 0);
      EXPECT_EQ(BloomEstimatedCount(m, m, k), std::numeric_limits<double>::infinity());
    }
  }
}

}  // namespace tamis::bloom_sizing_test
