#include "tamis/formats/redis_cuckoo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/src/murmur2.h"
#include "tamis/error.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/redis_test_recipes.h"
#include "tests/formats/redis_test_util.h"
#include "tests/test_util.h"

namespace tamis::redis_cuckoo_test {

std::vector<RedisCuckooOptions> Shapes() {
  return {
      {.capacity = 4},
      {.capacity = 1024},
      {.capacity = 64, .expansion = 2},
      {.capacity = 64, .bucket_size = 1, .expansion = 4},
      {.capacity = 64, .bucket_size = 8, .max_iterations = 500, .expansion = 2},
      {.capacity = 400, .bucket_size = 13, .expansion = 2},
      {.capacity = 600, .bucket_size = 255, .expansion = 2},
      {.capacity = 600, .expansion = 0},
  };
}

// Every fingerprint is in one of its two buckets, there are size() fingerprints, and the first
// layer matches the definition.
TEST(RedisCuckooTest, FingerprintsFollowTheDefinition) {
  RedisCuckooFilter filter({.capacity = 64, .bucket_size = 4});
  ASSERT_EQ(filter.num_buckets(0), 16u);
  for (uint64_t i = 0; i < 64 && filter.num_layers() == 1; ++i) {
    const std::string key = RedisTestKey(i);
    const uint64_t hash = detail::Murmur64A(key.data(), key.size(), 0);
    const auto fingerprint = static_cast<std::byte>(hash % 255 + 1);
    const uint64_t other = hash ^ ((hash % 255 + 1) * 0x5BD1E995);
    EXPECT_TRUE(filter.Insert(key));
    if (filter.num_layers() > 1) break;
    const std::vector<std::byte> slots = filter.ToChunks()[1].bytes;
    int found = 0, taken = 0;
    for (const uint64_t bucket : {hash % 16, other % 16}) {
      for (size_t slot = 0; slot < 4; ++slot) found += slots[4 * bucket + slot] == fingerprint;
    }
    for (const std::byte slot : slots) taken += slot != std::byte{0};
    EXPECT_GT(found, 0);
    EXPECT_EQ(static_cast<uint64_t>(taken), i + 1);
    EXPECT_EQ(filter.size(), i + 1);
    EXPECT_EQ(filter.Occurrences(key), static_cast<uint64_t>(found));
  }
}

TEST(RedisCuckooTest, BulkIsOneByOne) {
  const std::vector<std::string> keys = RedisTestKeys(0, 500);
  for (const RedisCuckooOptions& options : Shapes()) {
    RedisCuckooFilter single(options), bulk(options);
    size_t inserted = 0;
    for (const std::string& key : keys) inserted += single.Insert(key);
    EXPECT_EQ(bulk.Insert(keys), inserted);
    EXPECT_EQ(bulk.ToChunks(), single.ToChunks());
    EXPECT_EQ(bulk.size(), inserted);
    if (options.expansion > 1) {
      EXPECT_EQ(inserted, keys.size());
    }

    std::vector<bool> in;
    const std::vector<std::string> asked = RedisTestKeys(300, 1300);
    for (const std::string& key : asked) in.push_back(bulk.Contains(key));
    if (inserted == keys.size()) {
      for (size_t i = 0; i < 200; ++i) EXPECT_TRUE(in[i]) << i;
    }
    for (const size_t n : TestSizes()) {
      if (n > asked.size()) continue;
      ExpectRedisOutputs(bulk, Keys(asked).Slice(0, n),
                         {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n)});
    }
    ExpectRedisNulls(bulk, asked, in);
    ExpectRedisForms(bulk, asked, in);
    std::vector<uint64_t> counts(asked.size());
    bulk.Occurrences(asked, counts);
    for (size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(counts[i], bulk.Occurrences(asked[i]));
      EXPECT_EQ(counts[i] > 0, in[i]);
    }

    for (const std::string& key : asked) single.InsertIfAbsent(key);
    std::vector<uint64_t> fresh(BitmapWords(asked.size()));
    bulk.InsertIfAbsent(asked, Bitmap(fresh));
    for (const std::string& key : keys) single.Erase(key);
    bulk.Erase(keys);
    single.Compact();
    bulk.Compact();
    EXPECT_EQ(bulk.ToChunks(), single.ToChunks());
    EXPECT_EQ(bulk.erased(), 0u);
  }
}

// No inserted key is lost, however often other keys come and go.
TEST(RedisCuckooTest, KeysThatAreInAreFound) {
  for (const RedisCuckooOptions& options : Shapes()) {
    if (options.expansion == 0) continue;
    RedisCuckooOptions unlimited = options;
    unlimited.max_expansions = 65536;
    RedisCuckooFilter filter(unlimited);
    std::map<std::string, uint64_t> model;
    uint64_t size = 0;
    Random random(3);
    for (int i = 0; i < 3000; ++i) {
      const std::string key = RedisTestKey(random.Below(300));
      if (random.Below(5) < 3) {
        ASSERT_TRUE(filter.Insert(key));
        ++model[key];
        ++size;
      } else if (model[key] > 0) {
        ASSERT_TRUE(filter.Erase(key));
        --model[key];
        --size;
      }
      ASSERT_EQ(filter.size(), size);
      if (i % 200 != 0) continue;
      for (const auto& [one, times] : model) ASSERT_GE(filter.Occurrences(one), times) << one;
    }
    while (size > 0) {
      for (auto& [key, times] : model) {
        if (times == 0) continue;
        ASSERT_TRUE(filter.Erase(key));
        --times;
        --size;
      }
    }
    filter.Compact();
    EXPECT_EQ(filter.num_layers(), 1u);
    EXPECT_EQ(filter.Count(RedisTestKeys(0, 1000)), 0u);
  }
}

TEST(RedisCuckooTest, LayersGrow) {
  RedisCuckooFilter filter({.capacity = 16, .expansion = 3});
  EXPECT_EQ(filter.expansion(), 4u);
  filter.Insert(RedisTestKeys(0, 400));
  ASSERT_EQ(filter.num_layers(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(filter.num_buckets(i), uint64_t{8} << (2 * i));
  EXPECT_EQ(filter.bytes(), 2u * 8 * (1 + 4 + 16 + 64));
}

TEST(RedisCuckooTest, FullOnes) {
  RedisCuckooFilter fixed({.capacity = 16, .expansion = 0});
  const std::vector<std::string> keys = RedisTestKeys(0, 200);
  const size_t inserted = fixed.Insert(keys);
  EXPECT_GT(inserted, 10u);
  EXPECT_LE(inserted, 16u);
  EXPECT_EQ(fixed.num_layers(), 1u);
  RedisCuckooFilter limited({.capacity = 16, .max_expansions = 3});
  EXPECT_LT(limited.Insert(keys), 48u);
  EXPECT_EQ(limited.num_layers(), 3u);
  const std::vector<RedisChunk> before = limited.ToChunks();
  EXPECT_FALSE(limited.Insert("another"));
  EXPECT_FALSE(limited.InsertIfAbsent("another"));
  EXPECT_EQ(limited.ToChunks(), before);
  // The server that loads the dump may have another limit.
  auto again = RedisCuckooFilter::FromChunks(before, {.max_expansions = 4});
  EXPECT_TRUE(again.Insert("another"));
}

TEST(RedisCuckooTest, TheExpectedRateIsTheMeasuredOne) {
  EXPECT_EQ(RedisCuckooFilter({.capacity = 100}).expected_fpr(), 0);
  for (const uint32_t bucket_size : {2u, 4u}) {
    RedisCuckooFilter filter({.capacity = 20'000, .bucket_size = bucket_size, .expansion = 2});
    for (const uint64_t n : {5'000u, 65'000u}) {
      filter.Insert(RedisTestKeys(filter.size(), n));
      ASSERT_EQ(filter.size(), n);
      const double rate = filter.expected_fpr();
      const size_t asked = 100'000;
      const auto found =
          static_cast<double>(filter.Count(RedisTestKeys(1'000'000, 1'000'000 + asked)));
      // Five standard deviations, plus the effect of keys with two equal buckets.
      EXPECT_NEAR(found / asked, rate, 5 * std::sqrt(rate / asked) + 0.02 * rate);
    }
  }
}

TEST(RedisCuckooTest, NullsAreNotKeys) {
  const std::vector<std::string> keys = RedisTestKeys(0, 100);
  std::vector<uint8_t> validity(13, 0b01010101);
  RedisCuckooFilter filter({});
  const Keys some = Keys(keys).WithValidity(validity.data());
  EXPECT_EQ(filter.Insert(some), 50u);
  std::vector<uint64_t> counts(100, 9);
  filter.Occurrences(some, counts);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(counts[i] > 0, i % 2 == 0) << i;
  EXPECT_EQ(filter.Erase(some), 50u);
  EXPECT_EQ(filter.size(), 0u);
}

TEST(RedisCuckooTest, IntegersAreTexts) {
  ExpectRedisIntegers<RedisCuckooFilter>([](RedisIntegers integers) {
    return RedisCuckooFilter({.capacity = 100000, .integers = integers});
  });
  RedisCuckooFilter filter({});
  filter.Insert(uint64_t{42});
  EXPECT_EQ(filter.Occurrences(uint64_t{42}), filter.Occurrences("42"));
  EXPECT_FALSE(filter.InsertIfAbsent(uint64_t{42}));
  EXPECT_TRUE(filter.Erase(uint64_t{42}));
  EXPECT_TRUE(filter.InsertIfAbsent(uint64_t{42}));
  EXPECT_TRUE(filter.Contains("42"));
}

TEST(RedisCuckooTest, OptionsOutOfRange) {
  const auto refused = [](const RedisCuckooOptions& options) {
    ExpectError([&] { RedisCuckooFilter filter(options); }, ErrorCode::kInvalidArgument, "allowed");
  };
  refused({.capacity = 3});
  refused({.capacity = (uint64_t{1} << 30) + 1});
  refused({.capacity = 509, .bucket_size = 255});
  refused({.bucket_size = 0});
  refused({.capacity = 1000, .bucket_size = 256});
  refused({.max_iterations = 0});
  refused({.max_iterations = 65536});
  refused({.expansion = 32769});
  refused({.max_expansions = 0});
  refused({.max_expansions = 65537});
  const std::vector<RedisChunk> chunks = RedisCuckooFilter({}).ToChunks();
  ExpectError([&] { RedisCuckooFilter::FromChunks(chunks, {.max_expansions = 0}); },
              ErrorCode::kInvalidArgument, "max_expansions");
}

TEST(RedisCuckooTest, HashesAreNotKeysAndOutputsNeedRoom) {
  RedisCuckooFilter filter({});
  const std::vector<uint64_t> hashes = {1, 2};
  std::vector<uint64_t> counts(64);
  const auto refused = [](const auto& act) { ExpectError(act, ErrorCode::kInvalidArgument, ""); };
  refused([&] { filter.Insert(Hashes{hashes}); });
  refused([&] { filter.Erase(Hashes{hashes}); });
  refused([&] { filter.Count(Hashes{hashes}); });
  refused([&] { filter.Occurrences(Hashes{hashes}, counts); });
  refused([&] { filter.Occurrences(RedisTestKeys(0, 65), counts); });
}

TEST(RedisCuckooTest, ClearRestoresTheNewFilter) {
  RedisCuckooFilter filter({.capacity = 16});
  const std::vector<RedisChunk> made = filter.ToChunks();
  filter.Insert(RedisTestKeys(0, 100));
  filter.Erase("not there");
  filter.Clear();
  EXPECT_EQ(filter.ToChunks(), made);
}

TEST(RedisCuckooTest, MovedFrom) {
  RedisCuckooFilter filter({});
  filter.Insert("key");
  RedisCuckooFilter moved = std::move(filter);
  EXPECT_TRUE(moved.Contains("key"));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_FALSE(filter.Contains("key"));
  EXPECT_FALSE(filter.Insert("key"));
  EXPECT_FALSE(filter.InsertIfAbsent("key"));
  EXPECT_FALSE(filter.Erase("key"));
  EXPECT_EQ(filter.Occurrences("key"), 0u);
  EXPECT_EQ(filter.size() + filter.bytes() + filter.num_layers() + filter.serialized_bytes(), 0u);
  EXPECT_EQ(filter.Count(RedisTestKeys(0, 10)), 0u);
  ExpectError([&] { filter.Insert({"key"}); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.Erase({"key"}); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.Compact(); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.Clear(); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.ToBytes(); }, ErrorCode::kReadOnly, "moved from");
  filter = std::move(moved);
  EXPECT_TRUE(filter.Contains("key"));
  EXPECT_FALSE(moved.Contains("key"));
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace tamis::redis_cuckoo_test
