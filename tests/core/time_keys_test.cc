// The same times are the same keys in every unit.
#include "tamis/time_keys.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/hash_keys.h"
#include "tests/test_util.h"

namespace tamis::time_keys_test {

__extension__ using Nanos = __int128;

constexpr int64_t kNanosPer[] = {86'400'000'000'000, 1'000'000'000, 1'000'000, 1'000, 1};
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

std::vector<uint64_t> HashesOf(const Keys& keys, const HashSpec& hash) {
  std::vector<uint64_t> hashes(keys.CountValid());
  HashKeys(keys, hash, hashes);
  return hashes;
}

// Returns the hash by core/FORMAT.md.
uint64_t ExpectedHash(Nanos nanos, const HashSpec& hash) {
  char bytes[sizeof(nanos)];
  std::memcpy(bytes, &nanos, sizeof(nanos));
  const bool wide = nanos < kMin || nanos > kMax;
  return HashBytes(std::string_view(bytes, wide ? 16 : 8), hash);
}

TEST(TimeKeysTest, AreHashedAsNanoseconds) {
  Random random(/*seed=*/1);
  for (int round = 0; round < 200; ++round) {
    const HashSpec hash = {round % 2 == 0 ? HashKind::kXxh3 : HashKind::kXxh64, random()};
    for (int unit = 0; unit < 5; ++unit) {
      std::vector<int64_t> counts = {0, -1, kMax, kMin};
      // Rounds without counts that need 128 bits, and rounds with some.
      const uint64_t least_shift = round % 3 == 0 ? 48 : 0;
      if (round % 3 == 0) counts.resize(2);
      while (counts.size() < 40) {
        counts.push_back(static_cast<int64_t>(random()) >> (least_shift + random() % 16));
      }
      const TimeKeys keys(counts, static_cast<TimeUnit>(unit));
      EXPECT_EQ(keys.keys().key_type(), KeyType::kTime);
      const std::vector<uint64_t> hashes = HashesOf(keys.keys(), hash);
      ASSERT_EQ(hashes.size(), counts.size());
      for (size_t i = 0; i < counts.size(); ++i) {
        EXPECT_EQ(hashes[i], ExpectedHash(Nanos{counts[i]} * kNanosPer[unit], hash))
            << counts[i] << " in unit " << unit;
      }
    }
  }
}

TEST(TimeKeysTest, OfOneUnitAreFoundInEveryOther) {
  SplitBlockBloomFilter filter({.capacity = 1000, .fpr = 1e-6});
  // The last is after 2262.
  const std::vector<int64_t> days = {-40'000, 0, 20'000, 2'932'896};
  filter.Insert(TimeKeys(days, TimeUnit::kDays).keys());
  EXPECT_EQ(filter.key_types(), KeyType::kTime);
  for (int unit = 0; unit < 4; ++unit) {
    std::vector<int64_t> counts, others;
    for (const int64_t day : days) {
      counts.push_back(day * (kNanosPer[0] / kNanosPer[unit]));
      others.push_back(counts.back() + 1);
    }
    EXPECT_EQ(filter.Count(TimeKeys(counts, static_cast<TimeUnit>(unit)).keys()), 4u) << unit;
    EXPECT_EQ(filter.Count(TimeKeys(others, static_cast<TimeUnit>(unit)).keys()), 0u) << unit;
  }
}

// NumPy's NaT is the smallest count, and Arrow allows any count there.
TEST(TimeKeysTest, NullsOfAnyCount_DoNotChangeOtherKeys) {
  Random random(/*seed=*/2);
  for (int round = 0; round < 200; ++round) {
    const uint64_t first_bit = random.Below(20);
    std::vector<int64_t> counts;
    std::vector<uint8_t> validity(12, 0);
    for (size_t i = 0; i < 70; ++i) {
      const bool valid = random.Below(4) != 0;
      const uint64_t bit = first_bit + i;
      if (valid) validity[bit / 8] |= static_cast<uint8_t>(1 << (bit % 8));
      counts.push_back(valid ? static_cast<int64_t>(random.Below(100'000)) - 50'000 : kMin);
    }
    for (int unit = 0; unit < 5; ++unit) {
      const TimeKeys times(counts, static_cast<TimeUnit>(unit), validity.data(), first_bit);
      const Keys keys = times.keys();
      ASSERT_EQ(keys.layout(), KeyLayout::kU64);
      for (size_t i = 0; i < counts.size(); ++i) {
        const bool valid = ((validity[(first_bit + i) / 8] >> ((first_bit + i) % 8)) & 1) != 0;
        ASSERT_EQ(keys.IsValid(i), valid);
        if (valid) EXPECT_EQ(keys.data<int64_t>()[i], counts[i] * kNanosPer[unit]);
      }
    }
  }
}

TEST(TimeKeysTest, MoveWithTheirKeys) {
  const std::vector<int64_t> counts = {1, 2, kMax};
  for (const TimeUnit unit : {TimeUnit::kDays, TimeUnit::kNanos}) {
    TimeKeys first(counts, unit);
    const std::vector<uint64_t> hashes = HashesOf(first.keys(), {});
    TimeKeys second(counts, TimeUnit::kMillis);
    second = std::move(first);
    EXPECT_EQ(HashesOf(second.keys(), {}), hashes);
  }
}

TEST(TimeKeysTest, WithoutCountsGiveNoKeys) {
  for (int unit = 0; unit < 5; ++unit) {
    EXPECT_TRUE(TimeKeys({}, static_cast<TimeUnit>(unit)).keys().empty());
  }
}

}  // namespace tamis::time_keys_test
