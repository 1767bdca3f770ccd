// Keys that are prepared to collide. Under hashes that are not keyed, they collide for every seed.
// Under keyed hashes with an unknown secret, they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tests/test_util.h"

namespace tamis::adversary_test {

constexpr uint64_t kSeeds = 3'000;
constexpr HashKind kKeyed[] = {HashKind::kSipHash13, HashKind::kSipHash24};

// Returns the inverse of an odd number modulo 2^64. Each step doubles the number of correct bits.
constexpr uint64_t Inverse(uint64_t a) {
  uint64_t x = a;
  for (int i = 0; i < 6; ++i) x *= 2 - a * x;
  return x;
}

constexpr uint64_t kTop = uint64_t{1} << 63;
constexpr uint64_t kPrime1 = hash::kXxh64Prime1;
constexpr uint64_t kPrime2 = hash::kXxh64Prime2;

std::string Bytes(const std::vector<uint64_t>& words) {
  std::string bytes(8 * words.size(), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// The last 24 bytes are three lanes. XXH64 turns each lane into a value v and xors it into the
// state h, which then becomes rotl(h, 27) * P1 + P4. Flipping bit 36 of h flips bit 63 before the
// product, and so bit 63 after it, for any h. Bit 63 of the next lane's v undoes this.
std::vector<uint64_t> CollidingLanes(bool first, bool second) {
  std::array<uint64_t, 3> v = {1, 2, 3};
  const uint64_t flip = kTop >> 27;
  v[0] ^= first ? flip : 0;
  v[1] ^= (first ? kTop : 0) ^ (second ? flip : 0);
  v[2] ^= second ? kTop : 0;
  std::vector<uint64_t> lanes;
  for (const uint64_t value : v) {
    // v = rotl(lane * P2, 31) * P1
    lanes.push_back(hash::RotateLeft(value * Inverse(kPrime1), 64 - 31) * Inverse(kPrime2));
  }
  return lanes;
}

std::vector<std::string> FourOf24Bytes() {
  std::vector<std::string> strings;
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) strings.push_back(Bytes(CollidingLanes(first, second)));
  }
  return strings;
}

// For stripes of 32 bytes, XXH64 has four sums. Each sum becomes rotl(sum + word * P2, 31) * P1.
// Flipping bit 63 of a word changes the next sum by plus or minus 2^30 * P1. The seed decides the
// sign. A next word that undoes one of the two changes works for half of all seeds. So 8 words of
// three stripes make 256 strings with few different sums, and the lanes make four strings of each.
constexpr int kFreeWords = 8;
constexpr size_t kStrings = size_t{4} << kFreeWords;

std::vector<std::string> PreparedStrings() {
  const uint64_t undo = (uint64_t{1} << 30) * kPrime1 * Inverse(kPrime2);
  std::vector<std::string> strings;
  for (uint64_t choice = 0; choice < kStrings; ++choice) {
    std::vector<uint64_t> words = RandomKeys(12, /*seed=*/1);
    for (size_t i = 0; i < kFreeWords; ++i) {
      if ((choice >> i & 1) == 0) continue;
      words[i] ^= kTop;
      words[i + 4] -= undo;
    }
    const std::vector<uint64_t> lanes =
        CollidingLanes((choice >> kFreeWords & 1) != 0, (choice >> kFreeWords & 2) != 0);
    words.insert(words.end(), lanes.begin(), lanes.end());
    strings.push_back(Bytes(words));
  }
  return strings;
}

// XXH3 xors a key with the seed, and then applies the same steps to all keys: a linear function,
// whose inverse is used here, two products and two shifts. Two keys with this difference differ
// only in bit 63 before and after the first product, and in bits 63 and 28 before the second. So
// their hashes differ by plus or minus one fixed number.
uint64_t Difference() {
  const auto mix = [](uint64_t x) { return x ^ hash::RotateLeft(x, 49) ^ hash::RotateLeft(x, 24); };
  // A polynomial to the power of 64 is 1, because rotations by 64 change nothing.
  uint64_t x = kTop;
  for (int i = 0; i < 63; ++i) x = mix(x);
  EXPECT_EQ(mix(x), kTop);
  return hash::RotateLeft(x, 32);
}

// The limit for the number of values in the fullest of eight classes. The first or the last bits of
// a value determine its class. Among random values, a class with more than a quarter of them occurs
// once in 10^25 classes (Chernoff's bound), so never in this file.
constexpr size_t kLimit = kStrings / 4;
static_assert(kStrings == 1024);

size_t Fullest(const std::vector<uint64_t>& values) {
  std::array<size_t, 16> counts{};
  for (const uint64_t value : values) {
    ++counts[value >> 61];
    ++counts[8 + value % 8];
  }
  return *std::max_element(counts.begin(), counts.end());
}

// Returns for how many of kSeeds seeds, or secrets, a class has more than twice its share of
// values.
template <typename Values>
uint64_t SeedsOverLimit(HashKind kind, const Values& values) {
  Random random(static_cast<uint64_t>(kind));
  uint64_t over = 0;
  for (uint64_t i = 0; i < kSeeds; ++i) {
    const std::vector<uint64_t> of_spec = values(HashOf(kind, random()));
    EXPECT_EQ(of_spec.size(), kStrings);
    over += Fullest(of_spec) > kLimit;
  }
  return over;
}

TEST(AdversaryTest, FourStringsCollideForEverySeedOfXxh64ButForNoSecret) {
  const std::vector<std::string> strings = FourOf24Bytes();
  const auto distinct = [&](const HashSpec& spec) {
    std::set<uint64_t> hashes;
    for (const std::string& s : strings) hashes.insert(HashBytes(s, spec));
    return hashes.size();
  };
  ASSERT_EQ(std::set<std::string>(strings.begin(), strings.end()).size(), 4u);
  Random random(/*seed=*/1);
  for (uint64_t i = 0; i < kSeeds; ++i) {
    const uint64_t seed = random();
    ASSERT_EQ(distinct({HashKind::kXxh64, seed}), 1u) << seed;
    for (const HashKind kind : kKeyed) ASSERT_EQ(distinct(HashOf(kind, seed)), 4u);
  }
}

TEST(AdversaryTest, PreparedStringsFillNoClassUnderASecret) {
  const std::vector<std::string> strings = PreparedStrings();
  ASSERT_EQ(std::set<std::string>(strings.begin(), strings.end()).size(), kStrings);
  const auto hashes = [&](const HashSpec& spec) {
    std::vector<uint64_t> values;
    for (const std::string& s : strings) values.push_back(HashBytes(s, spec));
    return values;
  };
  // There are at most two sums for 9 seeds in 256.
  EXPECT_GT(SeedsOverLimit(HashKind::kXxh64, hashes), kSeeds / 100);
  for (const HashKind kind : kKeyed) EXPECT_EQ(SeedsOverLimit(kind, hashes), 0u);
}

// Uses pairs of keys with a given difference of their hashes, modulo 2^64.
TEST(AdversaryTest, PreparedPairsOfIntegersFillNoClassUnderASecret) {
  const uint64_t difference = Difference();
  const std::vector<uint64_t> keys = RandomKeys(kStrings, /*seed=*/2);
  const auto differences = [&](const HashSpec& spec) {
    std::vector<uint64_t> values;
    for (const uint64_t key : keys) {
      values.push_back(HashU64(key, spec) - HashU64(key ^ difference, spec));
    }
    return values;
  };
  EXPECT_EQ(SeedsOverLimit(HashKind::kXxh3, differences), kSeeds);
  for (const HashKind kind : kKeyed) EXPECT_EQ(SeedsOverLimit(kind, differences), 0u);
}

// Any two of these integers differ by the xor of some of ten numbers.
TEST(AdversaryTest, IntegersOfASubspaceFillNoClassUnderASecret) {
  std::vector<uint64_t> keys = {RandomKeys(1, /*seed=*/3).front()};
  for (int i = 0; keys.size() < kStrings; ++i) {
    const uint64_t difference = std::rotl(Difference(), 6 * i);
    for (size_t k = keys.size(); k-- > 0;) keys.push_back(keys[k] ^ difference);
  }
  ASSERT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), kStrings);
  const auto hashes = [&](const HashSpec& spec) {
    std::vector<uint64_t> values;
    for (const uint64_t key : keys) values.push_back(HashU64(key, spec));
    return values;
  };
  for (const HashKind kind : kKeyed) EXPECT_EQ(SeedsOverLimit(kind, hashes), 0u);
}

// The effect on a cuckoo filter, which has room for only eight keys that collide.
TEST(AdversaryTest, PreparedStringsAreRefusedByAFilterOnlyWithoutASecret) {
  const std::vector<std::string> strings = PreparedStrings();
  const std::vector<std::string_view> keys(strings.begin(), strings.end());
  const auto inserted = [&](const HashSpec& spec) {
    return CuckooFilter<16>({.capacity = 100'000, .hash = spec}).Insert(keys);
  };
  uint64_t refused = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    refused += inserted({HashKind::kXxh64, seed}) < keys.size();
    for (const HashKind kind : kKeyed) EXPECT_EQ(inserted(HashOf(kind, seed)), keys.size());
  }
  EXPECT_GT(refused, 50u);
}

// The effect on a Bloom filter: if some of these strings are inserted, the filter answers "maybe"
// for all of them.
TEST(AdversaryTest, PreparedStringsAreFoundOnlyWithoutASecret) {
  constexpr size_t kInserted = kStrings / 4, kAsked = kStrings - kInserted;
  constexpr uint64_t kSecrets = 50;
  const std::vector<std::string> strings = PreparedStrings();
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  const auto found = [&](const HashSpec& spec) {
    // Each queried string differs only in its lanes from an inserted one.
    SplitBlockBloomFilter filter({.capacity = kInserted, .fpr = 0.01, .hash = spec});
    filter.Insert(std::span(views).first(kInserted));
    return filter.Count(std::span(views).subspan(kInserted));
  };
  for (const HashKind kind : kKeyed) {
    uint64_t hits = 0;
    for (uint64_t seed = 1; seed <= kSecrets; ++seed) {
      EXPECT_EQ(found({HashKind::kXxh64, seed}), kAsked);
      hits += found(HashOf(kind, seed));
    }
    EXPECT_LT(hits, kSecrets * kAsked / 50) << "at a rate of 1 in 100";
    EXPECT_GT(hits, 0u);
  }
}

}  // namespace tamis::adversary_test
