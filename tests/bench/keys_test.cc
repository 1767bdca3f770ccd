// Keys and queries: every hit is in the filter, and every miss is not.
#include "bench/suite/keys.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace tamis::bench::keys_test {

constexpr uint64_t kBytes = 150'000;
constexpr uint64_t kKeys = 100'000;
constexpr KeyType kAllForms[] = {KeyType::kString16, KeyType::kUrl,      KeyType::kColumn16,
                                 KeyType::kColumn40, KeyType::kColumn80, KeyType::kColumn200};

std::string At(const Keys& keys, size_t i) {
  if (keys.layout() == KeyLayout::kStringViews) {
    return std::string(keys.data<std::string_view>()[i]);
  }
  if (keys.layout() == KeyLayout::kColumn) {
    const int32_t* const offsets = keys.data<int32_t>();
    return {keys.bytes() + offsets[i], keys.bytes() + offsets[i + 1]};
  }
  return {reinterpret_cast<const char*>(keys.data<uint64_t>() + i), 8};
}

std::unordered_set<std::string> Everything(SuiteKeys& keys) {
  std::unordered_set<std::string> all;
  keys.ForEachSlice(keys.NumIntegers(kKeys, true), [&](const Keys& slice) {
    for (size_t i = 0; i < slice.size(); ++i) {
      all.emplace(reinterpret_cast<const char*>(slice.data<uint64_t>() + i), 8);
    }
  });
  for (const KeyType form : keys.string_forms()) {
    const Keys strings = keys.Last(0, form);
    for (size_t i = 0; i < strings.size(); ++i) all.insert(At(strings, i));
  }
  return all;
}

TEST(SuiteKeysTest, AFilterHoldsAsManyDistinctKeysAsItIsFor) {
  SuiteKeys keys(kBytes, kKeys);
  EXPECT_EQ(Everything(keys).size(), kKeys);
  EXPECT_EQ(keys.NumIntegers(kKeys, false), kKeys);
  SuiteKeys all(kBytes, kKeys, kAllForms);
  EXPECT_EQ(Everything(all).size(), kKeys);
  EXPECT_GE(all.NumIntegers(kKeys, true), kKeys / 4 * 3);
  SuiteKeys none(kBytes, kKeys, {});
  EXPECT_EQ(none.NumIntegers(kKeys, true), kKeys);
}

TEST(SuiteKeysTest, QueriesSayTheTruth) {
  SuiteKeys keys(kBytes, kKeys, kAllForms);
  const auto all = Everything(keys);
  std::vector<KeyType> forms(std::begin(kAllForms), std::end(kAllForms));
  forms.push_back(KeyType::kU64);
  for (const KeyType form : forms) {
    for (const int hits : {0, 50, 100}) {
      const AskedKeys asked = keys.Queries(form, hits);
      ASSERT_EQ(asked.keys.size(), asked.present.size());
      ASSERT_EQ(asked.keys.size(), keys.num_queries(form));
      size_t present = 0;
      for (size_t i = 0; i < asked.keys.size(); ++i) {
        ASSERT_EQ(all.contains(At(asked.keys, i)), asked.present[i] == 1) << i;
        present += asked.present[i];
      }
      EXPECT_NEAR(static_cast<double>(present) / static_cast<double>(asked.keys.size()),
                  hits / 100.0, 0.01);
    }
  }
}

TEST(SuiteKeysTest, AbsentKeysAreAbsentAndNew) {
  SuiteKeys keys(kBytes, kKeys);
  auto all = Everything(keys);
  const size_t before = all.size();
  size_t asked = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Keys absent = keys.Absent(i);
    for (size_t j = 0; j < absent.size(); ++j) all.insert(At(absent, j));
    asked += absent.size();
  }
  EXPECT_EQ(all.size(), before + asked);
}

TEST(SuiteKeysTest, TheLastKeysAreIn) {
  SuiteKeys keys(kBytes, kKeys);
  const auto all = Everything(keys);
  const Keys last = keys.Last(keys.NumIntegers(kKeys, true), KeyType::kU64);
  EXPECT_GT(last.size(), 0u);
  for (size_t i = 0; i < last.size(); ++i) ASSERT_TRUE(all.contains(At(last, i)));
}

TEST(SuiteKeysTest, UrlsHaveRealisticLengths) {
  const StringKeys urls(KeyType::kUrl, 20'000, [](size_t i) { return uint64_t{i}; });
  size_t bytes = 0;
  std::set<size_t> lengths;
  const Keys keys = urls.keys();
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view url = keys.data<std::string_view>()[i];
    ASSERT_TRUE(url.starts_with("https://www."));
    ASSERT_GE(url.size(), 40u);
    ASSERT_LE(url.size(), 120u);
    bytes += url.size();
    lengths.insert(url.size());
  }
  EXPECT_NEAR(static_cast<double>(bytes) / 20'000, 82, 2);
  EXPECT_GT(lengths.size(), 40u);
}

TEST(SuiteKeysTest, StringsOfAColumnHaveLengthsFromHalfToOneAndAHalfOfTheMean) {
  for (const KeyType form : kColumnForms) {
    const size_t mean = ColumnLength(form);
    const StringKeys strings(form, 20'000, [](size_t i) { return uint64_t{i}; });
    const Keys keys = strings.keys();
    ASSERT_EQ(keys.layout(), KeyLayout::kColumn);
    size_t bytes = 0;
    std::set<size_t> lengths;
    for (size_t i = 0; i < keys.size(); ++i) {
      const size_t length = At(keys, i).size();
      ASSERT_GE(length, mean / 2);
      ASSERT_LE(length, mean / 2 + mean);
      bytes += length;
      lengths.insert(length);
    }
    EXPECT_NEAR(static_cast<double>(bytes) / 20'000, static_cast<double>(mean),
                0.02 * static_cast<double>(mean));
    EXPECT_EQ(lengths.size(), mean + 1);
  }
}

}  // namespace tamis::bench::keys_test
