// The arithmetic of cuckoo filters, compared with tests/core/cuckoo_test_util.h and plain loops
// over slots.
#include "tamis/layout/cuckoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_test {

constexpr uint64_t kExtremeHashes[] = {
    0, 1, 0xFFFF, 0x10000, 0xFFFFFFFF, 0x100000000, 0xFFFFFFFFFFFF0000, ~uint64_t{0}};

template <typename Filter>
class CuckooTest : public testing::Test {
 protected:
  static constexpr int kWidth = Filter::kFingerprintBits;
  static constexpr uint32_t kSlots = ReferenceSlots(kWidth);
  static constexpr uint32_t kFingerprints = (1u << kWidth) - 1;
  using Word = cuckoo::Word<kWidth>;

  static Word MakeWord(const std::vector<uint32_t>& slots) {
    uint64_t word = 0;
    for (size_t s = 0; s < slots.size(); ++s) word |= uint64_t{slots[s]} << (kWidth * s);
    return static_cast<Word>(word);
  }

  // Returns a random value, often one at which borrows and carries could go wrong.
  static uint32_t DrawSlot(Random& random) {
    const uint32_t values[] = {0,
                               0,
                               1,
                               2,
                               kFingerprints,
                               kFingerprints - 1,
                               1u << (kWidth - 1),
                               (1u << (kWidth - 1)) - 1,
                               static_cast<uint32_t>(random.Below(kFingerprints + 1))};
    return values[random.Below(std::size(values))];
  }
  static std::vector<uint32_t> DrawSlots(Random& random) {
    std::vector<uint32_t> slots(kSlots);
    for (uint32_t& slot : slots) slot = DrawSlot(random);
    return slots;
  }

  static void ExpectSlots(const std::vector<uint32_t>& slots) {
    const Word word = MakeWord(slots);
    const auto zeros = static_cast<uint32_t>(std::count(slots.begin(), slots.end(), 0u));
    ASSERT_EQ(cuckoo::NumUsed<kWidth>(word), static_cast<int>(kSlots - zeros)) << word;
    const Word found = cuckoo::ZeroSlots<kWidth>(word);
    ASSERT_EQ(found != 0, zeros > 0) << word;
    if (zeros > 0) {
      const auto lowest = std::find(slots.begin(), slots.end(), 0u) - slots.begin();
      ASSERT_EQ(std::countr_zero(found), kWidth * (lowest + 1) - 1) << word;
    }
  }

  static bool Has(const std::vector<uint32_t>& slots, uint32_t fingerprint) {
    return std::find(slots.begin(), slots.end(), fingerprint) != slots.end();
  }
  static void ExpectPair(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                         uint32_t fingerprint) {
    ASSERT_EQ(cuckoo::PairContains<kWidth>(MakeWord(a), MakeWord(b), fingerprint),
              Has(a, fingerprint) || Has(b, fingerprint))
        << MakeWord(a) << ", " << MakeWord(b) << ", " << fingerprint;
  }
};
TYPED_TEST_SUITE(CuckooTest, CuckooFilters, CuckooFilterName);

TYPED_TEST(CuckooTest, ConstantsFollowTheFormat) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  static_assert(cuckoo::Bucket<kBits>::kSlots == ReferenceSlots(kBits));
  static_assert(sizeof(cuckoo::Word<kBits>) == ReferenceBucketBytes(kBits));
  static_assert(cuckoo::kFingerprints<kBits> == TestFixture::kFingerprints);
  static_assert(cuckoo::kSlotMask<kBits> == TestFixture::kFingerprints);
  static_assert(cuckoo::kMaxChunkBuckets<kBits> == 262144 / ReferenceBucketBytes(kBits));
  static_assert(cuckoo::kMaxChunks == 16777216);
  static_assert(cuckoo::kAlternateMix == 2654435761 && cuckoo::kAlternateMix % 2 == 1);
  for (const uint32_t fingerprint : {1u, 2u, TestFixture::kFingerprints}) {
    EXPECT_EQ(cuckoo::Broadcast<kBits>(fingerprint),
              this->MakeWord(std::vector<uint32_t>(this->kSlots, fingerprint)));
  }
}

// Computed by hand: bucket and chunk are digits of hash / 2^64 in mixed radix.
TEST(CuckooLocateTest, KnownPlaces) {
  const auto expect = [](uint64_t hash, cuckoo::Geometry geometry, uint32_t chunk, uint32_t bucket,
                         uint32_t fingerprint) {
    const cuckoo::Place place = cuckoo::Locate<8>(hash, geometry);
    EXPECT_EQ(place.chunk, chunk) << hash;
    EXPECT_EQ(place.bucket, bucket) << hash;
    EXPECT_EQ(place.fingerprint, fingerprint) << hash;
  };
  expect(0, {1, 2}, 0, 0, 1);
  expect(~uint64_t{0}, {1, 2}, 0, 1, 255);
  expect(~uint64_t{0}, {cuckoo::kMaxChunks, 65536}, cuckoo::kMaxChunks - 1, 65535, 255);
  expect(uint64_t{1} << 63, {1, 2}, 0, 1, 1);
  expect(uint64_t{1} << 63, {2, 2}, 1, 0, 1);
  expect(uint64_t{3} << 62 | 0x8000, {2, 10}, 1, 5, 128);
  expect(uint64_t{5} << 61, {3, 100}, 1, 87, 1);  // 3 * 5/8 = 1 7/8
  // With many chunks, even the lowest of the 48 bits count: 2^-48 * 2^24 * 2^16 = 2^-8.
  expect(uint64_t{255} << 16, {cuckoo::kMaxChunks, 65536}, 0, 0, 1);
  expect(uint64_t{256} << 16, {cuckoo::kMaxChunks, 65536}, 0, 1, 1);
}

TYPED_TEST(CuckooTest, LocateAndPartnerFollowTheSpecification) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  constexpr uint32_t kMaxBuckets = cuckoo::kMaxChunkBuckets<kBits>;
  for (const cuckoo::Geometry geometry : {cuckoo::Geometry{1, 2},
                                          {1, 100},
                                          {1, kMaxBuckets},
                                          {2, kMaxBuckets},
                                          {3, 4},
                                          {1000, 2222},
                                          {65537, kMaxBuckets - 2},
                                          {cuckoo::kMaxChunks, 2},
                                          {cuckoo::kMaxChunks, kMaxBuckets}}) {
    std::vector<uint64_t> hashes = RandomKeys(5000, /*seed=*/geometry.buckets());
    hashes.insert(hashes.end(), std::begin(kExtremeHashes), std::end(kExtremeHashes));
    for (const uint64_t hash : hashes) {
      const ReferencePlace want = ReferenceLocate(hash, geometry, kBits);
      const cuckoo::Place got = cuckoo::Locate<kBits>(hash, geometry);
      ASSERT_EQ(got.chunk, want.chunk) << hash;
      ASSERT_EQ(got.bucket, want.bucket) << hash;
      ASSERT_EQ(got.fingerprint, want.fingerprint) << hash;
      ASSERT_LT(got.chunk, geometry.chunks) << hash;
      ASSERT_LT(got.bucket, geometry.chunk_buckets) << hash;
      ASSERT_EQ(cuckoo::AlternateBucket(got.bucket, got.fingerprint, geometry.chunk_buckets),
                want.partner)
          << hash;
      const cuckoo::Place again = cuckoo::Unpack(cuckoo::Pack(got));
      ASSERT_EQ(again.chunk, got.chunk);
      ASSERT_EQ(again.bucket, got.bucket);
      ASSERT_EQ(again.fingerprint, got.fingerprint);
    }
  }
}

TEST(CuckooPackTest, IsChunkBucketFingerprint) {
  EXPECT_EQ(cuckoo::Pack({0x123456, 0xABCD, 0xEF01}), 0x00123456ABCDEF01);
  EXPECT_EQ(cuckoo::Pack({cuckoo::kMaxChunks - 1, 0xFFFF, 0xFFFF}), 0x00FFFFFFFFFFFFFF);
  const cuckoo::Place place = cuckoo::Unpack(0x89ABCDEF01234567);
  EXPECT_EQ(place.chunk, 0x89ABCDEF);
  EXPECT_EQ(place.bucket, 0x0123u);
  EXPECT_EQ(place.fingerprint, 0x4567u);
}

// Each fingerprint gets its share of the 65536 values of the low bits, rounded up or down.
TYPED_TEST(CuckooTest, FingerprintsAreNeverZeroAndEvenlyLikely) {
  constexpr int kBits = TypeParam::kFingerprintBits;
  std::vector<uint32_t> count(TestFixture::kFingerprints + 1);
  for (uint64_t low = 0; low < 65536; ++low) {
    const uint32_t fingerprint = cuckoo::Fingerprint<kBits>(low);
    ASSERT_EQ(cuckoo::Fingerprint<kBits>(low | 0xFEDCBA9876540000), fingerprint);
    ASSERT_LE(fingerprint, TestFixture::kFingerprints);
    ++count[fingerprint];
  }
  const uint32_t share = 65536 / TestFixture::kFingerprints;
  EXPECT_EQ(count[0], 0u);
  for (uint32_t f = 1; f <= TestFixture::kFingerprints; ++f) {
    ASSERT_GE(count[f], share) << f;
    ASSERT_LE(count[f], share + 1) << f;
  }
}

TYPED_TEST(CuckooTest, BucketsGetTheirShare) {
  constexpr cuckoo::Geometry kGeometry{7, 14};
  std::vector<int> count(kGeometry.buckets());
  for (const uint64_t hash : RandomKeys(98 * 1000, /*seed=*/1)) {
    const cuckoo::Place place = cuckoo::Locate<TypeParam::kFingerprintBits>(hash, kGeometry);
    ++count[place.chunk * kGeometry.chunk_buckets + place.bucket];
  }
  for (const int c : count) EXPECT_NEAR(c, 1000, 6 * 32);  // six standard deviations
}

// Tests all 8-bit fingerprints and some of the longer ones, in all buckets of small chunks and some
// of larger ones.
TYPED_TEST(CuckooTest, ThePartnerIsAnotherBucketAndLeadsBack) {
  constexpr uint32_t kMaxBuckets = cuckoo::kMaxChunkBuckets<TypeParam::kFingerprintBits>;
  constexpr uint32_t kMost = TestFixture::kFingerprints;
  Random random(/*seed=*/1);
  const auto expect = [&](uint32_t buckets) {
    const uint32_t fingerprints = std::min(kMost, 255u);
    for (uint32_t i = 1; i <= fingerprints; ++i) {
      const uint32_t f = kMost == 255 ? i : 1 + static_cast<uint32_t>(random.Below(kMost));
      const uint32_t probes = std::min(buckets, buckets <= 64 ? 64u : 6u);
      for (uint32_t p = 0; p < probes; ++p) {
        const uint32_t bucket = buckets <= 64 ? p
                                : p == 0      ? 0
                                : p == 1      ? buckets - 1
                                              : static_cast<uint32_t>(random.Below(buckets));
        const uint32_t partner = cuckoo::AlternateBucket(bucket, f, buckets);
        ASSERT_LT(partner, buckets) << bucket << ", " << f;
        ASSERT_NE(partner, bucket) << buckets << ", " << f;
        ASSERT_EQ(cuckoo::AlternateBucket(partner, f, buckets), bucket) << buckets << ", " << f;
      }
    }
  };
  for (uint32_t buckets = 2; buckets <= 5000; buckets += 2)
    ASSERT_NO_FATAL_FAILURE(expect(buckets));
  expect(kMaxBuckets - 2);
  expect(kMaxBuckets);
}

// If two moves had few different sums, tables would fill less.
TYPED_TEST(CuckooTest, PartnersAreSpread) {
  constexpr uint32_t kBuckets = 1000;
  std::vector<int> count(kBuckets);
  for (uint32_t f = 1; f <= TestFixture::kFingerprints; ++f) {
    ++count[cuckoo::AlternateBucket(0, f, kBuckets)];
  }
  const double share = TestFixture::kFingerprints / (kBuckets / 2.0);
  int used = 0;
  for (uint32_t b = 0; b < kBuckets; ++b) {
    if (b % 2 == 0) {
      EXPECT_EQ(count[b], 0) << b;  // the sum is odd
    }
    EXPECT_LT(count[b], share + 6 * std::sqrt(share) + 3) << b;
    used += count[b] != 0;
  }
  EXPECT_GT(used, 0.7 * (kBuckets / 2.0) * -std::expm1(-share));
}

TYPED_TEST(CuckooTest, SlotsAreCountedAndFreeOnesFound) {
  Random random(/*seed=*/2);
  for (int i = 0; i < 200'000; ++i)
    ASSERT_NO_FATAL_FAILURE(this->ExpectSlots(this->DrawSlots(random)));
  // Used and free slots in every combination.
  for (const uint32_t value : {1u, 1u << (this->kWidth - 1), TestFixture::kFingerprints}) {
    for (uint32_t mask = 0; mask < 1u << this->kSlots; ++mask) {
      std::vector<uint32_t> slots(this->kSlots);
      for (uint32_t s = 0; s < this->kSlots; ++s) slots[s] = (mask >> s & 1) * value;
      ASSERT_NO_FATAL_FAILURE(this->ExpectSlots(slots));
    }
  }
}

// Two neighbouring slots of 8 bits, where a borrow in one slot could change the next slot.
TEST(CuckooSlotPairsTest, AllPairsOfValuesInAllPositions) {
  for (uint32_t pair = 0; pair < 65536; ++pair) {
    const uint32_t low = pair & 0xFF, high = pair >> 8;
    for (int shift = 0; shift <= 16; shift += 8) {
      const uint32_t around = ~(0xFFFFu << shift);  // other slots are not 0
      const uint32_t word = around | pair << shift;
      const uint32_t zeros = cuckoo::ZeroSlots<8>(word);
      ASSERT_EQ(zeros != 0, low == 0 || high == 0) << word;
      if (low == 0 || high == 0) {
        ASSERT_EQ(std::countr_zero(zeros), shift + (low == 0 ? 7 : 15)) << word;
      }
      ASSERT_EQ(cuckoo::NumUsed<8>(word), 2 + (low != 0) + (high != 0)) << word;
    }
  }
}

TYPED_TEST(CuckooTest, APairContainsTheKeysOfBothBuckets) {
  Random random(/*seed=*/3);
  for (int i = 0; i < 200'000; ++i) {
    const std::vector<uint32_t> a = this->DrawSlots(random), b = this->DrawSlots(random);
    ASSERT_NO_FATAL_FAILURE(this->ExpectPair(a, b, std::max(1u, this->DrawSlot(random))));
    const uint32_t near = std::max(1u, a[random.Below(this->kSlots)]);
    ASSERT_NO_FATAL_FAILURE(this->ExpectPair(a, b, near));
    ASSERT_NO_FATAL_FAILURE(this->ExpectPair(b, a, near ^ 1 ? near ^ 1 : 1));
  }
  // One match, in each slot of either bucket.
  const std::vector<uint32_t> none(this->kSlots);
  for (uint32_t s = 0; s < this->kSlots; ++s) {
    for (uint32_t f = 1; f <= TestFixture::kFingerprints; ++f) {
      std::vector<uint32_t> one = none;
      one[s] = f;
      ASSERT_NO_FATAL_FAILURE(this->ExpectPair(one, none, f));
      ASSERT_NO_FATAL_FAILURE(this->ExpectPair(none, one, f));
      ASSERT_NO_FATAL_FAILURE(this->ExpectPair(none, none, f));
    }
  }
}

}  // namespace tamis::cuckoo_test
