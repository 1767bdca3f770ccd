// The measured false-positive rate of the kinds beside split-block is that of sizing.h.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tamis/any_filter.h"
#include "tamis/bloom_filter.h"
#include "tamis/counting_filter.h"
#include "tamis/sizing.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

struct Case {
  std::string name;
  double target;
  double tolerance;  // relative, beyond what chance explains
  std::function<AnyFilter(const FilterOptions&)> make;
  std::function<double(double keys, const Filter& filter)> predicted;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const double target : {0.05, 0.01, 0.001}) {
    const std::string percent = std::to_string(static_cast<int>(std::lround(1e4 * target)));
    cases.push_back({"bloom_" + percent, target, 0.03,
                     [](const FilterOptions& options) { return BloomFilter(options); },
                     [](double keys, const Filter& filter) {
                       const auto& bloom = dynamic_cast<const BloomFilter&>(filter);
                       return BloomFpr(keys, bloom.num_bits(), bloom.num_hashes());
                     }});
    cases.push_back({"counting_" + percent, target, 0.05,
                     [](const FilterOptions& options) { return CountingBloomFilter(options); },
                     [](double keys, const Filter& filter) {
                       return CountingFpr(keys, filter.bytes() / counting::kBlockBytes);
                     }});
  }
  return cases;
}

// Keys [first, first + n) of a sequence in which none repeats.
template <typename Visit>
void ForEachBatchOfKeys(uint64_t first, uint64_t n, const Visit& visit) {
  std::vector<uint64_t> keys;
  for (uint64_t done = 0; done < n; done += keys.size()) {
    keys.resize(std::min<uint64_t>(1'000'000, n - done));
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = Mix(first + done + i);
    visit(keys);
  }
}

class FprKindsTest : public testing::TestWithParam<Case> {
 protected:
  void Measure(uint64_t num_keys, uint64_t num_absent) const {
    AnyFilter filter = GetParam().make({.capacity = num_keys, .fpr = GetParam().target});
    ForEachBatchOfKeys(0, num_keys, [&](const auto& keys) { filter->Insert(keys); });
    uint64_t found = 0, hits = 0;
    ForEachBatchOfKeys(0, num_keys, [&](const auto& keys) { found += filter->Count(keys); });
    ForEachBatchOfKeys(num_keys, num_absent,
                       [&](const auto& keys) { hits += filter->Count(keys); });
    EXPECT_EQ(found, num_keys) << "false negatives";

    const double predicted = GetParam().predicted(static_cast<double>(num_keys), *filter);
    const auto n = static_cast<double>(num_absent);
    const double measured = static_cast<double>(hits) / n;
    const double sigma = std::sqrt(predicted * (1 - predicted) / n);
    EXPECT_LE(predicted, GetParam().target * (1 + 1e-9));
    EXPECT_GT(predicted, GetParam().target * 0.99);
    EXPECT_NEAR(measured, predicted, 4 * sigma + GetParam().tolerance * predicted);
    EXPECT_NEAR(filter->expected_fpr() / predicted, 1, 0.02);
    RecordProperty("measured_over_predicted", std::to_string(measured / predicted));
  }
};

TEST_P(FprKindsTest, IsThePredictedOne) { Measure(300'000, 2'000'000); }

// As large as the figures in the documentation are from.
TEST_P(FprKindsTest, IsThePredictedOneSlow) { Measure(10'000'000, 100'000'000); }

INSTANTIATE_TEST_SUITE_P(All, FprKindsTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tamis
