// Scalable filters: no key is lost and the bound holds for any number of layers, with limits and
// after erasing.
#include "tamis/filters/scalable_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/src/filters/base/filter_access.h"
#include "tamis/error.h"
#include "tamis/filters/set_operations.h"
#include "tamis/filters/sizing.h"
#include "tamis/physical_memory.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::scalable_filter_test {

using SplitBlockScalable = ScalableFilter<SplitBlockBloomFilter>;
using BloomScalable = ScalableFilter<BloomFilter>;

template <typename T>
class ScalableFilterTest : public testing::Test {};
using AllKinds =
    testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableFilterTest, AllKinds);

// The rates of full layers, by sizing.h.
double FullRate(const SplitBlockBloomFilter& layer) {
  return SplitBlockFpr(static_cast<double>(layer.capacity()), layer.num_blocks());
}
double FullRate(const BloomFilter& layer) { return layer.theoretical_fpr(); }
template <int kBits>
double FullRate(const CuckooFilter<kBits>& layer) {
  return CuckooFpr(kBits, static_cast<double>(layer.capacity()), layer.geometry().buckets());
}

template <typename F>
double SumOfLayerRates(const ScalableFilter<F>& filter) {
  double sum = 0;
  for (const F& layer : filter.layers()) sum += FullRate(layer);
  return sum;
}

// Inserts a million keys into a filter that began at a thousand. No key is lost at any doubling,
// and the rate is below the bound, as measured and as reported by the filter.
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

// A filter that grows from a thousand to a million keys, with default options, takes at most 2.2
// times the memory of a filter of the right size. With cuckoo layers this holds if the bound is a
// dozen times the rate of a full table; bench/NOTES.md explains why.
template <typename F>
void ExpectAtMost2Point2Times(double fpr) {
  SCOPED_TRACE(fpr);
  ScalableFilter<F> filter({.initial_capacity = 1000, .fpr = fpr});
  ASSERT_EQ(filter.Insert(RandomKeys(1'000'000, /*seed=*/1)), 1'000'000u);
  const F right({.capacity = 1'000'000, .fpr = fpr});
  EXPECT_LE(static_cast<double>(filter.bytes()), 2.2 * static_cast<double>(right.bytes()));
  EXPECT_LT(filter.expected_fpr(), fpr);
}

TEST(ScalableFilterMemoryTest, IsAtMost2Point2TimesAFilterOfTheRightSize) {
  for (const double fpr : {0.05, 0.01, 0.001, 0.0001}) {
    ExpectAtMost2Point2Times<SplitBlockBloomFilter>(fpr);
    ExpectAtMost2Point2Times<BloomFilter>(fpr);
  }
  for (const double fpr : {0.05, 0.01, 0.002}) ExpectAtMost2Point2Times<CuckooFilter<16>>(fpr);
  ExpectAtMost2Point2Times<CuckooFilter<12>>(0.05);
  ExpectAtMost2Point2Times<CuckooFilter<8>>(0.4);
}

// The sum p (1 - r) (1 + r + r^2 ...) is below p for any number of layers.
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

// A common claim is that a scalable filter may answer "no" as soon as one layer answers "no". Then
// nearly all keys would be lost that are not in this layer.
TEST(ScalableFilterMythTest, OneLayerThatSaysAbsentProvesNothing) {
  SplitBlockScalable filter({.initial_capacity = 100, .fpr = 0.05});
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
  size_t positives = 0;
  for (const uint64_t key : RandomKeys(10'000, /*seed=*/2)) {
    const bool maybe = std::any_of(filter.layers().begin(), filter.layers().end(),
                                   [key](const auto& layer) { return layer.Contains(key); });
    EXPECT_EQ(filter.Contains(key), maybe);
    positives += maybe;
  }
  EXPECT_GT(positives, 50u);
}

// Layers of Bloom filters have the rates p (1 - r), p (1 - r) r, ... except for the rounding of
// sizes.
TEST(ScalableFilterBoundTest, RatesOfLayersAreAGeometricSequence) {
  for (const double tightening : {0.5, 0.85}) {
    BloomScalable filter({.initial_capacity = 10'000, .fpr = 0.01, .tightening = tightening});
    filter.Insert(RandomKeys(300'000, /*seed=*/1));
    ASSERT_EQ(filter.layers().size(), 5u);
    double want = 0.01 * (1 - tightening);
    for (const BloomFilter& layer : filter.layers()) {
      EXPECT_LE(FullRate(layer), want * (1 + 0.01));
      EXPECT_NEAR(FullRate(layer) / want, 1, 0.01);
      want *= tightening;
    }
  }
}

// Later cuckoo layers can use the part of the bound that earlier layers did not use. So they can be
// full tables.
TEST(ScalableFilterBoundTest, CuckooLayersAreFullTablesAsLongAsTheBoundAllows) {
  ScalableFilter<CuckooFilter<16>> filter({.initial_capacity = 10'000, .fpr = 0.01, .growth = 1});
  filter.Insert(RandomKeys(300'000, /*seed=*/1));
  ASSERT_EQ(filter.layers().size(), 30u);
  const CuckooFilter<16> full({.capacity = 10'000});
  for (const auto& layer : filter.layers()) EXPECT_EQ(layer.bytes(), full.bytes());
  EXPECT_LT(SumOfLayerRates(filter), 0.01);
}

// At the limit an insertion is refused, and all inserted keys stay in.
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

// The last layer is as large as the limit allows. A layer that is too small to be worth it is not
// made.
template <typename F>
void ExpectLimitIsUsed() {
  const ScalableFilter<F> one({.initial_capacity = 10'000});
  for (const double share : {1.02, 2.0, 3.0, 5.0, 6.9}) {
    SCOPED_TRACE(share);
    const auto limit = static_cast<uint64_t>(share * static_cast<double>(one.bytes()));
    ScalableFilter<F> filter({.initial_capacity = 10'000, .max_bytes = limit});
    const std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/1);
    const size_t n = filter.Insert(keys);
    EXPECT_EQ(n, filter.capacity());
    EXPECT_EQ(filter.Count(std::span(keys).first(n)), n);
    EXPECT_LE(filter.bytes(), limit);
    EXPECT_GE(static_cast<double>(filter.bytes()), 0.88 * static_cast<double>(limit));
    EXPECT_LT(SumOfLayerRates(filter), 0.01);
  }
}

TEST(ScalableFilterLimitTest, TheLastLayerFillsTheLimit) {
  ExpectLimitIsUsed<SplitBlockBloomFilter>();
  ExpectLimitIsUsed<BloomFilter>();
  ExpectLimitIsUsed<CuckooFilter<16>>();
}

TEST(ScalableFilterErrorsTest, OptionsOutOfRange) {
  const auto expect = [](const ScalableOptions& options, const std::string& text) {
    ExpectError([&] { BloomScalable{options}; }, ErrorCode::kInvalidArgument, text);
  };
  expect({.initial_capacity = 0}, "initial capacity of at least 1");
  expect({.fpr = 0}, "false-positive rate of a scalable filter is 0; allowed: 6.66667e-12 to 0.5");
  expect({.fpr = kMinFpr}, "false-positive rate of a scalable filter is 1e-12");
  expect({.growth = 0.5}, "growth of a scalable filter is 0.5; allowed: 1 to 1024");
  expect({.growth = std::nan("")}, "growth");
  expect({.tightening = 1}, "tightening of a scalable filter is 1; allowed: 0.01 to 0.99");
  EXPECT_NO_THROW(BloomScalable({.initial_capacity = 10, .fpr = 6.67e-12}));
  const BloomScalable filter({.initial_capacity = 10});
  EXPECT_EQ(CanMerge(filter, filter).reason,
            "filters of kind scalable cannot be merged: scalable filters have layers of different "
            "sizes; query both");
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
  ExpectError([&] { filter.Compact(Keys()); }, ErrorCode::kInvalidArgument, "0 keys");
}

// Random insertions and erasures of present keys: no present key is ever lost, in any layer, and
// nearly all erasures succeed.
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

// If keys are inserted and erased in equal numbers, the filter does not grow forever: it reuses the
// room of erased keys.
TEST(ScalableCuckooTest, ErasedRoomIsUsedAgain) {
  ScalableFilter<CuckooFilter<16>> filter({.initial_capacity = 1000, .fpr = 0.01});
  Random random(/*seed=*/6);
  std::vector<uint64_t> present = RandomKeys(6000, /*seed=*/7);
  ASSERT_EQ(filter.Insert(present), present.size());
  const size_t layers = filter.layers().size();
  for (int step = 0; step < 50'000; ++step) {
    uint64_t& key = present[random.Below(present.size())];
    if (!filter.Erase(key)) continue;
    key = random();
    ASSERT_TRUE(filter.Insert(key));
  }
  EXPECT_EQ(filter.layers().size(), layers);
  EXPECT_EQ(filter.Count(present), present.size()) << "false negatives";
  for (const auto& layer : filter.layers()) EXPECT_LE(layer.inserted_count(), layer.capacity());
}

TEST(ScalableFilterMoveTest, ToItselfChangesNothing) {
  BloomScalable filter({.initial_capacity = 10});
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  filter.Insert(keys);
  BloomScalable& self = filter;
  filter = std::move(self);
  EXPECT_EQ(filter.Count(keys), keys.size());
  filter.Clear();
  EXPECT_EQ(filter.Count(keys), 0u);
}

// Each of two layers fits into memory, but not both. The test takes no memory, because nothing is
// written to the layers.
TEST(ScalableFilterMemoryTest, LayersAreSummed) {
  using Layer = CuckooFilter<16>;
  const uint64_t memory = PhysicalMemory();
  ASSERT_GT(memory, 0u);
  std::optional<ScalableFilter<Layer>> filter;
  try {
    filter.emplace(ScalableOptions{.initial_capacity = memory / 10 * 3, .fpr = 0.5, .growth = 1});
  } catch (const Error& error) {
    ASSERT_EQ(error.code(), ErrorCode::kOutOfMemory);
    GTEST_SKIP() << "the system hands out no more memory than it has free";
  }
  ASSERT_LT(filter->bytes(), memory);
  ASSERT_GT(2 * filter->bytes(), memory);
  auto& layer = const_cast<Layer&>(filter->layers()[0]);
  detail::FilterAccess::SetInserted(layer, layer.capacity());
  EXPECT_FALSE(filter->Insert(uint64_t{1}));
  EXPECT_EQ(filter->layers().size(), 1u);
}

}  // namespace tamis::scalable_filter_test
