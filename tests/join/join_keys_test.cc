// Widened keys, and hashes of several columns.
#include "tamis/join/join_keys.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/hash_keys.h"
#include "tamis/join/join_filter.h"
#include "tamis/time_keys.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::join_keys_test {

constexpr uint64_t kNanosPerDay = 86'400'000'000'000;

template <typename T>
class SmallIntegersTest : public testing::Test {};
using SmallIntegers = testing::Types<int8_t, uint8_t, int16_t, uint16_t>;
TYPED_TEST_SUITE(SmallIntegersTest, SmallIntegers);

TYPED_TEST(SmallIntegersTest, Widened_AreTheSameKeys) {
  std::vector<TypeParam> keys;
  for (int64_t key = std::numeric_limits<TypeParam>::min();
       key <= std::numeric_limits<TypeParam>::max(); key += 3) {
    keys.push_back(static_cast<TypeParam>(key));
  }
  JoinFilter filter({.expected_keys = keys.size()});
  JoinFilter::Part part = filter.MakePart(0);
  part.Insert(WidenKeys(std::span<const TypeParam>(keys)));
  filter.Add(std::move(part));
  filter.Complete(1);
  const std::set<int64_t> in(keys.begin(), keys.end());
  for (int64_t key = -40'000; key <= 70'000; key += 7) {
    ASSERT_EQ(filter.Contains(static_cast<uint64_t>(key)), in.contains(key)) << key;
  }
}

TEST(HashColumnsTest, Rows_HaveTheDocumentedHashes) {
  const HashSpec hash = {HashKind::kXxh3, 5};
  const std::vector<uint64_t> a = RandomKeys(5000, 1);
  std::vector<std::string> b(5000);
  for (size_t i = 0; i < b.size(); ++i) b[i] = std::to_string(i % 100);
  const std::vector<int32_t> c(5000, -3);
  const std::vector<Keys> columns = {a, b, c};
  const ColumnHashes two = HashColumns(std::span(columns).first(2), hash);
  const ColumnHashes three = HashColumns(columns, hash);
  for (size_t i = 0; i < a.size(); ++i) {
    const uint64_t of_two = HashU64(HashU64(a[i], hash), hash) + HashBytes(b[i], hash);
    ASSERT_EQ(two.hashes()[i], of_two);
    ASSERT_EQ(three.hashes()[i],
              HashU64(of_two, hash) + HashU64(static_cast<uint64_t>(int64_t{-3}), hash));
  }
  EXPECT_EQ(HashColumns({columns[0], columns[1]}, hash).hashes(), two.hashes());
  EXPECT_EQ(HashColumns(std::span(columns).first(1), hash).hashes()[7], HashU64(a[7], hash));
}

// (1, 2) and (2, 1) are different rows, and so are (1, 1) and (2, 2).
TEST(HashColumnsTest, OrderAndValues_Matter) {
  std::vector<uint64_t> a, b;
  for (uint64_t i = 0; i < 100; ++i) {
    for (uint64_t j = 0; j < 100; ++j) {
      a.push_back(i);
      b.push_back(j);
    }
  }
  const std::vector<Keys> columns = {a, b};
  const ColumnHashes rows = HashColumns(columns);
  EXPECT_EQ(std::set<uint64_t>(rows.hashes().begin(), rows.hashes().end()).size(), 10'000u);
}

TEST(HashColumnsTest, Nulls_OfAnyColumn_MakeTheRowNull) {
  const std::vector<uint64_t> a = RandomKeys(300, 1);
  const std::vector<std::string_view> b(300, "x");
  std::vector<uint8_t> valid_a(40), valid_b(40);
  Random random(1);
  for (uint8_t& byte : valid_a) byte = static_cast<uint8_t>(random() | random());
  for (uint8_t& byte : valid_b) byte = static_cast<uint8_t>(random() | random());
  const std::vector<Keys> columns = {Keys(a).WithValidity(valid_a.data(), 3),
                                     Keys(b).WithValidity(valid_b.data())};
  const ColumnHashes rows = HashColumns(columns);
  JoinFilter filter({.expected_keys = 300, .key_type = JoinKeyType::kHashes});
  JoinFilter::Part part = filter.MakePart(0);
  part.Insert(rows.keys());
  filter.Add(std::move(part));
  filter.Complete(1);
  const Answers answers = filter.Contains(rows.keys());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(rows.keys().IsValid(i), columns[0].IsValid(i) && columns[1].IsValid(i));
    EXPECT_EQ(answers[i], rows.keys().IsValid(i));
  }
}

// A column of only nulls often has no type.
TEST(JoinKeysTest, NullsOfAnyLayout_AreNeverInAJoinOfIntegers) {
  const std::vector<uint64_t> integers = RandomKeys(100, 1);
  const std::vector<std::string_view> strings(70, "x");
  const std::vector<uint8_t> nulls(10);
  const Keys keys = Keys(strings).WithValidity(nulls.data(), 3);
  for (const uint64_t kept_keys : {uint64_t{1}, uint64_t{65536}}) {
    JoinFilter filter({.expected_keys = 100, .kept_keys = kept_keys});
    JoinFilter::Part part = filter.MakePart(0);
    EXPECT_EQ(filter.Count(keys), 0u);
    part.Insert(keys);
    part.Insert(integers);
    filter.Add(std::move(part));
    filter.Complete(1);
    EXPECT_EQ(filter.Count(keys), 0u);
    EXPECT_EQ(filter.Count(integers), 100u);
    ExpectError([&] { filter.Count(strings); }, ErrorCode::kInvalidArgument,
                "strings need a join of hashes");
  }
}

// Dates such as 9999-12-31 need 128 bits. The probe side may have them, and the build side may not.
TEST(JoinKeysTest, TimesOf128Bits_AreNeverInAJoinOfIntegers) {
  Random random(/*seed=*/1);
  std::vector<int64_t> build(500), probe;
  for (int64_t& day : build) day = static_cast<int64_t>(random.Below(2000));
  std::vector<uint8_t> validity(201, 0xFF);
  for (size_t i = 0; i < 1500; ++i) {
    probe.push_back(random.Below(3) == 0 ? 2'932'896 : static_cast<int64_t>(random.Below(3000)));
    if (random.Below(5) == 0) validity[(i + 3) / 8] &= static_cast<uint8_t>(~(1 << (i + 3) % 8));
  }
  const JoinFilterOptions options[] = {
      {.expected_keys = 500},
      {.expected_keys = 500, .kept_keys = 1},
      {.expected_keys = 500, .range = JoinKeyRange(0, 2000 * kNanosPerDay), .max_bytes = 1 << 20}};
  for (const JoinFilterOptions& option : options) {
    JoinFilter filter(option);
    JoinFilter::Part part = filter.MakePart(0);
    const TimeKeys probes(probe, TimeUnit::kDays, validity.data(), 3);
    ASSERT_EQ(probes.keys().layout(), KeyLayout::kStringViews);
    EXPECT_EQ(filter.Count(probes.keys()), probes.keys().CountValid());
    ExpectError([&] { part.Insert(probes.keys()); }, ErrorCode::kInvalidArgument,
                "times before 1677 or after 2262 need a join of hashes");
    part.Insert(TimeKeys(build, TimeUnit::kDays).keys());
    filter.Add(std::move(part));
    filter.Complete(1);
    const Answers answers = filter.Contains(probes.keys());
    std::vector<uint32_t> all, expected, rows(probe.size());
    for (size_t i = 0; i < probe.size(); ++i) {
      // A key has the same answer as alone.
      const std::vector<int64_t> day = {probe[i]};
      const bool narrow = probe[i] < 3000;
      const bool alone = narrow && filter.Count(TimeKeys(day, TimeUnit::kDays).keys()) == 1;
      ASSERT_EQ(answers[i], alone && probes.keys().IsValid(i)) << probe[i];
      all.push_back(static_cast<uint32_t>(i));
      if (answers[i]) expected.push_back(static_cast<uint32_t>(i));
    }
    rows.resize(filter.SelectFrom(probes.keys(), all, std::span(rows)));
    EXPECT_EQ(rows, expected);
    EXPECT_FALSE(rows.empty());
  }
}

TEST(HashColumnsTest, BadColumns_Throw) {
  const std::vector<uint64_t> a = {1, 2}, b = {1};
  const std::vector<Keys> columns = {a, b};
  ExpectError([&] { HashColumns(columns); }, ErrorCode::kInvalidArgument, "column 1 has 1 keys");
  ExpectError([&] { HashColumns({}); }, ErrorCode::kInvalidArgument, "no columns");
}

}  // namespace tamis::join_keys_test
