// Bulk calls with integer keys, which the kernels of a backend hash, act like calls with one key at
// a time: for all layouts of integers, with nulls, in batches of every size around the sizes of a
// vector and a block.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/backends.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/spark.h"
#include "tests/test_util.h"

namespace tamis::integer_keys_test {

std::vector<std::byte> BytesOf(const GuavaBloomFilter& filter) { return filter.ToBytes(); }
std::vector<std::byte> BytesOf(const SparkBloomFilter& filter) { return filter.ToBytes(); }
std::vector<std::byte> BytesOf(const RedisBloomFilter& filter) { return filter.ToBytes(); }

// Includes small numbers and their negatives, so that all layouts have common keys.
template <typename Key>
std::vector<Key> KeysOf(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<Key> keys(n);
  for (Key& key : keys) {
    key = static_cast<Key>(random.Below(2) == 0 ? random() : random.Below(100) - 50);
  }
  return keys;
}

template <typename Key>
uint64_t Widened(Key key) {
  return static_cast<uint64_t>(static_cast<int64_t>(key));
}

bool BitOf(const std::vector<uint8_t>& bits, size_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }

class IntegerKeysTest : public BackendTest {
 protected:
  // make(backend) returns an empty filter.
  template <typename Key, typename Make>
  void BulkIsOneByOne(const Make& make) {
    constexpr size_t kFirstBit = 3;
    std::vector<size_t> sizes = {511, 512, 513, 1000};
    for (size_t n = 0; n <= 130; ++n) sizes.push_back(n);
    for (const size_t n : sizes) {
      const std::vector<Key> keys = KeysOf<Key>(n, n);
      std::vector<uint8_t> validity((n + kFirstBit + 7) / 8);
      Random random(n + 1);
      for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random());
      const Keys some = Keys(keys).WithValidity(validity.data(), kFirstBit);
      const auto valid = [&](size_t i) { return BitOf(validity, i + kFirstBit); };

      auto bulk = make(&backend()), single = make(&backend());
      bulk.Insert(some);
      for (size_t i = 0; i < n; ++i) {
        if (valid(i)) single.Insert(Widened(keys[i]));
      }
      ASSERT_EQ(BytesOf(bulk), BytesOf(single)) << n;

      std::vector<uint8_t> all(n), not_null(n);
      bulk.Contains(keys, all);
      bulk.Contains(some, not_null);
      for (size_t i = 0; i < n; ++i) {
        const bool in = single.Contains(Widened(keys[i]));
        ASSERT_EQ(all[i], in) << i << " of " << n;
        ASSERT_EQ(not_null[i], in && valid(i)) << i << " of " << n;
      }
      bulk.Insert(keys);
      for (const Key key : keys) single.Insert(Widened(key));
      ASSERT_EQ(BytesOf(bulk), BytesOf(single)) << n;
    }
  }

  template <typename Make>
  void BulkOfAllLayouts(const Make& make) {
    BulkIsOneByOne<uint64_t>(make);
    BulkIsOneByOne<int64_t>(make);
    BulkIsOneByOne<uint32_t>(make);
    BulkIsOneByOne<int32_t>(make);
  }
};

TEST_P(IntegerKeysTest, Guava) {
  for (const GuavaStrategy strategy :
       {GuavaStrategy::kMurmur128Mitz32, GuavaStrategy::kMurmur128Mitz64}) {
    BulkOfAllLayouts([strategy](const Backend* backend) {
      return GuavaBloomFilter(
          GuavaFunnel::kLong,
          {.capacity = 300, .fpr = 0.1, .strategy = strategy, .backend = backend});
    });
  }
  BulkIsOneByOne<int32_t>([](const Backend* backend) {
    return GuavaBloomFilter(GuavaFunnel::kInt, {.capacity = 300, .fpr = 0.1, .backend = backend});
  });
}

TEST_P(IntegerKeysTest, Spark) {
  BulkOfAllLayouts([](const Backend* backend) {
    return SparkBloomFilter(
        {.capacity = 300, .fpr = 0.1, .version = SparkVersion::kV1, .backend = backend});
  });
  BulkOfAllLayouts([](const Backend* backend) {
    return SparkBloomFilter({.capacity = 300,
                             .fpr = 0.1,
                             .version = SparkVersion::kV2,
                             .seed = -559038737,
                             .backend = backend});
  });
}

TEST_P(IntegerKeysTest, RedisBloom) {
  for (const RedisIntegers integers : {RedisIntegers::kBytes, RedisIntegers::kSigned}) {
    for (const bool hash32 : {false, true}) {
      // With several links.
      BulkOfAllLayouts([&](const Backend* backend) {
        return RedisBloomFilter({.capacity = 100,
                                 .error_rate = 0.1,
                                 .hash32 = hash32,
                                 .integers = integers,
                                 .backend = backend});
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, IntegerKeysTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::integer_keys_test
