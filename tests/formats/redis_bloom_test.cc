#include "tamis/formats/redis_bloom.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "formats/src/murmur2.h"
#include "tamis/error.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/redis_test_recipes.h"
#include "tests/formats/redis_test_util.h"
#include "tests/test_util.h"

namespace tamis::redis_bloom_test {

// A model of a chain that follows the definition bit by bit, with links of the sizes of a filter.
// The hash has its own tests.
class Model {
 public:
  Model(bool hash32, uint32_t num_hashes) : hash32_(hash32), num_hashes_(num_hashes) {}

  std::vector<uint64_t> BitsOf(const std::string& key, uint64_t modulus) const {
    uint64_t a = 0, b = 0;
    if (hash32_) {
      a = detail::Murmur2(key.data(), key.size(), 0x9747B28C);
      b = detail::Murmur2(key.data(), key.size(), static_cast<uint32_t>(a));
    } else {
      a = detail::Murmur64A(key.data(), key.size(), 0xC6A4A7935BD1E995);
      b = detail::Murmur64A(key.data(), key.size(), a);
    }
    std::vector<uint64_t> bits;
    for (uint64_t i = 0; i < num_hashes_; ++i) bits.push_back((a + i * b) % modulus);
    return bits;
  }

 private:
  bool hash32_;
  uint32_t num_hashes_;
};

std::vector<RedisBloomOptions> Shapes() {
  return {
      {.capacity = 1},
      {.capacity = 100},
      {.capacity = 30, .error_rate = 0.2},
      {.capacity = 10, .error_rate = 1e-9, .expansion = 1},
      {.capacity = 500, .non_scaling = true},
      {.capacity = 50, .power_of_two = true},
      {.capacity = 50, .hash32 = true},
      {.capacity = 50, .power_of_two = true, .hash32 = true},
  };
}

TEST(RedisBloomTest, BitsFollowTheDefinition) {
  for (const RedisBloomOptions& options : Shapes()) {
    RedisBloomFilter filter(options);
    const RedisBloomLink link = filter.link(0);
    const uint64_t modulus = link.log2_bits > 0 ? uint64_t{1} << link.log2_bits : 8 * link.bytes;
    EXPECT_EQ(link.log2_bits > 0, options.power_of_two);
    const Model model(options.hash32, link.num_hashes);
    std::vector<bool> bits(8 * link.bytes);
    uint64_t size = 0;
    for (uint64_t i = 0; i < options.capacity && i < 50; ++i) {
      const std::string key = RedisTestKey(i);
      bool fresh = false;
      for (const uint64_t bit : model.BitsOf(key, modulus)) {
        fresh |= !bits[bit];
        bits[bit] = true;
      }
      EXPECT_EQ(filter.Insert(key), fresh);
      size += fresh;
      EXPECT_EQ(filter.size(), size);
    }
    const std::vector<RedisChunk> chunks = filter.ToChunks();
    ASSERT_EQ(chunks.size(), 2u);
    for (uint64_t i = 0; i < bits.size(); ++i) {
      EXPECT_EQ(static_cast<uint8_t>(chunks[1].bytes[i / 8]) >> (i % 8) & 1, bits[i]) << i;
    }
  }
}

TEST(RedisBloomTest, BulkIsOneByOne) {
  const std::vector<std::string> keys = RedisTestKeys(0, 700);
  for (const RedisBloomOptions& options : Shapes()) {
    if (options.non_scaling) continue;
    RedisBloomFilter single(options), bulk(options);
    size_t fresh = 0;
    for (const std::string& key : keys) fresh += single.Insert(key);
    EXPECT_EQ(bulk.Insert(keys), keys.size());
    EXPECT_EQ(bulk.ToChunks(), single.ToChunks());
    EXPECT_GT(bulk.num_links(), 1u);
    EXPECT_EQ(bulk.size(), fresh);
    std::vector<bool> in;
    const std::vector<std::string> asked = RedisTestKeys(400, 1700);
    for (const std::string& key : asked) in.push_back(bulk.Contains(key));
    for (size_t i = 0; i < 300; ++i) EXPECT_TRUE(in[i]) << i;
    for (const size_t n : TestSizes()) {
      if (n > asked.size()) continue;
      ExpectRedisOutputs(bulk, Keys(asked).Slice(0, n),
                         {in.begin(), in.begin() + static_cast<std::ptrdiff_t>(n)});
    }
    ExpectRedisNulls(bulk, asked, in);
    ExpectRedisForms(bulk, asked, in);
  }
}

TEST(RedisBloomTest, IntegersAreTexts) {
  ExpectRedisIntegers<RedisBloomFilter>([](RedisIntegers integers) {
    return RedisBloomFilter({.capacity = 1000, .error_rate = 1e-6, .integers = integers});
  });
}

TEST(RedisBloomTest, LinksGrow) {
  RedisBloomFilter filter({.capacity = 10, .error_rate = 0.01, .expansion = 3});
  uint64_t i = 0;
  while (filter.num_links() < 4) filter.Insert(RedisTestKey(i++));
  uint64_t capacity = 0, bytes = 0, size = 0;
  for (size_t link = 0; link < 4; ++link) {
    const RedisBloomLink& at = filter.link(link);
    EXPECT_EQ(at.capacity, link == 0 ? 10 : 3 * filter.link(link - 1).capacity);
    EXPECT_DOUBLE_EQ(at.error_rate, 0.005 / std::pow(2, link));
    EXPECT_EQ(at.num_hashes, static_cast<uint32_t>(std::ceil(-std::log2(at.error_rate))));
    EXPECT_EQ(at.size, link == 3 ? 1 : at.capacity);
    capacity += at.capacity;
    bytes += at.bytes;
    size += at.size;
  }
  EXPECT_EQ(filter.capacity(), capacity);
  EXPECT_EQ(filter.bytes(), bytes);
  EXPECT_EQ(filter.size(), size);
  EXPECT_EQ(filter.expansion(), 3u);
}

TEST(RedisBloomTest, RateIsTheRequestedOne) {
  for (const double rate : {0.2, 0.01, 0.001}) {
    RedisBloomFilter filter({.capacity = 1000, .error_rate = rate});
    filter.Insert(RandomKeys(50000, 1));
    const size_t n = 400000;
    const double expected = filter.expected_fpr();
    const auto found = static_cast<double>(filter.Count(RandomKeys(n, 2))) / n;
    EXPECT_LT(expected, 1.05 * rate);  // for 6 links, whose numbers of hashes are rounded up
    EXPECT_NEAR(found, expected, 5 * std::sqrt(expected / n) + 0.05 * expected);
  }
}

TEST(RedisBloomTest, RateIsCapped) {
  const RedisBloomFilter half({.error_rate = 0.5}), quarter({.error_rate = 0.25});
  EXPECT_EQ(half.ToChunks(), quarter.ToChunks());
  EXPECT_EQ(half.link(0).error_rate, 0.125);
  EXPECT_EQ(RedisBloomFilter({.error_rate = 0.25, .non_scaling = true}).link(0).error_rate, 0.25);
}

TEST(RedisBloomTest, FullOnesThatDoNotScale) {
  RedisBloomFilter filter({.capacity = 20, .error_rate = 1e-9, .expansion = 0});
  EXPECT_TRUE(filter.non_scaling());
  EXPECT_EQ(filter.flags(), 13u);
  const std::vector<std::string> keys = RedisTestKeys(0, 30);
  ExpectError([&] { filter.Insert(keys); }, ErrorCode::kOutOfMemory, "full");
  EXPECT_EQ(filter.size(), 20u);
  EXPECT_EQ(filter.Count(Keys(keys).Slice(0, 20)), 20u);
  const std::vector<RedisChunk> before = filter.ToChunks();
  ExpectError([&] { filter.Insert(keys[29]); }, ErrorCode::kOutOfMemory, "full");
  EXPECT_FALSE(filter.Insert(keys[19]));
  EXPECT_EQ(filter.ToChunks(), before);
}

TEST(RedisBloomTest, OptionsOutOfRange) {
  const auto refused = [](const RedisBloomOptions& options) {
    ExpectError([&] { RedisBloomFilter filter(options); }, ErrorCode::kInvalidArgument, "");
  };
  refused({.capacity = 0});
  refused({.capacity = (uint64_t{1} << 30) + 1});
  refused({.capacity = ~uint64_t{0}});
  for (const double rate : {0.0, -0.1, 1.0, 2.0, std::nan("")}) refused({.error_rate = rate});
  refused({.error_rate = std::numeric_limits<double>::denorm_min()});  // half of this is 0
  refused({.expansion = 32769});
  EXPECT_EQ(RedisBloomFilter({.expansion = 32768}).expansion(), 32768u);
  EXPECT_EQ(RedisBloomFilter({.error_rate = 1e-323, .non_scaling = true}).link(0).num_hashes,
            1074u);
}

TEST(RedisBloomTest, HashesAreNotKeys) {
  RedisBloomFilter filter({});
  const std::vector<uint64_t> hashes = {1, 2};
  ExpectError([&] { filter.Insert(Hashes{hashes}); }, ErrorCode::kInvalidArgument, "hashes");
  ExpectError([&] { filter.Count(Hashes{hashes}); }, ErrorCode::kInvalidArgument, "hashes");
}

TEST(RedisBloomTest, MergeIsTheUnion) {
  const RedisBloomOptions options = {.capacity = 20, .error_rate = 0.001};
  RedisBloomFilter a(options), b(options), half(options);
  const std::vector<std::string> first = RedisTestKeys(0, 100), second = RedisTestKeys(60, 160);
  a.Insert(first);
  b.Insert(second);
  half.Insert(RedisTestKeys(0, 50));
  ASSERT_EQ(a.num_links(), b.num_links());
  const uint64_t size = a.size() + b.size();
  a.Merge(a);
  EXPECT_EQ(a.size(), first.size());
  a.Merge(b);
  EXPECT_EQ(a.Count(first), first.size());
  EXPECT_EQ(a.Count(second), second.size());
  EXPECT_EQ(a.size(), size);
  // The written dump is read, so the sizes of the links add up.
  EXPECT_EQ(RedisBloomFilter::FromChunks(a.ToChunks()).size(), size);

  const std::vector<RedisChunk> before = a.ToChunks();
  const auto refused = [&](const RedisBloomOptions& other, const char* what) {
    ExpectError([&] { a.Merge(RedisBloomFilter(other)); }, ErrorCode::kIncompatible, what);
  };
  ExpectError([&] { a.Merge(half); }, ErrorCode::kIncompatible, "numbers of links");
  refused({.capacity = 20, .error_rate = 0.001, .hash32 = true}, "flags");
  refused({.capacity = 20, .error_rate = 0.001, .expansion = 4}, "expansions");
  EXPECT_EQ(a.ToChunks(), before);
  RedisBloomFilter one({.capacity = 20});
  ExpectError([&] { one.Merge(RedisBloomFilter({.capacity = 60})); }, ErrorCode::kIncompatible,
              "sizes of a link");
  ExpectError([&] { one.Merge(RedisBloomFilter({.capacity = 21})); }, ErrorCode::kIncompatible, "");
}

TEST(RedisBloomTest, ClearRestoresTheNewFilter) {
  RedisBloomFilter filter({.capacity = 10});
  const std::vector<RedisChunk> made = filter.ToChunks();
  filter.Insert(RedisTestKeys(0, 100));
  filter.Clear();
  EXPECT_EQ(filter.ToChunks(), made);
}

TEST(RedisBloomTest, MovedFrom) {
  RedisBloomFilter filter({});
  filter.Insert("key");
  RedisBloomFilter moved = std::move(filter);
  EXPECT_TRUE(moved.Contains("key"));
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_FALSE(filter.Contains("key"));
  EXPECT_FALSE(filter.Insert("key"));
  EXPECT_EQ(filter.size() + filter.bytes() + filter.num_links() + filter.serialized_bytes(), 0u);
  EXPECT_EQ(filter.Count(RedisTestKeys(0, 10)), 0u);
  ExpectError([&] { filter.Insert({"key"}); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.Merge(moved); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.Clear(); }, ErrorCode::kReadOnly, "moved from");
  ExpectError([&] { filter.ToChunks(); }, ErrorCode::kReadOnly, "moved from");
  filter = std::move(moved);
  EXPECT_TRUE(filter.Contains("key"));
  EXPECT_FALSE(moved.Contains("key"));
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace tamis::redis_bloom_test
