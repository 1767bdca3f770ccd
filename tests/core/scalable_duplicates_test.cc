// Keys that repeat many times, as in logs, do not make scalable filters grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tamis/filters/scalable_filter.h"
#include "tamis/filters/serialize.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::scalable_duplicates_test {

template <typename F>
class ScalableDuplicatesTest : public FileTest {
 protected:
  static constexpr ScalableOptions kOptions = {.initial_capacity = 200, .fpr = 0.1};
  // A Bloom layer accepts keys of older layers again, unless the layer itself contains them.
  static constexpr uint64_t kTimes = ScalableFilter<F>::kErases ? 4 : 5;
};
using Layers = testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<8>, CuckooFilter<12>,
                              CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableDuplicatesTest, Layers);

// Returns keys [0, distinct), each of them once or more, in one of several orders.
std::vector<uint64_t> Sequence(uint64_t distinct, uint64_t copies, Random& random) {
  struct Copy {
    uint64_t key, number;
  };
  std::vector<Copy> all;
  const uint64_t shape = random.Below(4);
  for (uint64_t key = 0; key < distinct; ++key) {
    uint64_t times = copies;                                          // all equally often
    if (shape == 1) times = 1 + random.Below(2 * copies);             // at random
    if (shape == 2) times = 1 + copies * distinct / 8 / (key + 1);    // few with most copies
    if (shape == 3) times = random.Below(10) == 0 ? 10 * copies : 1;  // some keys very often
    for (uint64_t number = 0; number < times; ++number) all.push_back({key, number});
  }
  switch (random.Below(3)) {
    case 0:  // the copies of each key in a row
      break;
    case 1:  // mixed
      for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.Below(i)]);
      break;
    case 2:  // all keys, then all again
      std::stable_sort(all.begin(), all.end(),
                       [](const Copy& a, const Copy& b) { return a.number < b.number; });
      break;
  }
  std::vector<uint64_t> keys;
  for (const Copy& copy : all) keys.push_back(copy.key);
  return keys;
}

// Memory and file have at most 4 or 5 times the bytes that the different keys need, for any
// multiset in any order. No key is lost, and only copies are refused.
TYPED_TEST(ScalableDuplicatesTest, MemoryFollowsTheDifferentKeys) {
  using Scalable = ScalableFilter<TypeParam>;
  for (uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    Random random(round);
    const uint64_t distinct = 1 + random.Below(round % 2 == 0 ? 300 : 3000);
    const std::vector<uint64_t> keys = Sequence(distinct, 1 + random.Below(30), random);
    Scalable filter(this->kOptions);
    std::vector<uint64_t> rejected(keys.size());
    for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
      n = std::min<size_t>(keys.size() - begin, 1 + random.Below(5000));
      const auto some = std::span(keys).subspan(begin, n);
      const size_t done = filter.Insert(some, rejected);
      for (size_t i = 0; i < n - done; ++i) {
        ASSERT_TRUE(Scalable::kErases);
        ASSERT_TRUE(filter.Contains(some[rejected[i]]));
      }
    }
    ASSERT_EQ(filter.Count(keys), keys.size()) << "false negatives";

    Scalable once(this->kOptions);
    for (uint64_t key = 0; key < distinct; ++key) once.Insert(key);
    ASSERT_LE(filter.bytes(), this->kTimes * once.bytes()) << distinct << " of " << keys.size();
    filter.Save(this->folder_ / "f");
    once.Save(this->folder_ / "once");
    ASSERT_LE(std::filesystem::file_size(this->folder_ / "f"),
              this->kTimes * std::filesystem::file_size(this->folder_ / "once"));
    ASSERT_LE(filter.expected_fpr(), 0.1);

    // The result is the same one key at a time, and with a save in between.
    Scalable one(this->kOptions);
    for (const uint64_t key : keys) one.Insert(key);
    ASSERT_EQ(one.inserted_count(), filter.inserted_count());
    one.Save(this->folder_ / "once");
    ASSERT_EQ(ReadBytes(this->folder_ / "once"), ReadBytes(this->folder_ / "f"));
  }
}

// Layers that are no larger than the layer before, including tiny layers. All keys repeat again and
// again, with a few new keys. For tiny layers, memory is rounded up to whole blocks or buckets in
// both filters.
TYPED_TEST(ScalableDuplicatesTest, GrowthNearOne) {
  using Scalable = ScalableFilter<TypeParam>;
  for (const double growth : {1.0, 1.1, 1.5}) {
    for (const uint64_t initial : {1, 2, 5, 9, 20, 63, 64, 300}) {
      SCOPED_TRACE("growth " + std::to_string(growth) + ", " + std::to_string(initial) + " keys");
      const ScalableOptions options = {
          .initial_capacity = initial, .fpr = 0.1, .growth = growth, .tightening = 0.9};
      std::vector<uint64_t> keys;
      const uint64_t distinct = std::min<uint64_t>(2 * initial, 100);
      uint64_t more = 0;
      for (int time = 0; time < 50; ++time) {
        for (uint64_t key = 0; key < distinct; ++key) keys.push_back(key);
        if (time % 5 == 0) keys.push_back(1'000'000 + more++);
      }
      Scalable filter(options), one(options), once(options);
      EXPECT_EQ(Scalable::kErases || filter.Insert(keys) == keys.size(), true);
      if (Scalable::kErases) filter.Insert(keys);
      for (uint64_t key = 0; key < distinct; ++key) once.Insert(key);
      for (uint64_t i = 0; i < more; ++i) once.Insert(1'000'000 + i);
      ASSERT_EQ(filter.Count(keys), keys.size()) << "false negatives";
      ASSERT_LE(filter.layers().size(), 3 * once.layers().size() + 2);
      ASSERT_LE(filter.expected_fpr(), 0.1);

      for (const uint64_t key : keys) one.Insert(key);
      ASSERT_EQ(one.layers().size(), filter.layers().size());
      for (size_t i = 0; i < one.layers().size(); ++i) {
        ASSERT_EQ(Payload(one.layers()[i]), Payload(filter.layers()[i])) << i;
        ASSERT_EQ(one.layers()[i].inserted_count(), filter.layers()[i].inserted_count()) << i;
      }
    }
  }
}

// Also if cuckoo layers refuse keys before they are full, because of many copies, and if a limit
// leaves no room.
TYPED_TEST(ScalableDuplicatesTest, BatchesDoAsOneKeyAfterTheOther) {
  size_t refused_early = 0;
  for (uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    Random random(round);
    ScalableOptions options = {
        .initial_capacity = 20 + random.Below(500), .fpr = 0.3, .growth = 1 + 1.2 * random.Unit()};
    if (round % 3 == 2) {
      options.max_bytes = ScalableFilter<TypeParam>(options).bytes() + random.Below(1000);
    }
    const uint64_t distinct = 1 + random.Below(1000);
    const std::vector<uint64_t> keys = Sequence(distinct, 1 + random.Below(10), random);
    ScalableFilter<TypeParam> bulk(options), one(options);
    std::vector<uint64_t> rejected(keys.size());
    size_t num_rejected = 0;
    for (size_t begin = 0, n = 0; begin < keys.size(); begin += n) {
      n = std::min<size_t>(keys.size() - begin, 1 + random.Below(5000));
      const auto out = std::span(rejected).subspan(num_rejected);
      const size_t refused = n - bulk.Insert(std::span(keys).subspan(begin, n), out);
      for (uint64_t& index : out.first(refused)) index += begin;
      num_rejected += refused;
    }
    rejected.resize(num_rejected);
    std::vector<uint64_t> want;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!one.Insert(keys[i])) want.push_back(i);
    }
    ASSERT_EQ(rejected, want);
    ASSERT_EQ(bulk.layers().size(), one.layers().size());
    for (size_t i = 0; i < one.layers().size(); ++i) {
      const TypeParam& layer = one.layers()[i];
      ASSERT_EQ(bulk.layers()[i].inserted_count(), layer.inserted_count());
      ASSERT_EQ(Payload(bulk.layers()[i]), Payload(layer)) << i;
      refused_early += i + 1 < one.layers().size() && layer.inserted_count() < layer.capacity();
    }
    // Includes the counts of copies, which determine how the filter treats later keys.
    ASSERT_EQ(Serialize(bulk), Serialize(one));
  }
  EXPECT_EQ(refused_early > 0, ScalableFilter<TypeParam>::kErases) << refused_early;
}

// Inserts two thousand keys into two layers of a thousand, fifty times.
TYPED_TEST(ScalableDuplicatesTest, KeysInOlderLayersOpenNoLayer) {
  ScalableFilter<TypeParam> filter({.initial_capacity = 1000, .fpr = 0.1, .growth = 1});
  const std::vector<uint64_t> keys = RandomKeys(2000, /*seed=*/1);
  for (int time = 0; time < 50; ++time) filter.Insert(keys);
  EXPECT_LE(filter.layers().size(), 4u);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

TYPED_TEST(ScalableDuplicatesTest, OneKeyAMillionTimes) {
  ScalableFilter<TypeParam> filter(this->kOptions);
  const std::vector<uint64_t> copies(1'000'000, 42);
  filter.Insert(copies);
  EXPECT_EQ(filter.layers().size(), 1u);
  EXPECT_TRUE(filter.Contains(42));
  for (int i = 0; i < 144; ++i) filter.Insert(uint64_t{42});
  EXPECT_EQ(filter.layers().size(), 1u);
}

// Every copy that was inserted can be erased, and then the key is gone.
TYPED_TEST(ScalableDuplicatesTest, AcceptedCopiesCanBeErased) {
  if constexpr (std::is_base_of_v<ErasableFilter, TypeParam>) {
    ScalableFilter<TypeParam> filter(this->kOptions);
    std::vector<uint64_t> taken;
    for (uint64_t i = 0; i < 1000; ++i) {
      if (filter.Insert(i % 90)) taken.push_back(i % 90);
    }
    EXPECT_GE(taken.size(), 180u);
    for (const uint64_t key : taken) ASSERT_TRUE(filter.Erase(key));
    EXPECT_EQ(filter.inserted_count(), 0u);
    for (uint64_t key = 0; key < 90; ++key) EXPECT_FALSE(filter.Contains(key));
    // Other keys can use its room.
    for (uint64_t key = 100; key < 250; ++key) EXPECT_TRUE(filter.Insert(Mix(key)));
    EXPECT_EQ(filter.layers().size(), 1u);
  } else {
    GTEST_SKIP() << "layers that cannot erase";
  }
}

// The filter does not mistake different keys for copies, although false positives are frequent.
TYPED_TEST(ScalableDuplicatesTest, DifferentKeysAreAllTaken) {
  ScalableFilter<TypeParam> filter({.initial_capacity = 1000, .fpr = 0.3});
  const std::vector<uint64_t> keys = RandomKeys(50'000, /*seed=*/1);
  EXPECT_EQ(filter.Insert(keys), keys.size());
  EXPECT_EQ(filter.inserted_count(), keys.size());
  EXPECT_EQ(filter.layers().size(), 6u);
}

}  // namespace tamis::scalable_duplicates_test
