// The arithmetic of classic Bloom filters, compared with formulas in integers that never overflow.
#include "tamis/layout/bloom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tests/core/reference_bloom.h"
#include "tests/test_util.h"

namespace tamis::bloom_test {

std::vector<uint64_t> Positions(uint64_t hash, uint64_t num_bits, uint32_t num_hashes) {
  std::vector<uint64_t> positions;
  bloom::Walk walk = bloom::Start(hash, num_bits);
  for (uint32_t i = 1; i <= num_hashes; ++i) {
    positions.push_back(walk.position);
    walk = bloom::Next(walk, i, num_bits);
  }
  return positions;
}

const std::vector<uint64_t>& Sizes() {
  static const std::vector<uint64_t> sizes = {64,
                                              128,
                                              64 * 15625,
                                              uint64_t{1} << 32,
                                              (uint64_t{1} << 32) + 64,
                                              (uint64_t{1} << 36) + 64,
                                              (uint64_t{1} << 40) - 64,
                                              bloom::kMaxBits};
  return sizes;
}

// x + i y + (i^3 - i) / 6 mod m (Dillinger and Manolios 2004).
TEST(BloomWalkTest, IsEnhancedDoubleHashing) {
  for (const uint64_t num_bits : Sizes()) {
    for (const uint64_t hash : RandomKeys(200, /*seed=*/num_bits)) {
      EXPECT_EQ(Positions(hash, num_bits, bloom::kMaxHashes),
                ReferencePositions(hash, num_bits, bloom::kMaxHashes))
          << num_bits << " bits, hash " << hash;
    }
  }
}

TEST(BloomWalkTest, ExtremeHashesStayWithin) {
  for (const uint64_t num_bits : Sizes()) {
    for (const uint64_t hash : {uint64_t{0}, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{1}}) {
      for (const uint64_t position : Positions(hash, num_bits, bloom::kMaxHashes)) {
        EXPECT_LT(position, num_bits);
      }
    }
  }
  EXPECT_EQ(bloom::MulHigh(~uint64_t{0}, ~uint64_t{0}), ~uint64_t{0} - 1);
  EXPECT_EQ(bloom::MulHigh(~uint64_t{0}, bloom::kMaxBits), bloom::kMaxBits - 1);
}

// Each of the k positions is uniform in a large array: over its sixteenths, and over the bits of a
// word. Chi-squared with 15 and 63 degrees of freedom; random values exceed the limits once in a
// million runs.
TEST(BloomWalkTest, PositionsAreUniformPast2To36Bits) {
  constexpr size_t kKeys = 64'000;
  for (const uint64_t num_bits : {(uint64_t{1} << 36) + 64, (uint64_t{1} << 37) - 192}) {
    constexpr uint32_t kHashes = 10;
    std::vector<std::array<double, 16>> sixteenths(kHashes);
    std::vector<std::array<double, 64>> bits(kHashes);
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::vector<uint64_t> positions = Positions(HashU64(i), num_bits, kHashes);
      for (uint32_t j = 0; j < kHashes; ++j) {
        ++sixteenths[j][positions[j] / (num_bits / 16 + 1)];
        ++bits[j][positions[j] % 64];
      }
    }
    const auto chi_squared = [](const auto& counts) {
      const double want = static_cast<double>(kKeys) / static_cast<double>(counts.size());
      double sum = 0;
      for (const double count : counts) sum += (count - want) * (count - want) / want;
      return sum;
    };
    for (uint32_t j = 0; j < kHashes; ++j) {
      EXPECT_LT(chi_squared(sixteenths[j]), 60) << "position " << j;
      EXPECT_LT(chi_squared(bits[j]), 130) << "position " << j;
    }
  }
}

// Keys that share their first position have different steps: the second half of the hash decides
// them.
TEST(BloomWalkTest, StepsDoNotFollowFromPositions) {
  constexpr uint64_t kBits = uint64_t{1} << 36;
  std::set<uint64_t> steps;
  for (uint64_t low = 0; low < 1000; ++low) {
    const bloom::Walk walk = bloom::Start((uint64_t{0x123456789} << 28) | low, kBits);
    EXPECT_EQ(walk.position, 0x123456789u);
    steps.insert(walk.step);
  }
  EXPECT_EQ(steps.size(), 1000u);
}

}  // namespace tamis::bloom_test
