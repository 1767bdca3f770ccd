// Requirements for both filters of RedisBloom.
#ifndef TAMIS_TESTS_FORMATS_REDIS_TEST_UTIL_H_
#define TAMIS_TESTS_FORMATS_REDIS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/redis_dump.h"
#include "tamis/keys.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis {

// Tests every output. `in` contains whether each key was inserted.
template <typename Filter>
void ExpectRedisOutputs(const Filter& filter, const Keys& keys, const std::vector<bool>& in) {
  const size_t n = in.size();
  ASSERT_EQ(keys.size(), n);
  std::vector<uint64_t> rows;
  for (size_t i = 0; i < n; ++i) {
    if (in[i]) rows.push_back(i);
  }
  std::vector<uint64_t> bits(BitmapWords(n) + 1, 0xABAB);
  std::vector<uint8_t> bytes(n + 1, 0xAB);
  std::vector<uint32_t> rows32(n);
  std::vector<uint64_t> rows64(n);
  ASSERT_EQ(filter.Contains(keys, Bitmap(bits)), rows.size());
  ASSERT_EQ(filter.Contains(keys, bytes), rows.size());
  ASSERT_EQ(filter.Count(keys), rows.size());
  for (size_t i = 0; i < 64 * BitmapWords(n); ++i) {
    ASSERT_EQ(Bitmap(bits).Test(i), i < n && in[i]) << i;
  }
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(bytes[i], in[i] ? 1 : 0) << i;
  EXPECT_EQ(bits.back(), 0xABABu);
  EXPECT_EQ(bytes.back(), 0xABu);
  ASSERT_EQ(filter.Select(keys, rows32), rows.size());
  ASSERT_EQ(filter.Select(keys, rows64), rows.size());
  rows64.resize(rows.size());
  EXPECT_EQ(rows64, rows);
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows32[i], rows[i]);
}

// Tests nulls, whose views point nowhere.
template <typename Filter>
void ExpectRedisNulls(const Filter& filter, const std::vector<std::string>& keys,
                      std::vector<bool> in) {
  std::vector<uint8_t> validity((keys.size() + 7) / 8);
  std::vector<std::string_view> views(keys.begin(), keys.end());
  Random random(5);
  for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random());
  for (size_t i = 0; i < keys.size(); ++i) {
    if ((validity[i / 8] >> (i % 8) & 1) != 0) continue;
    in[i] = false;
    views[i] = std::string_view(reinterpret_cast<const char*>(uintptr_t{1}), 99);
  }
  ExpectRedisOutputs(filter, Keys(views).WithValidity(validity.data()), in);
}

// Tests all layouts of strings.
template <typename Filter>
void ExpectRedisForms(const Filter& filter, const std::vector<std::string>& keys,
                      const std::vector<bool>& in) {
  std::string text;
  std::vector<int32_t> offsets = {0};
  std::vector<int64_t> large = {0};
  for (const std::string& key : keys) {
    text += key;
    offsets.push_back(static_cast<int32_t>(text.size()));
    large.push_back(static_cast<int64_t>(text.size()));
  }
  ExpectRedisOutputs(filter, StringColumn{text.data(), offsets}, in);
  ExpectRedisOutputs(filter, LargeStringColumn{text.data(), large}, in);
  ExpectRedisOutputs(filter, std::vector<std::string_view>(keys.begin(), keys.end()), in);
  std::vector<bool> fixed;
  for (size_t i = 0; i + 5 <= text.size(); i += 5) {
    fixed.push_back(filter.Contains(std::string_view(text).substr(i, 5)));
  }
  ExpectRedisOutputs(filter, FixedColumn{text.data(), 5, fixed.size()}, fixed);
}

// An integer is the same key as the string that represents it, and no other key.
template <typename Filter, typename Make>
void ExpectRedisIntegers(const Make& make) {
  const std::vector<uint64_t> keys = {0,
                                      7,
                                      static_cast<uint64_t>(-1),
                                      static_cast<uint64_t>(-1234567),
                                      uint64_t{1} << 63,
                                      (uint64_t{1} << 63) - 1,
                                      12345678901234567890u};
  for (const RedisIntegers form :
       {RedisIntegers::kSigned, RedisIntegers::kUnsigned, RedisIntegers::kBytes}) {
    std::vector<std::string> strings;
    for (const uint64_t key : keys) {
      if (form == RedisIntegers::kBytes) {
        strings.emplace_back(8, '\0');
        std::memcpy(strings.back().data(), &key, 8);
      } else {
        strings.push_back(form == RedisIntegers::kSigned ? std::to_string(static_cast<int64_t>(key))
                                                         : std::to_string(key));
      }
    }
    Filter by_integer = make(form), by_string = make(form), single = make(form);
    by_integer.Insert(keys);
    by_string.Insert(strings);
    for (const uint64_t key : keys) EXPECT_TRUE(single.Insert(key));
    EXPECT_EQ(by_integer.ToChunks(), by_string.ToChunks());
    EXPECT_EQ(single.ToChunks(), by_string.ToChunks());
    EXPECT_EQ(by_string.Count(keys), keys.size());
    for (const uint64_t key : keys) EXPECT_TRUE(by_string.Contains(key));
    // 32-bit integers are widened to 64 bits by value.
    const std::vector<int32_t> small = {0, 7, -1, -1234567};
    const std::vector<uint32_t> positive = {0, 7};
    EXPECT_EQ(by_string.Count(small), small.size());
    EXPECT_EQ(by_string.Count(positive), positive.size());
    EXPECT_EQ(by_string.Count(std::vector<uint32_t>{~0u, 8, 9}), 0u);
  }
}

}  // namespace tamis

#endif  // TAMIS_TESTS_FORMATS_REDIS_TEST_UTIL_H_
