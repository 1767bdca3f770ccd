// The phone numbers of the demonstration, and its measurements.
#include "tools/commands/demo.h"

#include <gtest/gtest.h>
#include <tamis/filters/sizing.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tools/commands/phone_numbers.h"

namespace tamis::tools::demo_test {

TEST(PhoneNumbersTest, IndexAndNumberAreInversesOfEachOther) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t index = random() % PhoneNumbers::kCount;
    const uint64_t number = PhoneNumbers::At(index);
    ASSERT_GE(number, 10'000'000'000U);
    ASSERT_LE(number, 99'999'999'999U);
    ASSERT_EQ(PhoneNumbers::IndexOf(number), index);
    const uint64_t other = PhoneNumbers::kFirst + random() % PhoneNumbers::kCount;
    ASSERT_EQ(PhoneNumbers::At(PhoneNumbers::IndexOf(other)), other);
  }
  for (const uint64_t index : {uint64_t{0}, PhoneNumbers::kCount - 1}) {
    EXPECT_EQ(PhoneNumbers::IndexOf(PhoneNumbers::At(index)), index);
  }
}

TEST(PhoneNumbersTest, FillIsAtInARow) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{12345}, PhoneNumbers::kCount - 1000}) {
    for (const size_t n : {0, 1, 7, 8, 9, 16, 1000}) {
      std::vector<uint64_t> numbers(n + 1, 0xEE);
      PhoneNumbers::Fill(first, std::span(numbers).first(n));
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(numbers[i], PhoneNumbers::At(first + i)) << first;
      EXPECT_EQ(numbers[n], 0xEEU);
    }
  }
}

TEST(PhoneNumbersTest, NumbersAreDistinct) {
  std::vector<uint64_t> numbers(1'000'000);
  PhoneNumbers::Fill(PhoneNumbers::kCount / 3, numbers);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
}

TEST(DemoSizeTest, AsManyNumbersAsFit) {
  EXPECT_EQ(NumbersThatFit(5'000'000'000, 0.01, uint64_t{7} << 30), 5'000'000'000U);
  const uint64_t fit = NumbersThatFit(5'000'000'000, 0.01, uint64_t{2} << 30);
  EXPECT_EQ(fit % 1'000'000, 0U);
  EXPECT_LE(SplitBlockBlocks(fit, 0.01) * 32, uint64_t{2} << 30);
  EXPECT_GT(SplitBlockBlocks(fit + 1'000'000, 0.01) * 32, uint64_t{2} << 30);
  EXPECT_EQ(NumbersThatFit(5'000'000'000, 0.01, 31), 0U);
  EXPECT_GT(NumbersThatFit(5'000'000'000, 0.01, 64), 0U);
}

TEST(PhoneQueriesTest, HalfAreKnownInMixedOrder) {
  const PhoneQueries queries(1000, 10'001);
  ASSERT_EQ(queries.keys.size(), 10'001U);
  EXPECT_EQ(queries.num_known, 5000U);
  size_t known_in_front = 0;
  for (size_t i = 0; i < queries.keys.size(); ++i) {
    ASSERT_EQ(queries.known[i], PhoneNumbers::IndexOf(queries.keys[i]) < 1000);
    known_in_front += i < 5000 && queries.known[i];
  }
  EXPECT_NEAR(static_cast<double>(known_in_front), 2500, 250);
}

// The demonstration must be able to fail: a filter that lacks half of the numbers is detected.
TEST(DemoMeasureTest, FalseNegativesAreCounted) {
  constexpr uint64_t kNumbers = 10'000;
  SplitBlockBloomFilter filter({.capacity = kNumbers, .fpr = 1e-6, .hash = {}, .memory = {}});
  Engine engine;
  std::vector<uint64_t> numbers(kNumbers);
  PhoneNumbers::Fill(0, numbers);
  engine.Insert(filter, std::span<const uint64_t>(numbers).first(kNumbers / 2));
  const PhoneQueries queries(kNumbers, 20'000);
  const QueryResult result = AskAll(engine, filter, queries);
  EXPECT_NEAR(static_cast<double>(result.false_negatives), 5000, 400);
  EXPECT_LE(result.false_positives, 5U);
  EXPECT_EQ(result.found, queries.num_known - result.false_negatives + result.false_positives);
  EXPECT_EQ(CountFound(engine, filter, 0, kNumbers / 2), kNumbers / 2);
  EXPECT_NEAR(static_cast<double>(CountFound(engine, filter, 0, kNumbers)), kNumbers / 2, 5);
  EXPECT_TRUE(std::is_sorted(result.seconds.begin(), result.seconds.end()));
}

}  // namespace tamis::tools::demo_test
