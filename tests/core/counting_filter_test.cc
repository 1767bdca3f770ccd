// Tests of properties that only counting filters have: erasing, saturation, merging and freezing.
#include "tamis/filters/counting_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "tamis/backends.h"
#include "tamis/error.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/sizing.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_counters.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::counting_filter_test {

class CountingFilterTest : public BackendTest {};

TEST(CountingFilterSizeTest, FollowsTheFormulas) {
  for (const double fpr : {0.05, 0.01, 0.001}) {
    for (const uint64_t n : {1, 1000, 1'000'000}) {
      const CountingBloomFilter filter({.capacity = n, .fpr = fpr});
      EXPECT_EQ(filter.num_blocks(), CountingBlocks(n, fpr));
      EXPECT_EQ(filter.bytes(), 64 * filter.num_blocks());
      EXPECT_EQ(filter.expected_fpr(), 0);
      EXPECT_EQ(filter.saturated(), 0u);
    }
  }
  const CountingBloomFilter filter({.bytes = 6410});
  EXPECT_EQ(filter.num_blocks(), 100u);
  EXPECT_EQ(filter.capacity(), CountingCapacity(100, 0.01));
  ExpectError([] { CountingBloomFilter({.bytes = 63}); }, ErrorCode::kInvalidArgument,
              "63 bytes is out of range [64, 274877906880]");
}

// A million random insertions and erasures of present keys, some of them many times: no present key
// is ever missing, even if counters are saturated.
TEST_P(CountingFilterTest, NoKeyThatIsInIsEverLost) {
  Random random(/*seed=*/7);
  CountingBloomFilter filter({.capacity = 4000, .fpr = 0.01, .backend = &backend()});
  std::unordered_map<uint64_t, int> counts;
  std::vector<uint64_t> present;  // with repetitions
  uint64_t lost = 0, refused = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    if (present.empty() || random.Below(100) < (step < 500'000 ? 52 : 48)) {
      // Every tenth insertion is one of 20 keys.
      const uint64_t key = random.Below(10) == 0 ? random.Below(20) : random() | 32;
      ASSERT_TRUE(filter.Insert(key));
      ++counts[key];
      present.push_back(key);
    } else {
      const size_t at = random.Below(present.size());
      const uint64_t key = present[at];
      present[at] = present.back();
      present.pop_back();
      refused += !filter.Erase(key);
      if (--counts[key] == 0) {
        counts.erase(key);
      } else {
        lost += !filter.Contains(key);
      }
    }
    if (step % 20'000 == 0) lost += present.size() - filter.Count(present);
  }
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(filter.Count(present), present.size());
  EXPECT_EQ(filter.inserted_count(), present.size());
  EXPECT_GT(filter.saturated(), 50u);
}

TEST_P(CountingFilterTest, AKeyIsInAsOftenAsItWasInserted) {
  CountingBloomFilter filter({.capacity = 100, .backend = &backend()});
  for (int i = 0; i < 14; ++i) EXPECT_TRUE(filter.Insert("a key"));
  EXPECT_EQ(filter.saturated(), 0u);
  for (int i = 0; i < 14; ++i) {
    EXPECT_TRUE(filter.Contains("a key"));
    EXPECT_TRUE(filter.Erase("a key"));
  }
  EXPECT_FALSE(filter.Contains("a key"));
  EXPECT_FALSE(filter.Erase("a key"));
  EXPECT_EQ(Payload(filter), Payload(CountingBloomFilter({.capacity = 100})));

  for (int i = 0; i < 20; ++i) filter.Insert("a key");
  EXPECT_EQ(filter.saturated(), 8u);
  for (int i = 0; i < 30; ++i) filter.Erase("a key");
  EXPECT_TRUE(filter.Contains("a key")) << "a saturated counter was counted down";
  EXPECT_EQ(filter.saturated(), 8u);
}

TEST_P(CountingFilterTest, FrozenGivesTheSameAnswers) {
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/1);
  const std::vector<uint64_t> queries = RandomKeys(200'000, /*seed=*/1);
  const HashSpec spec{HashKind::kXxh64, 9};
  CountingBloomFilter filter({.capacity = 5000, .fpr = 0.05, .hash = spec, .backend = &backend()});
  filter.Insert(keys);
  filter.Erase(std::span(keys).first(1000));
  const SplitBlockBloomFilter frozen = filter.Freeze();
  EXPECT_EQ(frozen.num_blocks(), filter.num_blocks());
  EXPECT_EQ(frozen.bytes(), filter.bytes() / 2);
  EXPECT_EQ(frozen.hash(), spec);
  EXPECT_EQ(frozen.inserted_count(), 4000u);
  EXPECT_EQ(frozen.capacity(), 5000u);
  std::vector<uint64_t> want(BitmapWords(queries.size())), got(want);
  EXPECT_EQ(filter.Contains(queries, Bitmap(want)), frozen.Contains(queries, Bitmap(got)));
  EXPECT_EQ(got, want);
  EXPECT_NEAR(frozen.estimated_count() / filter.estimated_count(), 2, 0.05);

  const TemporaryFolder folder;
  filter.Save(folder / "a");
  EXPECT_EQ(Payload(CountingBloomFilter::Map(folder / "a").Freeze()), Payload(frozen));
}

TEST_P(CountingFilterTest, MergeAddsCountsUpTo15) {
  const FilterOptions options{.bytes = 64 * 40, .backend = &backend()};
  CountingBloomFilter a(options), b(options);
  ReferenceCounters want(40), other(40);
  for (const uint64_t key : RandomKeys(3000, /*seed=*/1)) {
    a.Insert(key);
    want.Insert(ReferenceHash(key, {}));
  }
  for (const uint64_t key : RandomKeys(2500, /*seed=*/2)) {
    b.Insert(key);
    other.Insert(ReferenceHash(key, {}));
  }
  EXPECT_LT(a.saturated() + b.saturated(), 1000u);
  a.Merge(b);
  want.Merge(other);
  EXPECT_EQ(Payload(a), want.Bytes());
  EXPECT_EQ(a.saturated(), want.Saturated());
  EXPECT_GT(a.saturated(), 100u);
  EXPECT_EQ(a.inserted_count(), 5500u);
  EXPECT_EQ(CanMerge(a, CountingBloomFilter({.bytes = 64 * 41})).reason,
            "filters of 40 blocks and 41 blocks cannot be merged");
}

TEST_P(CountingFilterTest, EstimatesFollowTheFill) {
  constexpr uint64_t kBlocks = 4000;
  CountingBloomFilter filter({.bytes = 64 * kBlocks, .backend = &backend()});
  uint64_t n = 0;
  for (const double load : {0.5, 4.0, 11.0, 24.0, 60.0}) {
    const auto want = static_cast<uint64_t>(load * kBlocks);
    const std::vector<uint64_t> keys = RandomKeys(want - n, /*seed=*/want);
    filter.Insert(keys);
    filter.Insert(keys);  // no effect on the number of distinct keys
    n = want;
    EXPECT_NEAR(filter.estimated_count() / static_cast<double>(n), 1, 0.01) << "load " << load;
    EXPECT_DOUBLE_EQ(filter.expected_fpr(), CountingFpr(filter.estimated_count(), kBlocks));
  }
  EXPECT_EQ(CountingEstimatedCount(128 * kBlocks, kBlocks),
            std::numeric_limits<double>::infinity());
}

INSTANTIATE_TEST_SUITE_P(Backends, CountingFilterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

// A saturated counter stays, so its keys are found even after they are erased many times.
TEST(CountingFilterTest, TheNumberOfKeysIsNeverBelowZero) {
  CountingBloomFilter filter({.capacity = 1});
  const std::vector<uint64_t> copies(15, 7);
  filter.Insert(copies);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(filter.Erase(7));
  EXPECT_EQ(filter.inserted_count(), 0u);
  EXPECT_EQ(filter.Erase(copies), 15u);
  EXPECT_EQ(filter.inserted_count(), 0u);
  EXPECT_TRUE(filter.Contains(7));
}

}  // namespace tamis::counting_filter_test
