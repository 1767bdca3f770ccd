// The class of counting filters: counters of the specification after every operation, and what
// erasing, saturation, merging and freezing promise.
#include "tamis/counting_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "tamis/engine.h"
#include "tamis/error.h"
#include "tamis/set_operations.h"
#include "tamis/sizing.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

// A counting filter as core/FORMAT.md describes it, with one byte for each counter.
class ReferenceCounters {
 public:
  explicit ReferenceCounters(uint64_t num_blocks) : counters_(128 * num_blocks) {}

  void Insert(uint64_t hash) {
    for (const size_t i : Indices(hash)) {
      if (counters_[i] < 15) ++counters_[i];
    }
  }
  bool Contains(uint64_t hash) const {
    const auto indices = Indices(hash);
    return std::all_of(indices.begin(), indices.end(), [&](size_t i) { return counters_[i] > 0; });
  }
  bool Erase(uint64_t hash) {
    if (!Contains(hash)) return false;
    for (const size_t i : Indices(hash)) {
      if (counters_[i] < 15) --counters_[i];
    }
    return true;
  }
  void Merge(const ReferenceCounters& other) {
    for (size_t i = 0; i < counters_.size(); ++i) {
      counters_[i] = std::min(15, counters_[i] + other.counters_[i]);
    }
  }
  uint64_t Saturated() const {
    return static_cast<uint64_t>(std::count(counters_.begin(), counters_.end(), 15));
  }
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < counters_.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(counters_[i] + 16 * counters_[i + 1]));
    }
    return bytes;
  }

 private:
  std::array<size_t, 8> Indices(uint64_t hash) const {
    constexpr uint64_t kSalts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                    0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    const uint64_t blocks = counters_.size() / 128;
    std::array<size_t, 8> indices;
    for (size_t w = 0; w < 8; ++w) {
      const uint64_t product = (hash & 0xFFFFFFFF) * kSalts[w] % (uint64_t{1} << 32);
      indices[w] = 128 * (((hash >> 32) * blocks) >> 32) + 16 * w + product / (uint64_t{1} << 28);
    }
    return indices;
  }

  std::vector<int> counters_;
};

class CountingFilterTest : public BackendTest {};

TEST(CountingFilterSizeTest, IsThatOfTheFormulas) {
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
  ExpectError([] { CountingBloomFilter({.capacity = 0}); }, ErrorCode::kInvalidArgument,
              "a capacity of at least 1");
}

// Random insertions and erasures, of keys that are in and of others, one by one and in bulk: after
// each step the filter has the counters of the specification, saturated ones included.
TEST_P(CountingFilterTest, HasTheCountersOfTheSpecification) {
  for (uint64_t round = 0; round < 20; ++round) {
    Random random(round);
    const HashSpec spec{kHashKinds[random.Below(2)], random()};
    const uint64_t blocks = 1 + random.Below(round % 4 == 0 ? 2 : 60);
    CountingBloomFilter filter(
        {.capacity = 10, .bytes = 64 * blocks, .hash = spec, .backend = &backend()});
    ReferenceCounters want(blocks);
    uint64_t inserted = 0;
    const std::vector<uint64_t> pool = RandomKeys(300, round);
    for (int step = 0; step < 30; ++step) {
      std::vector<uint64_t> keys(random.Below(300));
      for (uint64_t& key : keys) key = pool[random.Below(pool.size())];
      if (random.Below(2) == 0) {
        EXPECT_EQ(filter.Insert(keys), keys.size());
        for (const uint64_t key : keys) want.Insert(ReferenceHash(key, spec));
        inserted += keys.size();
      } else {
        size_t erased = 0;
        for (const uint64_t key : keys) erased += want.Erase(ReferenceHash(key, spec));
        if (random.Below(2) == 0) {
          EXPECT_EQ(filter.Erase(keys), erased);
        } else {
          size_t got = 0;
          for (const uint64_t key : keys) got += filter.Erase(key);
          EXPECT_EQ(got, erased);
        }
        inserted -= erased;
      }
      ASSERT_EQ(Payload(filter), want.Bytes()) << "round " << round << ", step " << step;
      ASSERT_EQ(filter.inserted_count(), inserted);
      ASSERT_EQ(filter.saturated(), want.Saturated());
      for (const uint64_t key : pool) {
        ASSERT_EQ(filter.Contains(key), want.Contains(ReferenceHash(key, spec)));
      }
    }
  }
}

// A million random insertions and erasures of keys that are in, some of them many times over: no
// key that is in is ever missing, also when counters are saturated.
TEST_P(CountingFilterTest, NoKeyThatIsInIsEverLost) {
  Random random(/*seed=*/7);
  CountingBloomFilter filter({.capacity = 4000, .fpr = 0.01, .backend = &backend()});
  std::unordered_map<uint64_t, int> counts;
  std::vector<uint64_t> present;  // with repetitions
  uint64_t lost = 0, refused = 0;
  for (int step = 0; step < 1'000'000; ++step) {
    if (present.empty() || random.Below(100) < (step < 500'000 ? 52 : 48)) {
      // Every tenth insertion is of one of 20 keys.
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

TEST_P(CountingFilterTest, ARefusedErasureChangesNothing) {
  CountingBloomFilter filter({.capacity = 1000, .backend = &backend()});
  filter.Insert(RandomKeys(1000, /*seed=*/1));
  const std::vector<std::byte> before = Payload(filter);
  std::vector<uint64_t> absent = RandomKeys(1000, /*seed=*/2);
  std::erase_if(absent, [&](uint64_t key) { return filter.Contains(key); });
  ASSERT_GT(absent.size(), 900u);
  for (const uint64_t key : absent) EXPECT_FALSE(filter.Erase(key));
  std::vector<uint64_t> missing(absent.size());
  EXPECT_EQ(filter.Erase(absent, missing), 0u);
  for (size_t i = 0; i < missing.size(); ++i) EXPECT_EQ(missing[i], i);
  EXPECT_EQ(Payload(filter), before);
  EXPECT_EQ(filter.inserted_count(), 1000u);
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
  const CountingBloomFilter larger({.bytes = 64 * 41});
  EXPECT_EQ(CanMerge(a, larger).reason, "filters of 40 blocks and 41 blocks cannot be merged");
  ExpectError([&] { a.Merge(larger); }, ErrorCode::kIncompatible, "40 blocks and 41 blocks");
}

TEST_P(CountingFilterTest, EngineGivesTheSame) {
  const std::vector<uint64_t> keys = RandomKeys(150'000, /*seed=*/1);
  const FilterOptions options{.capacity = 150'000, .backend = &backend()};
  CountingBloomFilter one(options), many(options);
  one.Insert(keys);
  one.Insert(keys);
  const Engine engine({.threads = 3, .backend = &backend()});
  engine.Insert(many, keys);
  engine.Insert(many, keys);
  EXPECT_EQ(Payload(many), Payload(one));
  EXPECT_EQ(engine.Count(many, keys), keys.size());
  const size_t erased = one.Erase(std::span(keys).first(100'000));
  EXPECT_EQ(engine.Erase(many, std::span(keys).first(100'000)), erased);
  EXPECT_EQ(Payload(many), Payload(one));
}

TEST_P(CountingFilterTest, EstimatesAreThoseOfTheFill) {
  constexpr uint64_t kBlocks = 4000;
  CountingBloomFilter filter({.bytes = 64 * kBlocks, .backend = &backend()});
  uint64_t n = 0;
  for (const double load : {0.5, 4.0, 11.0, 24.0, 60.0}) {
    const auto want = static_cast<uint64_t>(load * kBlocks);
    const std::vector<uint64_t> keys = RandomKeys(want - n, /*seed=*/want);
    filter.Insert(keys);
    filter.Insert(keys);  // of distinct keys
    n = want;
    EXPECT_NEAR(filter.estimated_count() / static_cast<double>(n), 1, 0.01) << "load " << load;
    EXPECT_DOUBLE_EQ(filter.expected_fpr(), CountingFpr(filter.estimated_count(), kBlocks));
  }
  EXPECT_EQ(CountingEstimatedCount(128 * kBlocks, kBlocks),
            std::numeric_limits<double>::infinity());
}

TEST(CountingFilterReadOnlyTest, AMappedFilterAnswersAndRefusesEveryChange) {
  const TemporaryFolder folder;
  CountingBloomFilter built({.capacity = 100});
  built.Insert(RandomKeys(100, /*seed=*/1));
  built.Save(folder / "a");
  CountingBloomFilter mapped = CountingBloomFilter::Map(folder / "a");
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  EXPECT_EQ(mapped.Count(keys), 100u);
  EXPECT_FALSE(mapped.Insert(keys[0]));
  EXPECT_FALSE(mapped.Erase(keys[0]));
  EXPECT_EQ(mapped.Erase(keys), 0u);
  ExpectError([&] { mapped.Merge(built); }, ErrorCode::kReadOnly, "mapped from a file");
  CountingBloomFilter copy = mapped.Clone();
  EXPECT_EQ(copy.Erase(keys), 100u);
  EXPECT_EQ(mapped.Freeze().Count(keys), 100u);
  EXPECT_EQ(CountingBloomFilter::Load(folder / "a").num_blocks(), built.num_blocks());
}

INSTANTIATE_TEST_SUITE_P(Backends, CountingFilterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
