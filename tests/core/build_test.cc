// Build: sized by the number of keys, the same bytes each time.
#include "tamis/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tamis/bloom_filter.h"
#include "tamis/cuckoo_filter.h"
#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::build_test {

// In batches of that many keys.
RepeatableSource SourceOf(const std::vector<uint64_t>& keys, size_t batch) {
  return [&keys, batch](const std::function<void(Keys)>& visit) {
    for (size_t i = 0; i < keys.size(); i += batch) {
      visit(Keys(keys).Slice(i, std::min(batch, keys.size() - i)));
    }
  };
}

TEST(BuildTest, HasTheSizeThatTheKeysNeed) {
  const std::vector<uint64_t> keys = RandomKeys(30'000, /*seed=*/1);
  const FilterOptions options{.fpr = 0.001, .hash = {HashKind::kXxh64, 4}};
  const auto filter = Build<SplitBlockBloomFilter>(SourceOf(keys, 1000), options);
  SplitBlockBloomFilter want({.capacity = 30'000, .fpr = 0.001, .hash = {HashKind::kXxh64, 4}});
  want.Insert(keys);
  EXPECT_EQ(Payload(filter), Payload(want));
  EXPECT_EQ(filter.capacity(), 30'000u);
  EXPECT_EQ(filter.inserted_count(), 30'000u);
  EXPECT_EQ(filter.hash(), want.hash());
  EXPECT_EQ(Build<CuckooFilter<16>>(SourceOf(keys, 4096), {}).Count(keys), keys.size());
}

TEST(BuildTest, IsTheSameWhateverTheOrderBatchesAndThreads) {
  std::vector<uint64_t> keys = RandomKeys(100'000, /*seed=*/1);
  const auto want = Payload(Build<BloomFilter>(SourceOf(keys, 777), {}));
  std::reverse(keys.begin(), keys.end());
  EXPECT_EQ(Payload(Build<BloomFilter>(SourceOf(keys, 50'000), {})), want);
  const Engine engine({.threads = 3});
  EXPECT_EQ(Payload(Build<BloomFilter>(SourceOf(keys, 50'000), {}, &engine)), want);
}

TEST(BuildTest, NoKeysMakeAnEmptyFilter) {
  const auto filter = Build<BloomFilter>([](const std::function<void(Keys)>&) {}, {});
  EXPECT_EQ(filter.inserted_count(), 0u);
  EXPECT_EQ(filter.capacity(), 1u);
}

TEST(BuildTest, WhatGoesWrongIsSaid) {
  const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/1);
  ExpectError([&] { Build<BloomFilter>(SourceOf(keys, 10), {.capacity = 5}); },
              ErrorCode::kInvalidArgument, "capacity and bytes must be 0");
  for (const bool grows : {true, false}) {
    int call = 0;
    const RepeatableSource changing = [&](const std::function<void(Keys)>& visit) {
      visit(Keys(keys).Slice(0, (call++ == 0) == grows ? 60 : 90));
    };
    ExpectError([&] { Build<BloomFilter>(changing, {}); }, ErrorCode::kInvalidArgument,
                grows ? "60 keys at first, then 90" : "90 keys at first, then 60");
  }
  const std::vector<uint64_t> copies(50, 7);
  ExpectError([&] { Build<CuckooFilter<8>>(SourceOf(copies, 50), {}); },
              ErrorCode::kInvalidArgument, "42 of 50 keys found no room");
}

}  // namespace tamis::build_test
