// The hash kernels for filters of other libraries: every backend gives the hashes of the portable
// kernels, which equal the hashes of one key at a time.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "formats/src/murmur3.h"
#include "formats/src/redis/redis_hash.h"
#include "formats/src/spark_hash.h"
#include "tamis/backends.h"
#include "tamis/detail/format_hash_kernels.h"
#include "tamis/detail/kernels.h"
#include "tests/simd/kernel_test_util.h"
#include "tests/test_util.h"

namespace tamis::format_hash_test {

using detail::FormatHashKernels;
using detail::Hash128;

class FormatHashKernelTest : public BackendTest {
 protected:
  // Tests hash(kernels, keys, n, hashes) with many numbers of keys, at any address.
  template <typename Hash>
  void EqualsPortable(const Hash& hash) {
    std::vector<size_t> sizes(131);
    std::iota(sizes.begin(), sizes.end(), size_t{0});
    Random random(1);
    for (int i = 0; i < 20; ++i) sizes.push_back(random.Below(2000));
    for (const size_t n : sizes) {
      for (const size_t in_slack : {0, 1}) {
        const GuardedArray<uint64_t> keys(RandomValues(n, /*seed=*/n), in_slack);
        std::vector<Hash128> want(n);
        hash(portable().format_hash, keys.data(), n, want.data());
        for (const size_t out_slack : {0, 1, 2}) {
          const auto got = GuardedArray<Hash128>::Output(n, out_slack);
          hash(kernels().format_hash, keys.data(), n, got.data());
          ASSERT_EQ(got.vector(), want)
              << "n = " << n << ", slacks " << in_slack << " and " << out_slack;
          ASSERT_TRUE(got.Intact()) << "n = " << n;
        }
        ASSERT_TRUE(keys.Intact()) << "n = " << n;
      }
    }
  }
};

TEST_P(FormatHashKernelTest, RedisEqualsPortable) {
  EqualsPortable([](const FormatHashKernels& kernels, const uint64_t* keys, size_t n,
                    Hash128* hashes) { kernels.redis(keys, n, hashes); });
}

TEST_P(FormatHashKernelTest, GuavaEqualsPortable) {
  EqualsPortable([](const FormatHashKernels& kernels, const uint64_t* keys, size_t n,
                    Hash128* hashes) { kernels.guava(keys, n, hashes); });
}

TEST_P(FormatHashKernelTest, SparkEqualsPortable) {
  for (const int32_t seed : {0, 1, -1, -559038737}) {
    EqualsPortable([seed](const FormatHashKernels& kernels, const uint64_t* keys, size_t n,
                          Hash128* hashes) { kernels.spark(seed, keys, n, hashes); });
  }
}

// The tests of each format compare these hashes with the other library.
TEST_P(FormatHashKernelTest, EqualTheHashesOfBytes) {
  constexpr int32_t kSeed = -559038737;
  const std::vector<uint64_t> keys = RandomValues(1000, /*seed=*/2);
  std::vector<Hash128> redis(keys.size()), guava(keys.size()), spark(keys.size());
  kernels().format_hash.redis(keys.data(), keys.size(), redis.data());
  kernels().format_hash.guava(keys.data(), keys.size(), guava.data());
  kernels().format_hash.spark(kSeed, keys.data(), keys.size(), spark.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view bytes(reinterpret_cast<const char*>(&keys[i]), sizeof(keys[i]));
    ASSERT_EQ(redis[i], detail::RedisHash64::Of(bytes)) << i;
    ASSERT_EQ(guava[i], detail::Murmur3OfBytes(bytes.data(), bytes.size())) << i;
    ASSERT_EQ(spark[i], detail::SparkHashes(bytes, kSeed)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, FormatHashKernelTest,
                         testing::ValuesIn(Backends().begin(), Backends().end()), BackendName());

}  // namespace tamis::format_hash_test
