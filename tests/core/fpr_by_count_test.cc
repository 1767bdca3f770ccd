// Compares the rate by the number of keys with the rate by the bits of the filter.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/file/filter_kind_name.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/filter_kinds.h"
#include "tests/test_util.h"

namespace tamis::fpr_by_count_test {

void ExpectAgrees(ChangeableFilter& filter, const std::vector<uint64_t>& keys, double parts) {
  for (double part = 0.5; part <= parts; part *= 2) {
    SCOPED_TRACE(std::string(FilterKindName(filter.kind())) + " with " + std::to_string(part));
    const auto n = static_cast<size_t>(part * static_cast<double>(filter.capacity()));
    filter.Clear();
    EXPECT_EQ(FprByCount(filter), 0);
    filter.Insert(Keys(keys).Slice(0, n));
    EXPECT_NEAR(FprByCount(filter) / filter.expected_fpr(), 1, 0.05);
  }
}

TEST(FprByCountTest, EqualsTheRateOfTheBits) {
  const std::vector<uint64_t> keys = RandomKeys(400'000, 1);
  for (const FilterKindInfo& kind : FilterKinds()) {
    if (!kind.is_plain()) continue;
    const AnyFilter filter = MakeFilter(kind.kind, {.capacity = 100'000});
    const bool takes_all = !kind.can.erase || kind.can.merge;
    ExpectAgrees(RequireChangeable(*filter), keys, takes_all ? 4 : 1);
  }
}

TEST(FprByCountTest, OfLayersIsTheRateOfAllLayers) {
  const std::vector<uint64_t> keys = RandomKeys(400'000, 1);
  for (const FilterKindInfo& kind : FilterKinds()) {
    if (!kind.can_be_layer) continue;
    const AnyFilter filter =
        MakeScalableFilter(kind.kind, {.initial_capacity = 1000, .fpr = 0.005});
    std::vector<uint64_t> fresh(BitmapWords(keys.size()));
    for (const size_t n : {500, 5'000, 200'000}) {
      RequireChangeable(*filter).InsertIfAbsent(Keys(keys).Slice(0, n), Bitmap(fresh));
      EXPECT_NEAR(FprByCount(*filter) / filter->expected_fpr(), 1, 0.05) << kind.name << " " << n;
    }
  }
}

}  // namespace tamis::fpr_by_count_test
