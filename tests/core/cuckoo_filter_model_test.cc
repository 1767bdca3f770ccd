// Random sequences of all operations on a cuckoo filter, beside a multiset of the classes of the
// keys in it. The multiset gives the exact answer at every step. The table shows that no
// fingerprint was moved to a place where it cannot be found.
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tests/core/cuckoo_test_util.h"
#include "tests/test_util.h"

namespace tamis::cuckoo_filter_model_test {

constexpr unsigned kNoWay = std::numeric_limits<unsigned>::max();

// A filter and its model. Every change is checked as it is made.
template <typename Filter>
class ModelledFilter {
 public:
  static constexpr int kBits = Filter::kFingerprintBits;
  static constexpr uint32_t kSlots = ReferenceSlots(kBits);
  // If this number of moves makes room, the search always finds these moves: it visits up to 1024
  // full buckets, of which 2 kSlots^d are d moves away.
  static constexpr unsigned kSureMoves = kBits == 12 ? 4 : 5;

  ModelledFilter(const cuckoo::Geometry& geometry, const Backend& backend)
      : filter_(EmptyCuckooFilter<Filter>(geometry, {}, &backend)) {}

  const Filter& filter() const { return filter_; }

  bool Contains(uint64_t hash) const { return classes_.contains(ClassOf(Locate(hash))); }

  bool Insert(uint64_t hash) {
    const ReferencePlace place = Locate(hash);
    const std::vector<std::byte> before = Payload(filter_);
    const std::vector<uint32_t> slots = Slots(filter_);
    const unsigned moves = MovesNeeded(place, slots);
    const bool inserted = filter_.InsertHash(hash);
    if (inserted) {
      EXPECT_NE(moves, kNoWay);
      EXPECT_LT(classes_[ClassOf(place)]++, 2 * kSlots);
      ++size_;
      if (moves == 0) ExpectInLowestFreeSlot(place, slots);
    } else {
      EXPECT_GT(moves, kSureMoves);
      EXPECT_EQ(Payload(filter_), before);
    }
    EXPECT_EQ(filter_.size(), size_);
    return inserted;
  }

  bool Erase(uint64_t hash) {
    const std::vector<std::byte> before = Payload(filter_);
    const auto found = classes_.find(ClassOf(Locate(hash)));
    const bool erased = filter_.EraseHash(hash);
    EXPECT_EQ(erased, found != classes_.end());
    if (erased) {
      --size_;
      if (--found->second == 0) classes_.erase(found);
    } else {
      EXPECT_EQ(Payload(filter_), before);
    }
    EXPECT_EQ(filter_.size(), size_);
    return erased;
  }

  // The bulk function must leave the same table as one key after the other, and report the same.
  template <typename One, typename Bulk>
  void InBulk(const std::vector<uint64_t>& hashes, const One& one, const Bulk& bulk) {
    Filter copy = filter_.Clone();
    std::vector<uint64_t> want;
    for (size_t i = 0; i < hashes.size(); ++i) {
      if (!one(hashes[i])) want.push_back(i);
    }
    std::vector<uint64_t> got(hashes.size());
    got.resize(hashes.size() - bulk(copy, Hashes{hashes}, std::span(got)));
    EXPECT_EQ(got, want);
    EXPECT_EQ(Payload(copy), Payload(filter_));
    EXPECT_EQ(copy.size(), size_);
    filter_ = std::move(copy);
  }

  void Clear() {
    filter_.Clear();
    classes_.clear();
    size_ = 0;
  }

  void Expect(const std::vector<uint64_t>& probes) const {
    EXPECT_EQ(ClassesIn(filter_), classes_);
    EXPECT_EQ(NumFingerprints(filter_), size_);
    std::vector<uint64_t> bits(BitmapWords(probes.size()));
    filter_.Contains(Hashes{probes}, Bitmap(bits));
    for (size_t i = 0; i < probes.size(); ++i) {
      EXPECT_EQ(filter_.ContainsHash(probes[i]), Contains(probes[i])) << "hash " << probes[i];
      EXPECT_EQ(Bitmap(bits).Test(i), Contains(probes[i])) << "hash " << probes[i];
    }
  }

 private:
  ReferencePlace Locate(uint64_t hash) const {
    return ReferenceLocate(hash, filter_.geometry(), kBits);
  }

  static uint32_t NumUsed(const uint32_t* bucket) {
    return kSlots - static_cast<uint32_t>(std::count(bucket, bucket + kSlots, 0u));
  }

  // Returns the fewest fingerprints that have to move for one more key; kNoWay if no moves help.
  unsigned MovesNeeded(const ReferencePlace& place, const std::vector<uint32_t>& slots) const {
    const uint32_t chunk_buckets = filter_.geometry().chunk_buckets;
    const uint32_t* const chunk = slots.data() + size_t{place.chunk} * chunk_buckets * kSlots;
    std::vector<bool> seen(chunk_buckets);
    std::vector<uint32_t> level = {place.bucket, place.partner};
    for (unsigned moves = 0; !level.empty(); ++moves) {
      std::vector<uint32_t> next;
      for (const uint32_t bucket : level) {
        if (NumUsed(chunk + bucket * kSlots) < kSlots) return moves;
        if (seen[bucket]) continue;
        seen[bucket] = true;
        for (uint32_t s = 0; s < kSlots; ++s) {
          next.push_back(ReferencePartner(bucket, chunk[bucket * kSlots + s], chunk_buckets));
        }
      }
      level = std::move(next);
    }
    return kNoWay;
  }

  // Insertion chooses the bucket with fewer fingerprints, or the first bucket if both have the same
  // number. This is one reason why all routes of insertion give the same bits.
  void ExpectInLowestFreeSlot(const ReferencePlace& place, std::vector<uint32_t> slots) const {
    const size_t chunk = size_t{place.chunk} * filter_.geometry().chunk_buckets;
    uint32_t* const first = slots.data() + (chunk + place.bucket) * kSlots;
    uint32_t* const second = slots.data() + (chunk + place.partner) * kSlots;
    uint32_t* const chosen = NumUsed(second) < NumUsed(first) ? second : first;
    *std::find(chosen, chosen + kSlots, 0u) = place.fingerprint;
    EXPECT_EQ(Slots(filter_), slots);
  }

  Filter filter_;
  CuckooClasses classes_;
  uint64_t size_ = 0;
};

template <typename Filter>
class CuckooModelTest : public testing::Test {};
TYPED_TEST_SUITE(CuckooModelTest, CuckooFilters, CuckooFilterName);

// Returns few different hashes, so that they repeat, and some of them have one class.
std::vector<uint64_t> Pool(Random& random, size_t n) {
  std::vector<uint64_t> pool(n);
  for (size_t i = 0; i < n; ++i) {
    const bool sibling = i > 0 && random.Below(4) == 0;
    pool[i] = sibling ? pool[random.Below(i)] ^ (random.Below(4) << random.Below(20)) : random();
  }
  return pool;
}

TYPED_TEST(CuckooModelTest, RandomSequences) {
  constexpr uint32_t kSlots = ReferenceSlots(TypeParam::kFingerprintBits);
  size_t refused = 0, missed = 0;
  for (uint64_t round = 0; round < 30; ++round) {
    Random random(round);
    const cuckoo::Geometry geometry{1 + static_cast<uint32_t>(random.Below(3)),
                                    2 + 2 * static_cast<uint32_t>(random.Below(6))};
    ModelledFilter<TypeParam> tested(geometry, Backends()[round % Backends().size()]);
    const std::vector<uint64_t> pool =
        Pool(random, 10 + random.Below(2 * geometry.buckets() * kSlots));
    const auto draw = [&] { return pool[random.Below(pool.size())]; };
    const auto insert = [&](uint64_t hash) {
      const bool inserted = tested.Insert(hash);
      refused += !inserted;
      return inserted;
    };
    const auto erase = [&](uint64_t hash) {
      const bool erased = tested.Erase(hash);
      missed += !erased;
      return erased;
    };
    for (int step = 0; step < 150; ++step) {
      std::vector<uint64_t> some(random.Below(70));
      std::generate(some.begin(), some.end(), draw);
      switch (random.Below(20)) {
        default:
          insert(draw());
          break;
        case 13:
        case 14:
        case 15:
        case 16:
          erase(draw());
          break;
        case 17:
          tested.InBulk(some, insert,
                        [](auto& filter, Keys keys, auto out) { return filter.Insert(keys, out); });
          break;
        case 18:
          tested.InBulk(some, erase,
                        [](auto& filter, Keys keys, auto out) { return filter.Erase(keys, out); });
          break;
        case 19:
          if (random.Below(10) == 0) tested.Clear();
          break;
      }
      if (step % 8 == 0 || step == 149) tested.Expect(pool);
      if (this->HasFailure()) FAIL() << "round " << round << ", step " << step;
    }
  }
  EXPECT_GT(refused, 200u);
  EXPECT_GT(missed, 200u);
}

TYPED_TEST(CuckooModelTest, AKeyGoesInTwiceTheSlotsOfABucket) {
  constexpr uint32_t kCopies = 2 * ReferenceSlots(TypeParam::kFingerprintBits);
  for (const cuckoo::Geometry geometry : {cuckoo::Geometry{1, 2}, {1, 6}, {3, 100}}) {
    for (const uint64_t hash : RandomKeys(20, /*seed=*/geometry.chunks)) {
      ModelledFilter<TypeParam> tested(geometry, DefaultBackend());
      for (uint32_t copy = 0; copy < kCopies; ++copy) ASSERT_TRUE(tested.Insert(hash)) << copy;
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(tested.Insert(hash));
      tested.Expect({hash, ~hash});
      for (uint32_t copy = 0; copy < kCopies; ++copy) {
        EXPECT_TRUE(tested.filter().ContainsHash(hash));
        ASSERT_TRUE(tested.Erase(hash)) << copy;
      }
      EXPECT_FALSE(tested.Erase(hash));
      tested.Expect({hash, ~hash});
    }
  }
}

// Inserts until keys are refused, and goes on for some time.
TYPED_TEST(CuckooModelTest, NothingIsEverLostUpToAFullTable) {
  for (const cuckoo::Geometry geometry :
       {cuckoo::Geometry{1, 2}, {1, 4}, {2, 10}, {1, 64}, {5, 100}, {1, 1002}, {1, 8192}}) {
    for (uint64_t seed = 0; seed < (geometry.buckets() < 1000 ? 20 : 2); ++seed) {
      SCOPED_TRACE(std::to_string(geometry.chunks) + " chunks of " +
                   std::to_string(geometry.chunk_buckets) + ", seed " + std::to_string(seed));
      TypeParam filter = EmptyCuckooFilter<TypeParam>(geometry, {HashKind::kXxh3, seed});
      Random random(seed);
      std::vector<uint64_t> in;
      const auto expect_all = [&] {
        ASSERT_EQ(filter.size(), in.size());
        ASSERT_EQ(filter.Count(in), in.size()) << "false negatives";
        for (const uint64_t key : in) ASSERT_TRUE(filter.Contains(key)) << "false negative";
        ASSERT_EQ(NumFingerprints(filter), in.size());
      };
      for (size_t failures = 0, next_check = 1; failures < 50;) {
        const uint64_t key = random();
        if (filter.Insert(key)) {
          in.push_back(key);
        } else {
          ++failures;
        }
        if (in.size() == next_check) {
          ASSERT_NO_FATAL_FAILURE(expect_all());
          next_check += 1 + next_check / 4;
        }
      }
      ASSERT_NO_FATAL_FAILURE(expect_all());
      EXPECT_GT(filter.load_factor(), geometry.chunk_buckets < 1000 ? 0.5 : 0.96);
      CuckooClasses want;
      for (const uint64_t key : in) {
        ++want[ClassOf(ReferenceLocate(ReferenceHash(key, filter.hash()), geometry,
                                       TypeParam::kFingerprintBits))];
      }
      EXPECT_EQ(ClassesIn(filter), want);

      // Erases the keys in another order.
      for (size_t i = in.size(); i > 1; --i) std::swap(in[i - 1], in[random.Below(i)]);
      const size_t half = in.size() / 2;
      for (size_t i = half; i < in.size(); ++i) ASSERT_TRUE(filter.Erase(in[i]));
      in.resize(half);
      ASSERT_NO_FATAL_FAILURE(expect_all());
      EXPECT_EQ(filter.Erase(in), half);
      EXPECT_EQ(filter.size(), 0u);
      EXPECT_EQ(Payload(filter), std::vector<std::byte>(filter.bytes()));
    }
  }
}

}  // namespace tamis::cuckoo_filter_model_test
