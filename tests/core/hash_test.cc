// The hashes equal those of the xxHash library, and of SipHash's authors, bit for bit.
#include "tamis/hash.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <set>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash_kinds.h"
#include "tamis/random_seed.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::hash_test {

constexpr uint64_t kSeeds[] = {
    0, 1, 0xFF, 0x80000000, 0xFFFFFFFF, uint64_t{1} << 32, 0x0123456789ABCDEF, ~uint64_t{0}};

// The 8 bytes are made one by one, so this also tests the byte order.
TEST(HashTest, IntegersHashAsTheirBytesDoInTheLibrary) {
  Random random(/*seed=*/1);
  for (int i = 0; i < 1'000'000; ++i) {
    const uint64_t key = random();
    const uint64_t seed = random();
    for (const HashKind kind : kHashKinds) {
      const HashSpec spec = HashOf(kind, seed);
      ASSERT_EQ(HashU64(key, spec), ReferenceHash(key, spec))
          << HashKindName(kind) << ", key " << key << ", seed " << seed;
      ASSERT_EQ(detail::KeyHasher(spec)(key), HashU64(key, spec));
    }
  }
}

TEST(HashTest, IntegersAndSeedsAtTheLimits) {
  for (const HashKind kind : kHashKinds) {
    for (const uint64_t seed : kSeeds) {
      for (int bit = 0; bit < 64; ++bit) {
        for (const uint64_t key : {uint64_t{1} << bit, ~(uint64_t{1} << bit)}) {
          ASSERT_EQ(HashU64(key, HashOf(kind, seed)), ReferenceHash(key, HashOf(kind, seed)));
          // The same with the roles exchanged.
          ASSERT_EQ(HashU64(seed, HashOf(kind, key)), ReferenceHash(seed, HashOf(kind, key)));
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
      ASSERT_EQ(HashU64(key, HashOf(kind, key)), HashBytes({bytes, 8}, HashOf(kind, key)));
    }
  }
}

TEST(HashTest, BytesOfEveryLengthHashAsInTheReference) {
  Random random(/*seed=*/3);
  for (size_t length = 0; length <= 300; ++length) {
    std::string bytes(length, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    for (const uint64_t seed : kSeeds) {
      for (const HashKind kind : kHashKinds) {
        const HashSpec spec = HashOf(kind, seed);
        ASSERT_EQ(HashBytes(bytes, spec), ReferenceHash(bytes, spec)) << length;
      }
    }
  }
}

TEST(HashTest, ReadsBytesAtAnyAddressAndNoneBeyond) {
  const std::string bytes = RandomStrings(1, /*seed=*/4).front() + std::string(300, 'x');
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const GuardedArray<char> array(std::vector<char>(bytes.begin(), bytes.begin() + length));
    for (const HashKind kind : kHashKinds) {
      ASSERT_EQ(HashBytes({array.data(), length}, HashOf(kind, 5)),
                HashBytes({bytes.data(), length}, HashOf(kind, 5)));
    }
  }
}

// Published answers, in case xxHash, with which the other tests compare, has the same fault.
TEST(HashTest, KnownAnswers) {
  EXPECT_EQ(HashBytes("", {HashKind::kXxh64, 0}), 0xEF46DB3751D8E999u);  // xxhash_spec.md
  EXPECT_EQ(HashBytes("", {HashKind::kXxh3, 0}), 0x2D06800538D394C2u);   // xxHash, tests

  // Hashes of the bytes 0, 1 ... with the key 0, 1 ... 15. For SipHash-2-4: veorq/SipHash,
  // vectors.h, and, for 15 bytes, appendix A of the paper. For SipHash-1-3: dgryski/go-sip13,
  // sip13_test.go.
  struct Known {
    size_t length;
    uint64_t sip13, sip24;
  };
  constexpr Known kKnown[] = {
      {0, 0xABAC0158050FC4DC, 0x726FDB47DD0E0E31},  {1, 0xC9F49BF37D57CA93, 0x74F839C593DC67FD},
      {2, 0x82CB9B024DC7D44D, 0x0D6C8009D9A94F5A},  {7, 0xD3927D989BB11140, 0xAB0200F58B01D137},
      {8, 0x369095118D299A8E, 0x93F5F5799A932462},  {15, 0xD320D86D2A519956, 0xA129CA6149BE45E5},
      {16, 0xCC4FDD1A7D908B66, 0x3F2ACC7F57C29BDB}, {63, 0x9D199062B7BBB3A8, 0x958A324CEB064572}};
  constexpr HashSecret kSecret = {0x0706050403020100, 0x0F0E0D0C0B0A0908};
  std::string bytes;
  for (char c = 0; c < 63; ++c) bytes += c;
  for (const Known& known : kKnown) {
    const std::string_view message = std::string_view(bytes).substr(0, known.length);
    EXPECT_EQ(HashBytes(message, {HashKind::kSipHash13, 0, kSecret}), known.sip13);
    EXPECT_EQ(HashBytes(message, {HashKind::kSipHash24, 0, kSecret}), known.sip24);
  }
  EXPECT_EQ(HashU64(kSecret.low, {HashKind::kSipHash24, 0, kSecret}), 0x93F5F5799A932462u);
}

TEST(HashTest, IsAConstantExpression) {
  static_assert(HashU64(1) == HashU64(1, {HashKind::kXxh3, 0}));
  static_assert(HashU64(1) != HashU64(1, {HashKind::kXxh64, 0}));
  static_assert(HashU64(1) != HashU64(1, {HashKind::kXxh3, 1}));
  static_assert(HashU64(1, HashOf(HashKind::kSipHash13, 1)) !=
                HashU64(1, HashOf(HashKind::kSipHash24, 1)));
}

TEST(HashTest, KindsHaveNames) {
  EXPECT_STREQ(HashKindName(HashKind::kXxh3), "xxh3");
  EXPECT_STREQ(HashKindName(HashKind::kXxh64), "xxh64");
  EXPECT_STREQ(HashKindName(HashKind::kSipHash13), "siphash13");
  EXPECT_STREQ(HashKindName(HashKind::kSipHash24), "siphash24");
  EXPECT_STREQ(HashKindName(static_cast<HashKind>(9)), "unknown");
}

TEST(HashTest, RandomSeedsDiffer) {
  std::set<uint64_t> high, low;
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = RandomSeed();
    high.insert(seed >> 32);
    low.insert(seed & 0xFFFFFFFF);
  }
  // Among 100 numbers of 32 bits, two equal ones occur once in a million runs; five never do.
  EXPECT_GT(high.size(), 95u);
  EXPECT_GT(low.size(), 95u);
}

TEST(HashTest, SecretsAreRandom) {
  EXPECT_EQ(RandomKeyedHash().kind, HashKind::kSipHash13);
  std::set<uint64_t> halves;
  for (int i = 0; i < 100; ++i) {
    const HashSpec spec = RandomKeyedHash(HashKind::kSipHash24);
    EXPECT_EQ(spec.kind, HashKind::kSipHash24);
    EXPECT_EQ(spec.seed, 0u);
    halves.insert({spec.secret.low, spec.secret.high});
  }
  EXPECT_EQ(halves.size(), 200u);
  for (const HashKind kind : {HashKind::kXxh3, HashKind::kXxh64}) {
    EXPECT_THROW(RandomKeyedHash(kind), Error);
  }
}

// Tests each kind with a seed and with a secret. The error message does not contain the secret.
TEST(HashTest, SeedsAndSecretsAreNotMixedUp) {
  for (const HashKind kind : kHashKinds) {
    for (const HashSecret& secret : {HashSecret{0, 987'654'321}, HashSecret{987'654'321, 0}}) {
      const HashSpec spec{kind, IsKeyed(kind) ? uint64_t{1} : 0, secret};
      try {
        SplitBlockBloomFilter({.capacity = 100, .hash = spec});
        ADD_FAILURE() << HashKindName(kind);
      } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(what.find(HashKindName(kind)), what.npos) << what;
        EXPECT_EQ(what.find("9876"), what.npos) << what;
        EXPECT_EQ(what.find("3ade68b1"), what.npos) << what;  // in hexadecimal
      }
    }
  }
}

}  // namespace tamis::hash_test
