// Sizes and rates of cuckoo filters, compared with an exact sum, a simulation and filled tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/sizing.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_sizing_test {

using cuckoo::Geometry;

constexpr int kWidths[] = {8, 12, 16};
constexpr uint32_t MaxChunkBuckets(int bits) { return 262'144 / ReferenceBucketBytes(bits); }

// Returns a number between 10^low and 10^high; every order of magnitude is equally likely.
uint64_t LogUniform(Random& random, double low, double high) {
  return static_cast<uint64_t>(std::pow(10, low + (high - low) * random.Unit()));
}

// A key falls into one of all classes, and every other key takes one class.
double ExactFpr(int bits, uint64_t keys, uint64_t buckets) {
  const long double classes = (std::exp2(bits) - 1) * static_cast<double>(buckets) / 2;
  return static_cast<double>(
      -std::expm1(static_cast<long double>(keys) * std::log1p(-1 / classes)));
}

TEST(CuckooFprTest, EachClassHasTwoBuckets) {
  constexpr Geometry kGeometry{3, 14};
  std::set<CuckooClass> classes;
  for (uint32_t chunk = 0; chunk < kGeometry.chunks; ++chunk) {
    for (uint32_t bucket = 0; bucket < kGeometry.chunk_buckets; ++bucket) {
      for (uint32_t f = 1; f <= 255; ++f) {
        classes.insert(
            ClassOf({chunk, bucket, ReferencePartner(bucket, f, kGeometry.chunk_buckets), f}));
      }
    }
  }
  EXPECT_EQ(classes.size(), kGeometry.buckets() / 2 * 255);
}

TEST(CuckooFprTest, IsTheExactRate) {
  for (const int bits : kWidths) {
    for (const uint64_t buckets :
         {uint64_t{2}, uint64_t{100}, uint64_t{1} << 20, uint64_t{1} << 39}) {
      for (const double load : {0.01, 0.3, 0.5, 0.8, 0.97, 1.0}) {
        const auto keys = static_cast<uint64_t>(
            std::ceil(load * static_cast<double>(buckets * ReferenceSlots(bits))));
        const double want = ExactFpr(bits, keys, buckets);
        EXPECT_NEAR(CuckooFpr(bits, static_cast<double>(keys), buckets) / want, 1,
                    0.005 / static_cast<double>(std::min<uint64_t>(buckets, 1000)) + 1e-12)
            << bits << " bits, " << keys << " keys in " << buckets << " buckets";
      }
    }
    EXPECT_EQ(CuckooFpr(bits, 0, 2), 0);
  }
}

// Simulates the effect of hashes on a set of classes, without a table.
TEST(CuckooFprTest, EqualsASimulation) {
  constexpr Geometry kGeometry{3, 600};
  constexpr uint64_t kProbes = 500'000;
  for (const int bits : {8, 12}) {
    for (const uint64_t keys : {1000, 6000}) {
      std::set<CuckooClass> in;
      for (uint64_t i = 0; i < keys; ++i)
        in.insert(ClassOf(ReferenceLocate(Mix(i), kGeometry, bits)));
      uint64_t hits = 0;
      for (uint64_t i = 0; i < kProbes; ++i) {
        hits += in.contains(ClassOf(ReferenceLocate(Mix(keys + i), kGeometry, bits)));
      }
      const double want = CuckooFpr(bits, static_cast<double>(keys), kGeometry.buckets());
      const double sigma = std::sqrt(want / kProbes);
      EXPECT_NEAR(static_cast<double>(hits) / kProbes, want, 5 * sigma + 0.01 * want)
          << bits << " bits, " << keys << " keys";
    }
  }
}

// Full tables have the rates and sizes that cuckoo_filter.h documents.
TEST(CuckooGeometryTest, FullTablesHaveTheRatesAndSizesOfTheDocumentation) {
  for (const uint64_t capacity : {1'000'000, 3'456'789, 10'000'000, 100'000'000}) {
    const auto expect = [&](int bits, double max_bits_per_key, double fpr) {
      const Geometry geometry = CuckooGeometry(bits, capacity);
      const double bytes = static_cast<double>(geometry.buckets()) * ReferenceBucketBytes(bits);
      EXPECT_LE(8 * bytes / static_cast<double>(capacity), max_bits_per_key) << capacity;
      EXPECT_NEAR(CuckooFpr(bits, static_cast<double>(capacity), geometry.buckets()) / fpr, 1,
                  0.03);
    };
    expect(8, 8.5, 0.030);
    expect(12, 13.3, 0.0024);
    expect(16, 16.8, 0.00012);
  }
}

TEST(CuckooGeometryTest, IsTheSmallestThatHolds) {
  Random random(/*seed=*/1);
  for (const int bits : kWidths) {
    for (int i = 0; i < 300; ++i) {
      const uint64_t capacity = i < 100 ? static_cast<uint64_t>(i + 1) : LogUniform(random, 0, 9.5);
      const double fpr = i % 2 == 0 ? 0 : std::pow(10, -4 * random.Unit() - 0.31);
      SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(capacity) + " keys, rate " +
                   std::to_string(fpr));
      const Geometry geometry = CuckooGeometry(bits, capacity, fpr);
      const auto holds = [&](const Geometry& other) {
        const bool rate_met = fpr == 0 || CuckooFpr(bits, static_cast<double>(capacity),
                                                    other.buckets()) <= fpr * (1 + 1e-12);
        return rate_met && CuckooCapacity(bits, other) >= capacity;
      };
      ASSERT_GE(geometry.chunks, 1u);
      ASSERT_GE(geometry.chunk_buckets, 2u);
      ASSERT_EQ(geometry.chunk_buckets % 2, 0u);
      ASSERT_LE(geometry.chunk_buckets, MaxChunkBuckets(bits));
      EXPECT_TRUE(holds(geometry));
      if (geometry.chunk_buckets > 2) {
        EXPECT_FALSE(holds({geometry.chunks, geometry.chunk_buckets - 2}));
      }
      if (geometry.chunks > 1) {
        EXPECT_FALSE(holds({geometry.chunks - 1, MaxChunkBuckets(bits)}));
      }
    }
  }
}

TEST(CuckooGeometryTest, GrowsWithTheCapacityAndWithLowerRates) {
  Random random(/*seed=*/2);
  for (const int bits : kWidths) {
    std::vector<uint64_t> capacities(500);
    for (uint64_t& capacity : capacities) capacity = LogUniform(random, 0, 9);
    std::sort(capacities.begin(), capacities.end());
    uint64_t last = 0;
    for (const uint64_t capacity : capacities) {
      const uint64_t buckets = CuckooGeometry(bits, capacity).buckets();
      EXPECT_GE(buckets, last) << bits << " bits, " << capacity << " keys";
      last = buckets;
      EXPECT_GE(CuckooGeometry(bits, capacity, 1e-4).buckets(), buckets);
      EXPECT_GE(CuckooGeometry(bits, capacity, 1e-5).buckets(),
                CuckooGeometry(bits, capacity, 1e-4).buckets());
    }
  }
}

TEST(CuckooCapacityTest, IsTheInverseOfGeometry) {
  Random random(/*seed=*/3);
  for (const int bits : kWidths) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t wanted = LogUniform(random, 0, 9);
      const double fpr = i % 2 == 0 ? 0 : std::pow(10, -4 * random.Unit() - 0.31);
      const Geometry geometry = CuckooGeometry(bits, wanted, fpr);
      const uint64_t capacity = CuckooCapacity(bits, geometry, fpr);
      EXPECT_GE(capacity, wanted);
      EXPECT_EQ(CuckooGeometry(bits, capacity, fpr), geometry) << capacity;
      EXPECT_NE(CuckooGeometry(bits, capacity + 1, fpr), geometry) << capacity;
    }
    // The capacity is at most the number of slots, and at least one.
    for (const Geometry geometry : {Geometry{1, 2}, {4, 2}, {1000, 2}, {3, 100}}) {
      EXPECT_GE(CuckooCapacity(bits, geometry), 1u);
      EXPECT_LE(CuckooCapacity(bits, geometry), geometry.buckets() * ReferenceSlots(bits));
      EXPECT_EQ(CuckooCapacity(bits, geometry, 1e-12), 1u);
    }
    EXPECT_EQ(CuckooCapacity(bits, {1, 2}), 2 * ReferenceSlots(bits));
  }
}

TEST(CuckooGeometryTest, OfBytesIsNearlyThatLarge) {
  Random random(/*seed=*/4);
  for (const int bits : kWidths) {
    const uint64_t bucket = ReferenceBucketBytes(bits);
    for (int i = 0; i < 500; ++i) {
      const uint64_t bytes = 2 * bucket + LogUniform(random, 0, 12) - 1;
      const Geometry geometry = CuckooGeometryOfBytes(bits, bytes);
      ASSERT_LE(geometry.buckets() * bucket, bytes);
      // Chunks are equal and have an even number of buckets.
      ASSERT_GT((geometry.buckets() + 2 * geometry.chunks) * bucket, bytes);
      ASSERT_LE(geometry.chunk_buckets, MaxChunkBuckets(bits));
      ASSERT_EQ(geometry.chunks, (bytes / bucket - 1) / MaxChunkBuckets(bits) + 1);
    }
    EXPECT_EQ(CuckooGeometryOfBytes(bits, 2 * bucket), (Geometry{1, 2}));
    EXPECT_EQ(CuckooGeometryOfBytes(bits, 262'144), (Geometry{1, MaxChunkBuckets(bits)}));
    EXPECT_EQ(CuckooGeometryOfBytes(bits, uint64_t{1} << 42),
              (Geometry{1 << 24, MaxChunkBuckets(bits)}));
  }
}

TEST(CuckooSizingErrorsTest, SayTheValueAndTheRange) {
  constexpr ErrorCode kCode = ErrorCode::kInvalidArgument;
  for (const int bits : {0, 7, 10, 32}) {
    const std::string text =
        "fingerprints of " + std::to_string(bits) + " bits; allowed: 8, 12, 16";
    ExpectError([&] { CuckooFpr(bits, 1, 2); }, kCode, text);
    ExpectError([&] { CuckooGeometry(bits, 1); }, kCode, text);
    ExpectError([&] { CuckooGeometryOfBytes(bits, 100); }, kCode, text);
    ExpectError([&] { CuckooCapacity(bits, {1, 2}); }, kCode, text);
  }
  for (const int bits : kWidths) {
    for (const double fpr : {-1.0, 0.6, 1e-13, std::nan("")}) {
      ExpectError([&] { CuckooGeometry(bits, 10, fpr); }, kCode, "is out of range [1e-12, 0.5]");
      ExpectError(
          [&] {
            CuckooCapacity(bits, {1, 2}, fpr);
          },
          kCode, "is out of range [1e-12, 0.5]");
    }
    const std::string most = "it has at most 16777216 chunks of 262144 bytes";
    ExpectError([&] { CuckooGeometry(bits, ~uint64_t{0}); }, kCode,
                "cannot hold 18446744073709551615 keys: " + most);
    ExpectError([&] { CuckooGeometry(bits, uint64_t{1} << 40, 1e-12); }, kCode,
                "cannot hold 1099511627776 keys at a false-positive rate of 1e-12: " + most);
    const uint64_t least = 2 * ReferenceBucketBytes(bits);
    for (const uint64_t bytes : {uint64_t{0}, least - 1, (uint64_t{1} << 42) + 8, ~uint64_t{0}}) {
      ExpectError([&] { CuckooGeometryOfBytes(bits, bytes); }, kCode,
                  std::to_string(bytes) + " bytes is out of range [" + std::to_string(least) +
                      ", 4398046511104]");
    }
  }
}

template <typename Filter>
class CuckooFillTest : public testing::Test {};
TYPED_TEST_SUITE(CuckooFillTest, CuckooFilters, CuckooFilterName);

// bench/cuckoo_table.cc does the same with more keys and trials.
TYPED_TEST(CuckooFillTest, CapacityKeysGoIn) {
  uint64_t next = 0;
  for (const auto& [capacity, trials] : {std::pair(1, 5),
                                         {7, 20},
                                         {8, 20},
                                         {9, 50},
                                         {33, 200},
                                         {150, 200},
                                         {1000, 200},
                                         {10'000, 50},
                                         {100'000, 10},
                                         {1'000'000, 1}}) {
    for (int trial = 0; trial < trials; ++trial) {
      const auto keys = static_cast<uint64_t>(capacity);
      TypeParam filter({.capacity = keys, .hash = {HashKind::kXxh3, static_cast<uint64_t>(trial)}});
      std::vector<uint64_t> values(keys);
      for (uint64_t& value : values) value = trial % 2 == 0 ? next++ : Mix(next++);
      ASSERT_EQ(filter.Insert(values), keys) << "trial " << trial << " of " << capacity << " keys";
      ASSERT_EQ(filter.size(), keys);
      if (trial == 0) {
        ASSERT_EQ(filter.Count(values), keys);
      }
    }
  }
}

}  // namespace tamis::cuckoo_sizing_test
