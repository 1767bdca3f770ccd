// Scalable filters: no key is lost and the bound is kept over any number of layers, limits, and
// erasing.
#include "tamis/scalable_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/engine.h"
#include "tamis/error.h"
#include "tamis/set_operations.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

using SplitBlockScalable = ScalableFilter<SplitBlockBloomFilter>;
using BloomScalable = ScalableFilter<BloomFilter>;

template <typename T>
class ScalableFilterTest : public testing::Test {};
using AllKinds =
    testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableFilterTest, AllKinds);

template <typename F>
double SumOfLayerRates(const ScalableFilter<F>& filter) {
  double sum = 0, fpr = filter.options().fpr * (1 - filter.options().tightening);
  for (size_t i = 0; i < filter.layers().size(); ++i, fpr *= filter.options().tightening)
    sum += fpr;
  return sum;
}

// A million keys into a filter that began at a thousand: nothing is lost at any doubling, and the
// rate is below the bound, as measured and as the filter itself says.
TYPED_TEST(ScalableFilterTest, AMillionKeysFromAThousand) {
  constexpr double kFpr = 0.02;
  ScalableFilter<TypeParam> filter({.initial_capacity = 1000, .fpr = kFpr});
  const std::vector<uint64_t> keys = RandomKeys(1'000'000, /*seed=*/1);
  const std::vector<uint64_t> absent = RandomKeys(400'000, /*seed=*/2);
  size_t n = 0;
  for (const size_t want :
       {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 64'000, 128'000, 256'000, 512'000, 1'000'000}) {
    ASSERT_EQ(filter.Insert(std::span(keys).subspan(n, want - n)), want - n);
    n = want;
    ASSERT_EQ(filter.Count(std::span(keys).first(n)), n) << "false negatives";
    ASSERT_EQ(filter.inserted_count(), n);
    const double measured = static_cast<double>(filter.Count(absent)) / 400'000;
    EXPECT_LT(measured, kFpr) << n << " keys";
    EXPECT_LT(filter.expected_fpr(), kFpr) << n << " keys";
  }
  EXPECT_EQ(filter.layers().size(), 10u);
  EXPECT_LT(SumOfLayerRates(filter), kFpr);
  EXPECT_EQ(filter.capacity(), 1'023'000u);
  for (size_t i = 0; i < 2000; ++i) ASSERT_TRUE(filter.Contains(keys[i * 500]));
}

// With classic layers the price of not knowing the number is at most 2.2 times the memory.
TEST(ScalableFilterMemoryTest, AtMost2Point2TimesThatOfAFilterOfTheRightSize) {
  for (const double fpr : {0.001, 0.0001}) {
    BloomScalable filter({.initial_capacity = 1000, .fpr = fpr});
    ASSERT_EQ(filter.Insert(RandomKeys(1'000'000, /*seed=*/1)), 1'000'000u);
    const BloomFilter right({.capacity = 1'000'000, .fpr = fpr});
    EXPECT_LE(static_cast<double>(filter.bytes()), 2.2 * static_cast<double>(right.bytes()));
    EXPECT_LT(filter.expected_fpr(), fpr);
  }
}

// The sum p (1 - r) (1 + r + r^2 ...) is below p however many layers there are.
TEST(ScalableFilterBoundTest, HoldsForAnyNumberOfLayers) {
  for (const double tightening : {0.3, 0.5, 0.9}) {
    BloomScalable filter(
        {.initial_capacity = 64, .fpr = 0.3, .growth = 1, .tightening = tightening});
    const std::vector<uint64_t> absent = RandomKeys(50'000, /*seed=*/1);
    Random random(/*seed=*/3);
    while (filter.layers().size() < 20) ASSERT_TRUE(filter.Insert(random()));
    EXPECT_LT(filter.expected_fpr(), 0.3);
    EXPECT_LT(SumOfLayerRates(filter), 0.3);
    EXPECT_LT(static_cast<double>(filter.Count(absent)) / 50'000, 0.31);
  }
}

// It is said that a scalable filter may answer "absent" as soon as one layer does. With that rule
// nearly every key but those of one layer would be lost.
TEST(ScalableFilterMythTest, OneLayerThatSaysAbsentProvesNothing) {
  SplitBlockScalable filter({.initial_capacity = 100});
  const std::vector<uint64_t> keys = RandomKeys(10'000, /*seed=*/1);
  filter.Insert(keys);
  ASSERT_GT(filter.layers().size(), 5u);
  size_t all_layers_say_maybe = 0;
  for (const uint64_t key : keys) {
    const auto says_maybe = [key](const auto& layer) { return layer.Contains(key); };
    all_layers_say_maybe += std::all_of(filter.layers().begin(), filter.layers().end(), says_maybe);
    EXPECT_TRUE(std::any_of(filter.layers().begin(), filter.layers().end(), says_maybe));
  }
  EXPECT_LT(all_layers_say_maybe, 10u);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

class ScalableBackendTest : public BackendTest {};

// Every form of output agrees with asking one layer after another, on every backend.
TEST_P(ScalableBackendTest, BulkIsTheOrOfAllLayers) {
  SplitBlockScalable filter({.initial_capacity = 50, .fpr = 0.2, .backend = &backend()});
  std::vector<uint64_t> queries = RandomKeys(10'007, /*seed=*/1);
  filter.Insert(std::span(queries).first(3000));
  Random random(/*seed=*/4);
  for (size_t i = queries.size(); i > 1; --i) std::swap(queries[i - 1], queries[random.Below(i)]);
  std::vector<uint64_t> bits(BitmapWords(queries.size()));
  std::vector<uint8_t> bytes(queries.size());
  std::vector<uint32_t> rows(queries.size());
  size_t want = 0;
  for (const uint64_t key : queries) {
    want += std::any_of(filter.layers().begin(), filter.layers().end(),
                        [key](const auto& layer) { return layer.Contains(key); });
  }
  EXPECT_GT(want, 3050u);
  EXPECT_EQ(filter.Contains(queries, Bitmap(bits)), want);
  EXPECT_EQ(filter.Contains(queries, std::span<uint8_t>(bytes)), want);
  EXPECT_EQ(filter.Select(queries, rows), want);
  const Engine engine({.threads = 2, .backend = &backend()});
  EXPECT_EQ(engine.Count(filter, queries), want);
  for (size_t i = 0; i < queries.size(); ++i) {
    ASSERT_EQ(Bitmap(bits).Test(i), filter.Contains(queries[i])) << i;
    ASSERT_EQ(bytes[i], filter.Contains(queries[i])) << i;
  }
}

TEST_P(ScalableBackendTest, OneKeyAndBulkInsertTheSame) {
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/1);
  const ScalableOptions options{.initial_capacity = 37, .growth = 1.5, .backend = &backend()};
  BloomScalable one(options), bulk(options), threads(options);
  for (const uint64_t key : keys) ASSERT_TRUE(one.Insert(key));
  EXPECT_EQ(bulk.Insert(keys), keys.size());
  EXPECT_EQ(Engine({.threads = 2, .backend = &backend()}).Insert(threads, keys), keys.size());
  ASSERT_EQ(one.layers().size(), bulk.layers().size());
  ASSERT_EQ(one.layers().size(), threads.layers().size());
  for (size_t i = 0; i < one.layers().size(); ++i) {
    EXPECT_EQ(Payload(one.layers()[i]), Payload(bulk.layers()[i])) << "layer " << i;
    EXPECT_EQ(Payload(one.layers()[i]), Payload(threads.layers()[i])) << "layer " << i;
    EXPECT_LE(bulk.layers()[i].inserted_count(), bulk.layers()[i].capacity());
  }
  bulk.Clear();
  EXPECT_EQ(bulk.layers().size(), 1u);
  EXPECT_EQ(bulk.Count(keys), 0u);
  EXPECT_EQ(bulk.capacity(), 37u);
  EXPECT_EQ(bulk.inserted_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Backends, ScalableBackendTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

// At the limit an insertion is refused, and all that is in stays in.
TEST(ScalableFilterLimitTest, InsertReturnsFalseAtMaxBytes) {
  SplitBlockScalable filter({.initial_capacity = 1000, .max_bytes = 40'000});
  const std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/1);
  std::vector<uint64_t> rejected(keys.size());
  const size_t n = filter.Insert(keys, rejected);
  EXPECT_EQ(n, filter.capacity());
  EXPECT_GT(n, 2000u);
  EXPECT_LE(filter.bytes(), 40'000u);
  for (size_t i = 0; i < keys.size() - n; ++i) ASSERT_EQ(rejected[i], n + i);
  EXPECT_FALSE(filter.Insert(uint64_t{1}));
  EXPECT_FALSE(filter.Insert("a string"));
  EXPECT_EQ(filter.inserted_count(), n);
  EXPECT_EQ(filter.Count(std::span(keys).first(n)), n);
  ExpectError([] { SplitBlockScalable({.initial_capacity = 1000, .max_bytes = 100}); },
              ErrorCode::kInvalidArgument, "would exceed the limit of 100");
}

TEST(ScalableFilterErrorsTest, OptionsOutOfRange) {
  const auto expect = [](const ScalableOptions& options, const std::string& text) {
    ExpectError([&] { BloomScalable{options}; }, ErrorCode::kInvalidArgument, text);
  };
  expect({.initial_capacity = 0}, "initial capacity of at least 1");
  expect({.fpr = 0}, "false-positive rate 0");
  expect({.growth = 0.5}, "growth of a scalable filter is 0.5; allowed: 1 to 1024");
  expect({.growth = std::nan("")}, "growth");
  expect({.tightening = 1}, "tightening of a scalable filter is 1; allowed: 0.01 to 0.99");
  const TemporaryFolder folder;
  BloomScalable filter({.initial_capacity = 10});
  ExpectError([&] { filter.Save(folder / "a"); }, ErrorCode::kUnsupported, "cannot be saved");
  EXPECT_EQ(folder.NumFiles(), 0u);
  EXPECT_EQ(CanMerge(filter, filter).reason, "filters of kind scalable cannot be merged");
}

TEST(ScalableFilterCompactTest, GivesOneFilterOfTheRightSize) {
  const std::vector<uint64_t> keys = RandomKeys(20'000, /*seed=*/1);
  BloomScalable filter({.initial_capacity = 100, .fpr = 0.001, .hash = {HashKind::kXxh64, 3}});
  filter.Insert(keys);
  const BloomFilter compact = filter.Compact(keys);
  BloomFilter want({.capacity = 20'000, .fpr = 0.001, .hash = {HashKind::kXxh64, 3}});
  want.Insert(keys);
  EXPECT_EQ(Payload(compact), Payload(want));
  EXPECT_LT(compact.bytes(), filter.bytes());
  ExpectError([&] { filter.Compact(RandomKeys(1000, /*seed=*/2)); }, ErrorCode::kInvalidArgument,
              "of 1000 keys are not in the scalable filter");
  ExpectError([&] { filter.Compact(Keys()); }, ErrorCode::kInvalidArgument, "no keys");
}

// Random insertions and erasures of keys that are in: none that is in is ever lost, whichever layer
// it is in, and nearly all erasures succeed.
TEST(ScalableCuckooTest, EraseNeverLosesAKey) {
  ScalableFilter<CuckooFilter<12>> filter({.initial_capacity = 500, .fpr = 0.02});
  Random random(/*seed=*/5);
  std::vector<uint64_t> present;
  size_t refused = 0, erased = 0;
  for (int step = 0; step < 60'000; ++step) {
    if (present.empty() || random.Below(100) < 65) {
      present.push_back(random());
      ASSERT_TRUE(filter.Insert(present.back()));
    } else {
      const size_t at = random.Below(present.size());
      const bool done = filter.Erase(present[at]);
      (done ? erased : refused)++;
      present[at] = present.back();
      present.pop_back();
    }
    if (step % 5000 == 0) {
      ASSERT_EQ(filter.Count(present), present.size()) << "false negatives";
    }
  }
  EXPECT_EQ(filter.Count(present), present.size()) << "false negatives";
  EXPECT_GT(filter.layers().size(), 4u);
  EXPECT_LT(refused, erased / 20);
  EXPECT_EQ(filter.inserted_count(), present.size() + refused);

  std::vector<uint64_t> missing(present.size());
  const size_t done = filter.Erase(present, missing);
  EXPECT_GT(done, present.size() * 9 / 10);
  EXPECT_EQ(filter.inserted_count(), refused + present.size() - done);
  for (size_t i = 0; i < present.size() - done; ++i)
    ASSERT_TRUE(filter.Contains(present[missing[i]]));
}

// More copies than a cuckoo filter has slots for go into further layers.
TEST(ScalableCuckooTest, ManyCopiesOfAKeyFindRoom) {
  ScalableFilter<CuckooFilter<8>> filter({.initial_capacity = 100, .fpr = 0.4});
  const std::vector<uint64_t> copies(30, 42);
  EXPECT_EQ(filter.Insert(copies), 30u);
  EXPECT_EQ(filter.inserted_count(), 30u);
  EXPECT_EQ(filter.layers().size(), 4u);
  EXPECT_FALSE(filter.Erase(uint64_t{42})) << "more than one layer has it";
}

}  // namespace
}  // namespace tamis
