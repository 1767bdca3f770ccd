// Queries of the keys that a selection vector names, in C. join_test.cc has those of join filters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tests/c/c_test_util.h"
#include "tests/c/pointer_checks.h"
#include "tests/test_util.h"

namespace tamis::select_from_test {

TEST(CSelectFromTest, EveryLayout_EqualsTheBytes) {
  const KeySets sets(500, /*offset=*/1, /*with_nulls=*/true, /*seed=*/8);
  const CFilter bloom = MakeC(TAMIS_BLOOM, 200);
  for (const KeySets::Set& keys : sets.sets()) {
    SCOPED_TRACE(keys.name);
    tamis_keys half = keys.c;
    half.count = 250;
    ASSERT_EQ(tamis_filter_insert(bloom.get(), nullptr, &half, nullptr, nullptr, 0), TAMIS_OK);
    std::vector<uint8_t> bytes(500);
    ASSERT_EQ(
        tamis_filter_contains_bytes(bloom.get(), nullptr, &keys.c, bytes.data(), 500, nullptr),
        TAMIS_OK);
    std::vector<uint32_t> selection(600), expected;
    Random random(1);
    for (uint32_t& row : selection) row = static_cast<uint32_t>(random.Below(500));
    std::ranges::copy_if(selection, std::back_inserter(expected),
                         [&](auto row) { return bytes[row]; });
    std::vector<uint32_t> rows(600, 77);
    uint64_t hits = 0;
    ASSERT_EQ(tamis_filter_select_from(bloom.get(), &keys.c, selection.data(), 600, rows.data(),
                                       600, &hits),
              TAMIS_OK)
        << tamis_last_error();
    rows.resize(hits);
    EXPECT_EQ(rows, expected);
  }
}

TEST(CSelectFromTest, Arguments_AreChecked) {
  const CFilter bloom = MakeC(TAMIS_BLOOM, 200);
  const std::vector<uint64_t> numbers = {1, 2, 3};
  const tamis_keys keys = tamis_keys_u64(numbers.data(), numbers.size());
  const uint32_t selection[] = {0, 3};
  uint32_t rows[2] = {9, 9};
  uint64_t hits = 5;
  ExpectStatus(tamis_filter_select_from(bloom.get(), &keys, selection, 2, rows, 2, &hits),
               TAMIS_INVALID_ARGUMENT, "3");
  ExpectStatus(tamis_filter_select_from(bloom.get(), &keys, selection, 2, rows, 1, &hits),
               TAMIS_INVALID_ARGUMENT, "rows has room for 1");
  EXPECT_EQ(hits, 5u);
  EXPECT_EQ(rows[0], 9u);
  ASSERT_EQ(tamis_filter_select_from(bloom.get(), &keys, nullptr, 0, nullptr, 0, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 0u);
  ExpectPointersChecked(tamis_filter_select_from, {}, bloom.get(), &keys, selection, uint64_t{1},
                        rows, uint64_t{2}, &hits);
}

}  // namespace tamis::select_from_test
