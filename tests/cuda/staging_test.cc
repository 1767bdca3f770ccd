// Copies that bypass the caches: of any size, from and to any address. No other byte is changed.
#include "cuda/src/staging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/test_util.h"

namespace tamis::cuda::staging_test {

TEST(StageCopy, CopiesAnyBytesToAnywhere) {
  Random random(1);
  for (size_t n = 0; n < 400; n += n < 140 ? 1 : 7) {
    for (const size_t at : {0, 1, 7, 8, 15, 16, 31, 33, 63}) {
      SCOPED_TRACE(std::to_string(n) + " bytes, " + std::to_string(at) + " before the end");
      GuardedArray<uint8_t> from(n, random.Below(64));
      for (uint8_t& byte : from.span()) byte = static_cast<uint8_t>(random.Below(256));
      const auto to = GuardedArray<uint8_t>::Output(n, at);
      StageCopy(to.data(), from.data(), n);
      ASSERT_EQ(to.vector(), from.vector());
      ASSERT_TRUE(to.Intact());
      ASSERT_TRUE(from.Intact());
    }
  }
}

TEST(StageCopy, CopiesMoreThanACacheHolds) {
  const std::vector<uint64_t> keys = RandomKeys(1 << 20, 2);
  for (const size_t skip : {0, 1, 3}) {
    std::vector<uint64_t> to(keys.size());
    StageCopy(to.data(), keys.data() + skip, sizeof(uint64_t) * (keys.size() - skip));
    EXPECT_TRUE(std::equal(keys.begin() + static_cast<ptrdiff_t>(skip), keys.end(), to.begin()));
  }
}

}  // namespace tamis::cuda::staging_test
