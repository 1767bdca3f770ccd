// What the tests of filters on servers in C share.
#ifndef TAMIS_TESTS_C_REDIS_REDIS_C_TEST_UTIL_H_
#define TAMIS_TESTS_C_REDIS_REDIS_C_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tamis/c/redis.h"
#include "tamis/redis/split_block_filter.h"
#include "tests/c/c_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis {

struct FreeRemote {
  void operator()(tamis_redis_filter* filter) const { tamis_redis_filter_free(filter); }
  void operator()(tamis_redis_near_copy* copy) const { tamis_redis_near_copy_free(copy); }
};
using CRedisFilter = std::unique_ptr<tamis_redis_filter, FreeRemote>;
using CNearCopy = std::unique_ptr<tamis_redis_near_copy, FreeRemote>;

// The options, and the text that they point to.
struct CClient {
  explicit CClient(const Servers& servers) : url(servers.options().url) {
    options.url = url.c_str();
  }
  const std::string url;
  tamis_redis_options options = TAMIS_INIT(tamis_redis_options);
};

inline CRedisFilter CreateC(const std::string& name, const tamis_redis_create_options& options,
                            const CClient& client) {
  tamis_redis_filter* filter = nullptr;
  EXPECT_EQ(tamis_redis_filter_create(name.c_str(), &options, &client.options, &filter), TAMIS_OK)
      << tamis_last_error();
  return CRedisFilter(filter);
}

inline CRedisFilter OpenC(const std::string& name, const CClient& client) {
  tamis_redis_filter* filter = nullptr;
  EXPECT_EQ(tamis_redis_filter_open(name.c_str(), nullptr, &client.options, &filter), TAMIS_OK)
      << tamis_last_error();
  return CRedisFilter(filter);
}

inline tamis_redis_create_options OfBytes(uint64_t bytes, const tamis_hash& hash = {}) {
  auto options = TAMIS_INIT(tamis_redis_create_options);
  options.bytes = bytes;
  options.hash = hash;
  return options;
}

inline std::vector<uint64_t> UnansweredOf(const tamis_redis_filter* filter) {
  const uint64_t* keys = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(tamis_redis_filter_unanswered(filter, &keys, &count), TAMIS_OK);
  return {keys, keys + count};
}
inline std::vector<uint64_t> UnansweredOf(const tamis_redis_near_copy* copy) {
  const uint64_t* keys = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(tamis_redis_near_copy_unanswered(copy, &keys, &count), TAMIS_OK);
  return {keys, keys + count};
}

inline std::vector<std::byte> PayloadOf(const tamis_filter* filter) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(tamis_filter_payload(filter, &data, &bytes), TAMIS_OK);
  const auto* const first = static_cast<const std::byte*>(data);
  return {first, first + bytes};
}

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_C_REDIS_REDIS_C_TEST_UTIL_H_
