// The class of classic Bloom filters: what it is, bit for bit, after every operation.
#include "tamis/bloom_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tamis/engine.h"
#include "tamis/error.h"
#include "tamis/set_operations.h"
#include "tamis/sizing.h"
#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_bloom.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

class BloomFilterTest : public BackendTest {};

BloomFilter Make(uint64_t capacity, uint64_t words, const HashSpec& hash = {}) {
  return BloomFilter({.capacity = capacity, .bytes = 8 * words, .hash = hash});
}

TEST(BloomFilterSizeTest, IsThatOfTheFormulas) {
  for (const double fpr : {0.3, 0.05, 0.01, 0.001, 1e-6}) {
    for (const uint64_t n : {1, 100, 12'345, 1'000'000}) {
      const BloomFilter filter({.capacity = n, .fpr = fpr});
      EXPECT_EQ(filter.num_bits(), BloomBits(n, fpr));
      EXPECT_EQ(filter.num_hashes(), BloomHashes(filter.num_bits(), n));
      EXPECT_EQ(filter.bytes(), filter.num_bits() / 8);
      EXPECT_EQ(filter.capacity(), n);
      EXPECT_LE(filter.theoretical_fpr(), fpr * (1 + 1e-12));
      EXPECT_EQ(filter.expected_fpr(), 0);
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
  EXPECT_EQ(Make(100, 100).num_hashes(), 44u);  // 64 bits per key
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{7}, ~uint64_t{0}}) {
    ExpectError([&] { BloomFilter({.bytes = bytes}); }, ErrorCode::kInvalidArgument,
                std::to_string(bytes) + " bytes is out of range");
  }
  ExpectError([] { BloomFilter({.capacity = 0}); }, ErrorCode::kInvalidArgument,
              "a capacity of at least 1");
  ExpectError([] { BloomFilter({.capacity = 10, .fpr = 0.7}); }, ErrorCode::kInvalidArgument,
              "false-positive rate 0.7");
}

// 2^36 bits and more: only the geometry, no memory.
TEST(BloomFilterSizeTest, GeometryPast2To36Bits) {
  const uint64_t bits = BloomBits(10'000'000'000, 0.01);
  EXPECT_GT(bits, uint64_t{1} << 36);
  EXPECT_EQ(bits % 64, 0u);
  EXPECT_NEAR(static_cast<double>(bits) / 1e10, 9.59, 0.01);
  EXPECT_EQ(BloomHashes(bits, 10'000'000'000), 7u);
}

// Random sequences of insertions in every form, beside a set of hashes: the filter has, bit for
// bit, what the specification says.
TEST_P(BloomFilterTest, HasTheBitsOfTheSpecification) {
  for (uint64_t round = 0; round < 30; ++round) {
    Random random(round);
    const HashSpec spec{kHashKinds[random.Below(2)], random()};
    const uint64_t words = 1 + random.Below(round % 3 == 0 ? 3 : 300);
    BloomFilter filter({.capacity = 1 + random.Below(2000),
                        .bytes = 8 * words,
                        .hash = spec,
                        .backend = &backend()});
    ReferenceBloom want(filter.num_bits(), filter.num_hashes());
    std::vector<uint64_t> inserted;  // hashes
    for (int step = 0; step < 6; ++step) {
      const size_t n = random.Below(300);
      const std::vector<uint64_t> numbers = RandomKeys(n, random());
      const std::vector<std::string> strings = RandomStrings(n / 4, random());
      filter.Insert(numbers);
      for (const uint64_t key : numbers) inserted.push_back(ReferenceHash(key, spec));
      filter.Insert(std::vector<std::string_view>(strings.begin(), strings.end()));
      for (const std::string& s : strings)
        inserted.push_back(ReferenceHash(std::string_view(s), spec));
      EXPECT_TRUE(filter.Insert(uint64_t{n}));
      inserted.push_back(ReferenceHash(uint64_t{n}, spec));
      filter.Insert(Hashes{numbers});
      inserted.insert(inserted.end(), numbers.begin(), numbers.end());
      for (const uint64_t hash : inserted) want.Insert(hash);

      ASSERT_EQ(Payload(filter), want.Bytes());
      ASSERT_EQ(filter.inserted_count(), inserted.size());
      ASSERT_EQ(filter.Count(Hashes{inserted}), inserted.size()) << "false negatives";
      const std::vector<uint64_t> others = RandomKeys(700, random());
      size_t positives = 0;
      for (const uint64_t key : others) {
        const bool maybe = want.Contains(ReferenceHash(key, spec));
        ASSERT_EQ(filter.Contains(key), maybe);
        positives += maybe;
      }
      ASSERT_EQ(filter.Count(others), positives);
    }
    filter.Clear();
    EXPECT_EQ(filter.Count(Hashes{inserted}), 0u);
    EXPECT_EQ(filter.inserted_count(), 0u);
  }
}

TEST_P(BloomFilterTest, EngineGivesTheSame) {
  const std::vector<uint64_t> keys = RandomKeys(50'000, /*seed=*/1);
  const std::vector<uint64_t> queries = RandomKeys(100'000, /*seed=*/1);
  const FilterOptions options{.capacity = 50'000, .backend = &backend()};
  BloomFilter one(options), many(options);
  one.Insert(keys);
  for (const unsigned threads : {1u, 3u}) {
    const Engine engine({.threads = threads, .backend = &backend()});
    many.Clear();
    EXPECT_EQ(engine.Insert(many, keys), keys.size());
    EXPECT_EQ(Payload(many), Payload(one));
    std::vector<uint64_t> want(BitmapWords(queries.size())), got(want);
    EXPECT_EQ(one.Contains(queries, Bitmap(want)), engine.Contains(many, queries, Bitmap(got)));
    EXPECT_EQ(got, want);
  }
}

TEST_P(BloomFilterTest, MergeIsTheUnionAndIntersectKeepsWhatIsCommon) {
  const std::vector<uint64_t> keys = RandomKeys(3000, /*seed=*/2);
  const FilterOptions options{.capacity = 3000, .fpr = 0.001, .backend = &backend()};
  BloomFilter a(options), b(options), both(options);
  a.Insert(std::span(keys).first(2000));
  b.Insert(std::span(keys).last(2000));
  both.Insert(keys);
  EXPECT_NEAR(a.estimated_union_count(b), 3000, 60);
  EXPECT_NEAR(a.estimated_intersection_count(b), 1000, 60);
  EXPECT_DOUBLE_EQ(a.estimated_union_count(b), both.estimated_count());

  BloomFilter common = a.Clone();
  common.Intersect(b);
  EXPECT_EQ(common.inserted_count(), 2000u);
  EXPECT_EQ(common.Count(std::span(keys).subspan(1000, 1000)), 1000u) << "false negatives";
  const std::vector<uint64_t> others = RandomKeys(20'000, /*seed=*/3);
  for (const uint64_t key : others) {
    EXPECT_TRUE(!common.Contains(key) || (a.Contains(key) && b.Contains(key)));
  }
  EXPECT_LE(common.Count(others), std::min(a.Count(others), b.Count(others)));

  a.Merge(b);
  EXPECT_EQ(Payload(a), Payload(both));
  EXPECT_EQ(a.inserted_count(), 4000u);
}

TEST(BloomFilterErrorsTest, FiltersThatDoNotMatchAreNotCombined) {
  const HashSpec hash{HashKind::kXxh3, 5};
  BloomFilter filter = Make(64, 10, hash);
  filter.Insert(RandomKeys(20, 1));
  const std::vector<std::byte> before = Payload(filter);
  const auto expect = [&](const BloomFilter& other, const std::string& text) {
    const MergeCheck check = CanMerge(filter, other);
    EXPECT_FALSE(check);
    EXPECT_NE(check.reason.find(text), std::string::npos) << check.reason;
    ExpectError([&] { filter.Merge(other); }, ErrorCode::kIncompatible, text);
    ExpectError([&] { filter.Intersect(other); }, ErrorCode::kIncompatible, text);
    ExpectError([&] { filter.estimated_union_count(other); }, ErrorCode::kIncompatible, text);
    EXPECT_EQ(Payload(filter), before);
    EXPECT_EQ(filter.inserted_count(), 20u);
  };
  expect(Make(64, 11, hash), "640 bits with 7 hashes and 704 bits with 8 hashes");
  expect(Make(80, 10, hash), "640 bits with 7 hashes and 640 bits with 6 hashes");
  expect(Make(64, 10, {HashKind::kXxh3, 6}), "xxh3 with seed 5 and xxh3 with seed 6");
  EXPECT_TRUE(CanMerge(filter, Make(64, 10, hash)));
  EXPECT_EQ(CanMerge(filter, SplitBlockBloomFilter({.capacity = 10})).reason,
            "filters of kinds bloom and split-block cannot be merged");
}

TEST_P(BloomFilterTest, EstimatesAreThoseOfTheFill) {
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

TEST(BloomFilterReadOnlyTest, AMappedFilterAnswersAndRefusesEveryChange) {
  const TemporaryFolder folder;
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  BloomFilter built({.capacity = 100});
  built.Insert(keys);
  built.Save(folder / "a");
  BloomFilter mapped = BloomFilter::Map(folder / "a");
  ASSERT_TRUE(mapped.read_only());
  EXPECT_EQ(mapped.Count(keys), 100u);
  EXPECT_FALSE(mapped.Insert(uint64_t{5}));
  EXPECT_FALSE(mapped.Insert("a string"));
  EXPECT_EQ(mapped.Insert(keys), 0u);
  ExpectError([&] { mapped.Clear(); }, ErrorCode::kReadOnly, "mapped from a file");
  ExpectError([&] { mapped.Merge(built); }, ErrorCode::kReadOnly, "mapped from a file");
  ExpectError([&] { mapped.Intersect(built); }, ErrorCode::kReadOnly, "mapped from a file");
  EXPECT_EQ(Payload(mapped), Payload(built));
  BloomFilter copy = mapped.Clone();
  EXPECT_EQ(Payload(copy), Payload(built));
  EXPECT_EQ(copy.num_hashes(), built.num_hashes());
  EXPECT_TRUE(copy.Insert(uint64_t{5}));
  EXPECT_EQ(BloomFilter::Load(folder / "a").inserted_count(), 100u);
  SplitBlockBloomFilter({.capacity = 1}).Save(folder / "b");
  ExpectFormatError([&] { BloomFilter::Load(folder / "b"); }, "filter kind", 16,
                    ErrorCode::kUnsupported);
}

INSTANTIATE_TEST_SUITE_P(Backends, BloomFilterTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace
}  // namespace tamis
