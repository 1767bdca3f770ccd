// The hashes are those of the xxHash library, bit for bit.
#include "tamis/hash.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <set>
#include <string>

#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

constexpr uint64_t kSeeds[] = {
    0, 1, 0xFF, 0x80000000, 0xFFFFFFFF, uint64_t{1} << 32, 0x0123456789ABCDEF, ~uint64_t{0}};

// The 8 bytes are made one by one, so this also states which end comes first.
TEST(HashTest, IntegersHashAsTheirBytesDoInTheLibrary) {
  Random random(/*seed=*/1);
  for (int i = 0; i < 1'000'000; ++i) {
    const uint64_t key = random();
    const uint64_t seed = random();
    for (const HashKind kind : kHashKinds) {
      ASSERT_EQ(HashU64(key, {kind, seed}), ReferenceHash(key, {kind, seed}))
          << HashKindName(kind) << ", key " << key << ", seed " << seed;
    }
  }
}

TEST(HashTest, IntegersAndSeedsAtTheLimits) {
  for (const HashKind kind : kHashKinds) {
    for (const uint64_t seed : kSeeds) {
      for (int bit = 0; bit < 64; ++bit) {
        for (const uint64_t key : {uint64_t{1} << bit, ~(uint64_t{1} << bit)}) {
          ASSERT_EQ(HashU64(key, {kind, seed}), ReferenceHash(key, {kind, seed}));
          // And with the roles exchanged.
          ASSERT_EQ(HashU64(seed, {kind, key}), ReferenceHash(seed, {kind, key}));
        }
      }
    }
  }
}

TEST(HashTest, IntegersHashAsHashBytesOfTheirBytes) {
  for (const uint64_t key : RandomKeys(10'000, /*seed=*/2)) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(key >> (8 * i));
    for (const HashKind kind : kHashKinds) {
      ASSERT_EQ(HashU64(key, {kind, key}), HashBytes({bytes, 8}, {kind, key}));
    }
  }
}

TEST(HashTest, BytesOfEveryLengthHashAsInTheLibrary) {
  Random random(/*seed=*/3);
  for (size_t length = 0; length <= 300; ++length) {
    std::string bytes(length, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    for (const uint64_t seed : kSeeds) {
      ASSERT_EQ(HashBytes(bytes, {HashKind::kXxh3, seed}),
                XXH3_64bits_withSeed(bytes.data(), length, seed));
      ASSERT_EQ(HashBytes(bytes, {HashKind::kXxh64, seed}), XXH64(bytes.data(), length, seed));
    }
  }
}

TEST(HashTest, BytesAreReadFromAnyAddressAndNoneBeyond) {
  const std::string bytes = RandomStrings(1, /*seed=*/4).front() + std::string(300, 'x');
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const GuardedArray<char> array(std::vector<char>(bytes.begin(), bytes.begin() + length));
    for (const HashKind kind : kHashKinds) {
      ASSERT_EQ(HashBytes({array.data(), length}, {kind, 5}),
                HashBytes({bytes.data(), length}, {kind, 5}));
    }
  }
}

// Known answers, for the case that the library in the test is as wrong as ours.
TEST(HashTest, KnownAnswers) {
  EXPECT_EQ(HashBytes("", {HashKind::kXxh64, 0}), 0xEF46DB3751D8E999u);  // xxhash_spec.md
  EXPECT_EQ(HashBytes("", {HashKind::kXxh3, 0}), 0x2D06800538D394C2u);   // xxHash, tests
}

TEST(HashTest, IsAConstantExpression) {
  static_assert(HashU64(1) == HashU64(1, {HashKind::kXxh3, 0}));
  static_assert(HashU64(1) != HashU64(1, {HashKind::kXxh64, 0}));
  static_assert(HashU64(1) != HashU64(1, {HashKind::kXxh3, 1}));
}

TEST(HashTest, KindsHaveNames) {
  EXPECT_STREQ(HashKindName(HashKind::kXxh3), "xxh3");
  EXPECT_STREQ(HashKindName(HashKind::kXxh64), "xxh64");
}

TEST(HashTest, RandomSeedsDiffer) {
  std::set<uint64_t> high, low;
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = RandomSeed();
    high.insert(seed >> 32);
    low.insert(seed & 0xFFFFFFFF);
  }
  // Two equal ones among 100 of 32 bits come once in a million runs; five, never.
  EXPECT_GT(high.size(), 95u);
  EXPECT_GT(low.size(), 95u);
}

}  // namespace
}  // namespace tamis
