// Tests of properties that only classic Bloom filters have: sizes, estimates, and the reasons why
// two filters cannot be combined.
#include "tamis/filters/bloom_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/sizing.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::bloom_filter_test {

class BloomFilterTest : public BackendTest {};

BloomFilter Make(uint64_t capacity, uint64_t words, const HashSpec& hash = {}) {
  return BloomFilter({.capacity = capacity, .bytes = 8 * words, .hash = hash});
}

TEST(BloomFilterSizeTest, FollowsTheFormulas) {
  for (const double fpr : {0.3, 0.05, 0.01, 0.001, 1e-6}) {
    for (const uint64_t n : {1, 100, 12'345, 1'000'000}) {
      const BloomFilter filter({.capacity = n, .fpr = fpr});
      EXPECT_EQ(filter.num_bits(), BloomBits(n, fpr));
      EXPECT_EQ(filter.num_hashes(), BloomHashes(filter.num_bits(), n));
      EXPECT_EQ(filter.bytes(), filter.num_bits() / 8);
      EXPECT_LE(filter.theoretical_fpr(), fpr * (1 + 1e-12));
    }
  }
  const BloomFilter filter({.capacity = 10'000'000, .fpr = 0.01});
  EXPECT_EQ(filter.num_hashes(), 7u);
  EXPECT_NEAR(filter.bits_per_key(), 9.585, 0.01);
}

TEST(BloomFilterSizeTest, BytesAreRoundedDownToWords) {
  const BloomFilter filter({.bytes = 12'345, .hash = {HashKind::kXxh64, 3}});
  EXPECT_EQ(filter.bytes(), 12'344u);
  EXPECT_EQ(filter.capacity(), BloomCapacity(filter.num_bits(), 0.01));
  EXPECT_LE(filter.theoretical_fpr(), 0.01);
  // 64 bits per key. With more than 9 hashes, equal pairs of position and step decide the rate.
  EXPECT_EQ(Make(100, 100).num_hashes(), 9u);
  EXPECT_EQ(BloomHashes(uint64_t{64} << 30, uint64_t{1} << 30), 44u);
}

// Tests only the geometry of 2^36 bits and more, which takes no memory.
TEST(BloomFilterSizeTest, GeometryPast2To36Bits) {
  const uint64_t bits = BloomBits(10'000'000'000, 0.01);
  EXPECT_GT(bits, uint64_t{1} << 36);
  EXPECT_EQ(bits % 64, 0u);
  EXPECT_NEAR(static_cast<double>(bits) / 1e10, 9.59, 0.01);
  EXPECT_EQ(BloomHashes(bits, 10'000'000'000), 7u);
}

TEST_P(BloomFilterTest, EstimatesOfUnionAndIntersection) {
  const std::vector<uint64_t> keys = RandomKeys(3000, /*seed=*/2);
  const FilterOptions options{.capacity = 3000, .fpr = 0.001, .backend = &backend()};
  BloomFilter a(options), b(options), both(options);
  a.Insert(std::span(keys).first(2000));
  b.Insert(std::span(keys).last(2000));
  both.Insert(keys);
  EXPECT_NEAR(a.estimated_union_count(b), 3000, 60);
  EXPECT_NEAR(a.estimated_intersection_count(b), 1000, 60);
  EXPECT_DOUBLE_EQ(a.estimated_union_count(b), both.estimated_count());
}

TEST(BloomFilterErrorsTest, FiltersThatDoNotMatchAreNotCombined) {
  const HashSpec hash{HashKind::kXxh3, 5};
  const BloomFilter filter = Make(64, 10, hash);
  const auto expect = [&](const BloomFilter& other, const std::string& text) {
    const MergeCheck check = CanMerge(filter, other);
    EXPECT_FALSE(check);
    EXPECT_NE(check.reason.find(text), std::string::npos) << check.reason;
    ExpectError([&] { filter.estimated_union_count(other); }, ErrorCode::kIncompatible, text);
  };
  expect(Make(64, 11, hash), "640 bits with 7 hashes and 704 bits with 8 hashes");
  expect(Make(80, 10, hash), "640 bits with 7 hashes and 640 bits with 6 hashes");
  expect(Make(64, 10, {HashKind::kXxh3, 6}), "xxh3 with seed 5 and xxh3 with seed 6");
  EXPECT_TRUE(CanMerge(filter, Make(64, 10, hash)));
}

TEST_P(BloomFilterTest, EstimatesFollowTheFill) {
  BloomFilter filter({.capacity = 50'000, .fpr = 0.01, .backend = &backend()});
  uint64_t n = 0;
  for (const uint64_t want : {5'000, 50'000, 100'000, 200'000}) {
    filter.Insert(RandomKeys(want - n, /*seed=*/want));
    n = want;
    const auto keys = static_cast<double>(n);
    EXPECT_NEAR(filter.estimated_count() / keys, 1, 0.01) << n;
    EXPECT_NEAR(filter.expected_fpr() / BloomFpr(keys, filter.num_bits(), 7), 1, 0.05) << n;
  }
  BloomFilter full({.bytes = 8, .backend = &backend()});
  full.Insert(RandomKeys(2000, /*seed=*/1));
  EXPECT_EQ(full.estimated_count(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(full.expected_fpr(), 1);
  EXPECT_EQ(full.Count(RandomKeys(1000, /*seed=*/2)), 1000u);
}

INSTANTIATE_TEST_SUITE_P(Backends, BloomFilterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::bloom_filter_test
