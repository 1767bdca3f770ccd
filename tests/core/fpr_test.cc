// The measured false-positive rate is the rate in sizing.h. bench/fpr_table.cc does the same with
// more keys.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "tamis/filters/sizing.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tests/test_util.h"

namespace tamis::fpr_test {

constexpr uint64_t kKeys = 1'000'000;
constexpr uint64_t kAbsent = 4'000'000;

enum class Order { kSequential, kRandom };

using Param = std::tuple<HashKind, Order, int>;  // the int: bits per key

class FprTest : public testing::TestWithParam<Param> {};

// Returns keys [first, first + n) of a sequence of different keys.
std::vector<uint64_t> MakeKeys(Order order, uint64_t first, uint64_t n) {
  std::vector<uint64_t> keys(n);
  std::iota(keys.begin(), keys.end(), first);
  if (order == Order::kRandom) {
    for (uint64_t& key : keys) key = Mix(key);
  }
  return keys;
}

TEST_P(FprTest, IsThePredictedOne) {
  const auto [kind, order, bits_per_key] = GetParam();
  SplitBlockBloomFilter filter({.capacity = kKeys,
                                .bytes = kKeys * static_cast<uint64_t>(bits_per_key) / 8,
                                .hash = HashOf(kind, 0)});
  filter.Insert(MakeKeys(order, 0, kKeys));
  EXPECT_EQ(filter.Count(MakeKeys(order, 0, kKeys)), kKeys);

  const auto hits = static_cast<double>(filter.Count(MakeKeys(order, kKeys, kAbsent)));
  const double predicted = SplitBlockFpr(kKeys, filter.num_blocks());
  const double sigma = std::sqrt(predicted * (1 - predicted) / kAbsent);
  EXPECT_NEAR(hits / kAbsent, predicted, 5 * sigma + 0.02 * predicted);
  EXPECT_NEAR(filter.expected_fpr() / predicted, 1, 0.02);
}

std::string ParamName(const testing::TestParamInfo<Param>& test) {
  const auto [kind, order, bits_per_key] = test.param;
  return std::string(HashKindName(kind)) +
         (order == Order::kSequential ? "_sequential_" : "_random_") + std::to_string(bits_per_key);
}

INSTANTIATE_TEST_SUITE_P(All, FprTest,
                         testing::Combine(testing::ValuesIn(kHashKinds),
                                          testing::Values(Order::kSequential, Order::kRandom),
                                          testing::Values(8, 12, 16)),
                         ParamName);

}  // namespace tamis::fpr_test
