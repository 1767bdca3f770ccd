// Sizes and rates of classic Bloom filters.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "tamis/error.h"
#include "tamis/layout/bloom.h"
#include "tamis/sizing.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::bloom_sizing_test {

double LogUniform(Random& random, double low, double high) {
  return std::pow(10, low + (high - low) * random.Unit());
}

// The textbook's m, or what the whole number of hashes needs beyond it: where that is one or two
// up to 6%, from four on less than 1%.
TEST(BloomBitsTest, IsTheTextbooks) {
  Random random(/*seed=*/1);
  for (int i = 0; i < 2000; ++i) {
    const auto n = static_cast<uint64_t>(LogUniform(random, 5, 10));
    const double p = LogUniform(random, std::log10(kMinFpr), std::log10(kMaxFpr));
    const auto bits = static_cast<double>(BloomBits(n, p));
    const double want = -static_cast<double>(n) * std::log(p) / std::pow(std::log(2.0), 2);
    const uint32_t k = BloomHashes(BloomBits(n, p), n);
    EXPECT_GE(bits, want) << n << " keys at " << p;
    EXPECT_LE(bits / want, k <= 2 ? 1.06 : k == 3 ? 1.024 : 1.01) << n << " keys at " << p;
    EXPECT_NEAR(k, -std::log2(p), 0.56) << n << " keys at " << p;
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
      const double want = std::pow(1 - std::exp(-load * k), k);
      EXPECT_NEAR(BloomFpr(load * 64'000, 64'000, k) / want, 1, 1e-9);
    }
  }
  EXPECT_EQ(BloomFpr(0, 64, 1), 0);
  EXPECT_EQ(BloomFpr(std::numeric_limits<double>::infinity(), 64, 3), 1);
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
