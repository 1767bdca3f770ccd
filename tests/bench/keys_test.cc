// Keys and queries: what is said to be in is, and what is not is not.
#include "bench/suite/keys.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <unordered_set>

namespace tamis::bench {
namespace {

constexpr uint64_t kBytes = 150'000;
constexpr uint64_t kKeys = 100'000;

std::unordered_set<std::string> Everything(SuiteKeys& keys) {
  std::unordered_set<std::string> all;
  keys.ForEachSlice(keys.NumIntegers(kKeys, true), [&](const Keys& slice) {
    for (size_t i = 0; i < slice.size(); ++i) {
      all.emplace(reinterpret_cast<const char*>(slice.data<uint64_t>() + i), 8);
    }
  });
  for (const KeyForm form : {KeyForm::kString16, KeyForm::kUrl}) {
    const Keys strings = keys.Last(0, form);
    for (size_t i = 0; i < strings.size(); ++i) {
      all.emplace(strings.data<std::string_view>()[i]);
    }
  }
  return all;
}

std::string At(const Keys& keys, size_t i) {
  if (keys.form() == Keys::Form::kStringViews) {
    return std::string(keys.data<std::string_view>()[i]);
  }
  return {reinterpret_cast<const char*>(keys.data<uint64_t>() + i), 8};
}

TEST(SuiteKeysTest, AFilterHoldsAsManyDistinctKeysAsItIsFor) {
  SuiteKeys keys(kBytes, kKeys);
  EXPECT_EQ(Everything(keys).size(), kKeys);
  EXPECT_EQ(keys.NumIntegers(kKeys, false), kKeys);
}

TEST(SuiteKeysTest, QueriesSayTheTruth) {
  SuiteKeys keys(kBytes, kKeys);
  const auto all = Everything(keys);
  for (const KeyForm form : {KeyForm::kU64, KeyForm::kString16, KeyForm::kUrl}) {
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
  const Keys last = keys.Last(keys.NumIntegers(kKeys, true), KeyForm::kU64);
  EXPECT_GT(last.size(), 0u);
  for (size_t i = 0; i < last.size(); ++i) ASSERT_TRUE(all.contains(At(last, i)));
}

TEST(SuiteKeysTest, UrlsHaveRealisticLengths) {
  const StringKeys urls(KeyForm::kUrl, 20'000, [](size_t i) { return uint64_t{i}; });
  size_t bytes = 0;
  std::set<size_t> lengths;
  for (const std::string_view url : urls.views()) {
    ASSERT_TRUE(url.starts_with("https://www."));
    ASSERT_GE(url.size(), 40u);
    ASSERT_LE(url.size(), 120u);
    bytes += url.size();
    lengths.insert(url.size());
  }
  EXPECT_NEAR(static_cast<double>(bytes) / 20'000, 82, 2);
  EXPECT_GT(lengths.size(), 40u);
}

}  // namespace
}  // namespace tamis::bench
