// InsertIfAbsent of scalable filters at their limits, and beside copies inserted by Insert.
// contract_absent_test.cc tests what all filters have in common.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/filters/scalable_filter.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::scalable_absent_test {

template <typename F>
class ScalableAbsentTest : public testing::Test {};

struct LayerNames {
  template <typename F>
  static std::string GetName(int) {
    std::string name(KindInfo(F::kKind).name);
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};
using LayerTypes = testing::Types<SplitBlockBloomFilter, BloomFilter, CuckooFilter<8>,
                                  CuckooFilter<12>, CuckooFilter<16>>;
TYPED_TEST_SUITE(ScalableAbsentTest, LayerTypes, LayerNames);

// Returns the bits that InsertIfAbsent sets, and checks them against querying and inserting one key
// after the other.
template <typename F>
std::vector<uint64_t> ExpectSameAsOneByOne(ScalableFilter<F>& want, ScalableFilter<F>& got,
                                           const std::vector<uint64_t>& keys) {
  std::vector<uint64_t> fresh(BitmapWords(keys.size())), rejected(fresh);
  size_t num_fresh = 0;
  got.InsertIfAbsent(keys, Bitmap(fresh), Bitmap(rejected));
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool absent = !want.Contains(keys[i]);
    const bool inserted = absent && want.Insert(keys[i]);
    EXPECT_EQ(Bitmap(fresh).Test(i), inserted) << "key " << i;
    EXPECT_EQ(Bitmap(rejected).Test(i), absent && !inserted) << "key " << i;
    num_fresh += inserted;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(Contents(got) == Contents(want));
  EXPECT_EQ(got.layers().size(), want.layers().size());
  EXPECT_GT(num_fresh, 0u);
  return rejected;
}

std::vector<uint64_t> SomeRepeats(size_t n, uint64_t seed) {
  std::vector<uint64_t> keys = RandomKeys(n, seed);
  Random random(seed + 1);
  for (size_t i = 1; i < n; ++i) {
    if (random.Below(3) != 0) keys[i] = keys[random.Below(i)];
  }
  return keys;
}

TYPED_TEST(ScalableAbsentTest, RejectsKeysWithoutRoomUnderALimit) {
  const ScalableOptions options = {.initial_capacity = 200, .fpr = 0.05, .max_bytes = 3000};
  ScalableFilter<TypeParam> want(options), got(options);
  const std::vector<uint64_t> keys = SomeRepeats(12'000, /*seed=*/1);
  const std::vector<uint64_t> rejected = ExpectSameAsOneByOne(want, got, keys);
  EXPECT_GT(Backends().back().kernels->popcount(rejected.data(), rejected.size()), 1000u);
  EXPECT_LE(got.bytes(), options.max_bytes);
}

TYPED_TEST(ScalableAbsentTest, LayersOfAnySize) {
  for (const uint64_t capacity : {1, 2, 63, 64, 65, 1000}) {
    for (const double growth : {1.0, 1.5, 4.0}) {
      if (growth == 1 && capacity < 60) continue;  // a layer for every other key
      SCOPED_TRACE(std::to_string(capacity) + ", growth " + std::to_string(growth));
      const ScalableOptions options = {.initial_capacity = capacity, .fpr = 0.1, .growth = growth};
      ScalableFilter<TypeParam> want(options), got(options);
      ExpectSameAsOneByOne(want, got, SomeRepeats(6000, /*seed=*/capacity));
      EXPECT_GT(got.layers().size(), 1u);
      if (this->HasFailure()) return;
    }
  }
}

// As many copies as layers may hold, and room in older layers after erasures.
TYPED_TEST(ScalableAbsentTest, AfterInsertionsAndErasures) {
  const ScalableOptions options = {.initial_capacity = 500, .fpr = 0.02};
  ScalableFilter<TypeParam> want(options), got(options);
  const std::vector<uint64_t> first = SomeRepeats(5000, /*seed=*/3);
  for (ScalableFilter<TypeParam>* filter : {&want, &got}) {
    filter->Insert(first);
    if constexpr (ScalableFilter<TypeParam>::kErases) {
      EXPECT_GT(filter->Erase(std::span(first).first(1500)), 100u);
    }
  }
  ASSERT_EQ(Contents(want), Contents(got));
  std::vector<uint64_t> keys = SomeRepeats(5000, /*seed=*/4);
  for (size_t i = 0; i < keys.size(); i += 3) keys[i] = first[i];
  ExpectSameAsOneByOne(want, got, keys);
}

}  // namespace tamis::scalable_absent_test
