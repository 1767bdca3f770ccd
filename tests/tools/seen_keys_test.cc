// The false-positive rate that dedup follows while a filter fills up.
#include "tools/commands/seen_keys.h"

#include <gtest/gtest.h>
#include <tamis/engine/engine.h>
#include <tamis/filters/bloom_filter.h>
#include <tamis/filters/split_block_filter.h>
#include <tamis/keys.h>

#include <algorithm>
#include <vector>

#include "tests/test_util.h"

namespace tamis::tools::seen_keys_test {

template <typename F>
class SeenKeysTest : public testing::Test {};

using Kinds = testing::Types<SplitBlockBloomFilter, BloomFilter>;
TYPED_TEST_SUITE(SeenKeysTest, Kinds);

// Also for a capacity that is far too small for the bits.
TYPED_TEST(SeenKeysTest, FprIsCloseToTheRateOfTheBits) {
  const Engine engine({.threads = 1});
  for (const uint64_t capacity : {10, 1000, 20'000}) {
    for (const uint64_t bytes : {1 << 12, 1 << 16}) {
      TypeParam filter({.capacity = capacity, .bytes = bytes});
      const auto seen = SeenIn(filter, engine);
      const size_t batch = std::min<size_t>(seen->LargestBatch(), 500);
      const std::vector<uint64_t> keys = RandomKeys(batch * 200, /*seed=*/capacity + bytes);
      std::vector<uint64_t> fresh(BitmapWords(batch));
      for (size_t begin = 0; begin < keys.size(); begin += batch) {
        seen->InsertIfAbsent(std::span(keys).subspan(begin, batch), Bitmap(fresh));
        const double want = filter.expected_fpr(), fpr = seen->Fpr();
        if (want < 1e-9) continue;  // no key is lost
        ASSERT_LE(fpr, 1.5 * want) << filter.inserted_count() << " keys, " << bytes << " bytes";
        ASSERT_GE(fpr, 0.5 * want) << filter.inserted_count() << " keys, " << bytes << " bytes";
      }
    }
  }
}

// A key costs the time to read at most 256 bytes of the filter.
TYPED_TEST(SeenKeysTest, ASmallCapacity_DoesNotMakeFprReadTheFilterOften) {
  const Engine engine({.threads = 1});
  constexpr uint64_t kBytes = 1 << 20;
  TypeParam filter({.capacity = 10, .bytes = kBytes});
  const auto seen = SeenIn(filter, engine);
  EXPECT_EQ(seen->LargestBatch(), kBytes / 8 / 16);
  const std::vector<uint64_t> keys = RandomKeys(kBytes / 16, /*seed=*/1);
  std::vector<uint64_t> fresh(1);
  double last = 0;
  size_t readings = 0;
  for (size_t begin = 0; begin < keys.size(); begin += 64) {
    seen->InsertIfAbsent(std::span(keys).subspan(begin, 64), Bitmap(fresh));
    const double fpr = seen->Fpr();
    readings += fpr != last;
    last = fpr;
  }
  EXPECT_GT(readings, 8u);
  EXPECT_LE(readings, keys.size() / (kBytes / 256) + 1);
}

}  // namespace tamis::tools::seen_keys_test
