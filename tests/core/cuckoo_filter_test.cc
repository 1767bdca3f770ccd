// Tests of properties that only cuckoo filters have: sizes and observers. Their answers are tested
// in cuckoo_filter_model_test.cc and cuckoo_bulk_test.cc.
#include "tamis/filters/cuckoo_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/physical_memory.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_filter_test {

constexpr ErrorCode kInvalid = ErrorCode::kInvalidArgument;

template <typename Filter>
class CuckooFilterTest : public testing::Test {
 protected:
  static constexpr int kWidth = Filter::kFingerprintBits;

  static auto Make(const FilterOptions& options) {
    return [options] { Filter filter(options); };
  }
};
TYPED_TEST_SUITE(CuckooFilterTest, CuckooFilters, CuckooFilterName);

TYPED_TEST(CuckooFilterTest, CapacityAndRateGiveTheSmallestTable) {
  for (const uint64_t capacity : {1, 8, 1000, 300'000}) {
    for (const double fpr : {0.0, 0.2, 1e-4}) {
      const TypeParam filter({.capacity = capacity, .fpr = fpr});
      EXPECT_EQ(filter.geometry(), CuckooGeometry(this->kWidth, capacity, fpr));
      EXPECT_EQ(filter.bytes(), filter.geometry().buckets() * ReferenceBucketBytes(this->kWidth));
      EXPECT_EQ(filter.num_slots(), filter.geometry().buckets() * ReferenceSlots(this->kWidth));
    }
  }
}

TYPED_TEST(CuckooFilterTest, BytesSetTheCapacity) {
  for (const uint64_t bytes : {16, 17, 100, 4096, 300'000}) {
    const TypeParam filter({.bytes = bytes});
    EXPECT_EQ(filter.geometry(), CuckooGeometryOfBytes(this->kWidth, bytes));
    EXPECT_EQ(filter.capacity(), CuckooCapacity(this->kWidth, filter.geometry()));
    const uint64_t most = filter.capacity();
    EXPECT_EQ(TypeParam({.capacity = most, .bytes = bytes}).capacity(), most);
    EXPECT_EQ(TypeParam({.capacity = 3, .bytes = bytes}).capacity(), 3u);
    EXPECT_EQ(TypeParam({.capacity = 3, .bytes = bytes}).bytes(), filter.bytes());
    ExpectError(this->Make({.capacity = most + 1, .bytes = bytes}), kInvalid,
                std::to_string(most + 1) + " keys do not fit in " + std::to_string(bytes) +
                    " bytes: a cuckoo filter of " + std::to_string(this->kWidth) +
                    "-bit fingerprints has room for " + std::to_string(most) + " there");
  }
  const TypeParam rare({.fpr = 1e-5, .bytes = 100'000});
  EXPECT_EQ(rare.capacity(), CuckooCapacity(this->kWidth, rare.geometry(), 1e-5));
}

TYPED_TEST(CuckooFilterTest, OptionsOutOfRange) {
  const uint64_t least = 2 * ReferenceBucketBytes(this->kWidth);
  for (const uint64_t bytes : {uint64_t{1}, least - 1, (uint64_t{1} << 42) + 8, ~uint64_t{0}}) {
    ExpectError(this->Make({.bytes = bytes}), kInvalid,
                std::to_string(bytes) + " bytes is out of range [" + std::to_string(least) + ",");
  }
  ExpectError(this->Make({.capacity = ~uint64_t{0}}), kInvalid,
              "cannot hold 18446744073709551615 keys");
  if (PhysicalMemory() != 0 && PhysicalMemory() < uint64_t{1} << 42) {
    ExpectError(this->Make({.bytes = uint64_t{1} << 42}), ErrorCode::kOutOfMemory,
                "cannot allocate 4398046511104 bytes");
  }
}

TYPED_TEST(CuckooFilterTest, RatesOutOfReachAreRefused) {
  ExpectError([] { TypeParam filter({.fpr = 1e-12, .bytes = 1000}); }, ErrorCode::kInvalidArgument,
              "1e-12 is out of reach of 1000 bytes");
}

TYPED_TEST(CuckooFilterTest, ValuesFollowTheInsertedKeys) {
  TypeParam filter({.capacity = 1000});
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/1);
  const auto expect = [&](uint64_t size) {
    EXPECT_EQ(filter.size(), size);
    EXPECT_EQ(filter.inserted_count(), size);
    EXPECT_EQ(filter.estimated_count(), static_cast<double>(size));
    EXPECT_DOUBLE_EQ(filter.load_factor(),
                     static_cast<double>(size) / static_cast<double>(filter.num_slots()));
    EXPECT_DOUBLE_EQ(filter.expected_fpr(), CuckooFpr(this->kWidth, static_cast<double>(size),
                                                      filter.geometry().buckets()));
    EXPECT_EQ(filter.Header().inserted, size);
    EXPECT_EQ(NumFingerprints(filter), size);
  };
  EXPECT_EQ(filter.Insert(std::span(keys).first(600)), 600u);
  expect(600);
  EXPECT_TRUE(filter.Insert(keys[0]));  // copies count
  EXPECT_TRUE(filter.Insert(keys[0]));
  expect(602);
  EXPECT_TRUE(filter.Insert("a string"));
  EXPECT_TRUE(filter.Contains("a string"));
  EXPECT_TRUE(filter.Erase("a string"));
  EXPECT_TRUE(filter.Erase(keys[0]));
  expect(601);
  EXPECT_EQ(filter.Erase(std::span(keys).first(600)), 600u);
  expect(1);
  EXPECT_TRUE(filter.Contains(keys[0]));
  filter.Clear();
  expect(0);
  EXPECT_EQ(Payload(filter), std::vector<std::byte>(filter.bytes()));
  EXPECT_EQ(filter.Insert(keys), 1000u);
  expect(1000);
}

TYPED_TEST(CuckooFilterTest, ARefusedKeyIsNotCounted) {
  TypeParam filter({.bytes = 64});
  for (uint64_t copy = 0; copy < 2 * ReferenceSlots(this->kWidth); ++copy) {
    EXPECT_TRUE(filter.Insert(uint64_t{5}));
  }
  EXPECT_FALSE(filter.Insert(uint64_t{5}));
  EXPECT_EQ(filter.Insert(std::vector<uint64_t>{5, 5}), 0u);
  EXPECT_EQ(filter.size(), 2 * ReferenceSlots(this->kWidth));
}

TYPED_TEST(CuckooFilterTest, MeasuredRatesAreThoseExpected) {
  // Enough probes to know the hits to about 2% at the lowest rate.
  constexpr uint64_t kProbes = TypeParam::kFingerprintBits == 16 ? 16'000'000 : 2'000'000;
  constexpr uint64_t kSome = 500'000;
  TypeParam filter({.capacity = 200'000});
  std::vector<uint64_t> keys(kSome);
  uint64_t in = 0;
  for (const double load : {0.5, 0.8, 1.0}) {
    const auto want = static_cast<uint64_t>(load * 200'000);
    std::vector<uint64_t> more(want - in);
    std::iota(more.begin(), more.end(), in);
    ASSERT_EQ(filter.Insert(more), more.size());
    in = want;
    uint64_t hits = 0;
    for (uint64_t first = 0; first < kProbes; first += kSome) {
      std::iota(keys.begin(), keys.end(), uint64_t{1'000'000} + first);
      hits += filter.Count(keys);
    }
    const double expected = filter.expected_fpr();
    EXPECT_NEAR(static_cast<double>(hits) / kProbes, expected,
                5 * std::sqrt(expected / kProbes) + 0.01 * expected)
        << "load " << load;
  }
}

// More buckets give a lower rate than a full table.
TYPED_TEST(CuckooFilterTest, LowerRatesAreMet) {
  constexpr uint64_t kCapacity = 50'000;
  const double full = TypeParam({.capacity = kCapacity}).expected_fpr();
  EXPECT_EQ(full, 0);
  TypeParam dense({.capacity = kCapacity});
  std::vector<uint64_t> keys(kCapacity);
  std::iota(keys.begin(), keys.end(), uint64_t{0});
  ASSERT_EQ(dense.Insert(keys), kCapacity);
  const double wanted = dense.expected_fpr() / 3;
  TypeParam filter({.capacity = kCapacity, .fpr = wanted});
  ASSERT_EQ(filter.Insert(keys), kCapacity);
  EXPECT_LE(filter.expected_fpr(), wanted);
  EXPECT_GT(filter.expected_fpr(), 0.99 * wanted);
  EXPECT_NEAR(static_cast<double>(filter.bytes()) / static_cast<double>(dense.bytes()), 3, 0.1);
  if (this->kWidth == 16) return;  // rates too low to measure quickly
  std::vector<uint64_t> others(4'000'000);
  std::iota(others.begin(), others.end(), kCapacity);
  const double measured = static_cast<double>(filter.Count(others)) / 4'000'000;
  EXPECT_NEAR(measured, wanted, 5 * std::sqrt(wanted / 4'000'000) + 0.01 * wanted);
}

}  // namespace tamis::cuckoo_filter_test
