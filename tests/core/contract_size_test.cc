// Filters of every kind have the predicted sizes and false-positive rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/filters/sizing.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::contract_size_test {

class SizeContractTest : public ContractTest {
 protected:
  // Tests that a full filter for `num_keys` keys has the predicted rate.
  void Measure(double target, uint64_t num_keys, uint64_t num_absent) const;
};

TEST_P(SizeContractTest, FilterBytesEqualTheFilters) {
  for (const uint64_t capacity : {1, 8, 100, 12'345, 1'000'000}) {
    for (const double fpr : {0.3, 0.05, 0.01, 0.001, 1e-4}) {
      const AnyFilter filter = subject().make({.capacity = capacity, .fpr = fpr});
      EXPECT_EQ(filter->bytes(), FilterBytes(subject().kind, capacity, fpr));
      EXPECT_EQ(filter->payload().size(), filter->bytes());
      EXPECT_EQ(filter->capacity(), capacity);
      EXPECT_EQ(filter->expected_fpr(), 0);
      EXPECT_DOUBLE_EQ(filter->bits_per_key(),
                       8 * static_cast<double>(filter->bytes()) / static_cast<double>(capacity));
      EXPECT_EQ(MakeFilter(subject().kind, {.capacity = capacity, .fpr = fpr})->Header().geometry,
                filter->Header().geometry);
    }
  }
}

TEST_P(SizeContractTest, OptionsOutOfRangeAreRefused) {
  const auto expect = [&](const FilterOptions& options, const std::string& text) {
    ExpectError([&] { subject().make(options); }, ErrorCode::kInvalidArgument, text);
  };
  expect({}, "capacity of at least 1");
  expect({.capacity = 0, .fpr = 0.1}, "capacity of at least 1");
  for (const double fpr : {-1.0, 0.6, 1e-13, std::nan("")}) {
    expect({.capacity = 10, .fpr = fpr}, " is out of range [1e-12, 0.5]");
    expect({.fpr = fpr, .bytes = 64}, " is out of range [1e-12, 0.5]");
  }
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{7}, ~uint64_t{0}}) {
    expect({.bytes = bytes}, std::to_string(bytes) + " bytes is out of range [");
  }
  expect({.capacity = ~uint64_t{0}}, "18446744073709551615 keys");
}

// Visits keys [first, first + n) of a sequence without repetitions.
template <typename Visit>
void ForEachBatchOfKeys(uint64_t first, uint64_t n, const Visit& visit) {
  std::vector<uint64_t> keys;
  for (uint64_t done = 0; done < n; done += keys.size()) {
    keys.resize(std::min<uint64_t>(1'000'000, n - done));
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = Mix(first + done + i);
    visit(keys);
  }
}

void SizeContractTest::Measure(double target, uint64_t num_keys, uint64_t num_absent) const {
  SCOPED_TRACE(target);
  const AnyFilter filter = subject().make({.capacity = num_keys, .fpr = target});
  uint64_t inserted = 0, found = 0, hits = 0;
  ForEachBatchOfKeys(
      0, num_keys, [&](const auto& keys) { inserted += RequireChangeable(*filter).Insert(keys); });
  ForEachBatchOfKeys(0, num_keys, [&](const auto& keys) { found += filter->Count(keys); });
  ForEachBatchOfKeys(num_keys, num_absent, [&](const auto& keys) { hits += filter->Count(keys); });
  ASSERT_EQ(inserted, num_keys);
  EXPECT_EQ(found, num_keys) << "false negatives";

  const double predicted =
      FilterFpr(subject().kind, static_cast<double>(num_keys), filter->bytes());
  const auto n = static_cast<double>(num_absent);
  const double measured = static_cast<double>(hits) / n;
  const double sigma = std::sqrt(predicted * (1 - predicted) / n);
  EXPECT_LE(predicted, target * (1 + 1e-9));
  if (!subject().can.erase || subject().can.merge) {  // full cuckoo tables may be better
    EXPECT_GT(predicted, target * 0.99);
  }
  // The deviation must be more than chance explains.
  const double tolerance = subject().kind == FilterKind::kCounting ? 0.05 : 0.03;
  EXPECT_NEAR(measured, predicted, 4 * sigma + tolerance * predicted);
  EXPECT_NEAR(filter->expected_fpr() / predicted, 1, 0.02);
  RecordProperty("measured_over_predicted", std::to_string(measured / predicted));
}

TEST_P(SizeContractTest, TheMeasuredRateIsThePredictedOne) {
  for (const double target : {0.05, 0.01, 0.001}) Measure(target, 300'000, 2'000'000);
}

// Filters larger than a second-level cache.
TEST_P(SizeContractTest, TheMeasuredRateIsThePredictedOneSlow) {
  for (const double target : {0.05, 0.01, 0.001}) Measure(target, 2'000'000, 20'000'000);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SizeContractTest,
    testing::ValuesIn(SubjectsThat([](const Subject& s) { return !s.layered; })), SubjectName());

}  // namespace tamis::contract_size_test
