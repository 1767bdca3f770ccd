// The concurrent filters of the library in Live and CacheGuard.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tamis/live/guard.h"
#include "tamis/live/live.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::concurrent_in_live_test {

static_assert(ConcurrentlyChangeable<ConcurrentSplitBlockBloomFilter>);
static_assert(ConcurrentlyChangeable<ConcurrentBloomFilter>);
static_assert(!ConcurrentlyErasable<ConcurrentBloomFilter>);
static_assert(ConcurrentlyErasable<ConcurrentCuckooFilter<12>>);

template <typename F>
class ConcurrentInLiveTest : public testing::Test {};
using Filters = testing::Types<ConcurrentSplitBlockBloomFilter, ConcurrentBloomFilter,
                               ConcurrentCuckooFilter<16>>;
TYPED_TEST_SUITE(ConcurrentInLiveTest, Filters);

// Changes are recorded as hashes, which do not contain the key type.
TYPED_TEST(ConcurrentInLiveTest, ARebuildKeepsTheFormsOfKeys) {
  const FilterOptions options = {.capacity = 1000};
  Live<TypeParam> live;
  live.Publish(TypeParam(options));
  const std::vector<uint64_t> keys = RandomKeys(10, 1);
  live.Insert(keys);
  live.Rebuild({[&](RebuildContext&) {
    live.Insert(RandomKeys(10, 2));
    TypeParam next(options);
    next.Insert(keys);
    return next;
  }});
  EXPECT_EQ(live.Read()->key_types(), KeyTypes(KeyType::kInteger));
  EXPECT_EQ(live.Read()->Count(RandomKeys(10, 2)), 10u);
}

TYPED_TEST(ConcurrentInLiveTest, KeysThatWereNotInsertedAddNoType) {
  TypeParam filter({.capacity = 100});
  filter.Insert(RandomKeys(10, 3));
  filter.Insert(std::vector<std::string_view>());
  const std::vector<std::string_view> null(1);
  const uint8_t no_bit = 0;
  filter.Insert(Keys(null).WithValidity(&no_bit, 0));
  EXPECT_EQ(filter.key_types(), KeyTypes(KeyType::kInteger));
}

TYPED_TEST(ConcurrentInLiveTest, AssignedToItselfItIsTheSame) {
  TypeParam filter({.capacity = 100});
  filter.Insert(RandomKeys(10, 4));
  TypeParam& same = filter;
  filter = std::move(same);
  EXPECT_EQ(filter.inserted_count(), 10u);
  EXPECT_EQ(filter.Count(RandomKeys(10, 4)), 10u);
}

// The greatest possible age does not overflow to a small one.
TYPED_TEST(ConcurrentInLiveTest, AgesDoNotOverflow) {
  Live<TypeParam> live;
  live.Publish(TypeParam({.capacity = 100}), std::chrono::nanoseconds::max());
  EXPECT_GT(live.Read().age(), std::chrono::hours(24 * 365 * 200));
}

TEST(ConcurrentFilterTest, OnlyItsOwnerSavesIt) {
  const TemporaryFolder folder;
  ConcurrentSplitBlockBloomFilter filter({.capacity = 100});
  filter.Insert(uint64_t{1});
  ExpectError([&] { filter.filter().Save(folder / "f"); }, ErrorCode::kInvalidArgument,
              "belongs to a concurrent filter");
  EXPECT_FALSE(std::filesystem::exists(folder / "f"));
  filter.Snapshot().Save(folder / "f");
  std::move(filter).Release().Save(folder / "f");
  EXPECT_TRUE(SplitBlockBloomFilter::Load(folder / "f").Contains(uint64_t{1}));
}

// A query of a full cuckoo filter may find a rejected key because another key has an equal
// fingerprint. The rejected key must not be committed: the filter loses it with the other key.
TEST(ConcurrentGuardTest, KeysThatTheFilterRefusesAreNotCommitted) {
  Live<ConcurrentCuckooFilter<8>> live;
  live.Publish(ConcurrentCuckooFilter<8>({.capacity = 100}));
  CacheGuard<uint64_t, uint64_t, ConcurrentCuckooFilter<8>> guard(live);
  std::vector<uint64_t> committed;
  for (const uint64_t key : RandomKeys(3000, 5)) {
    try {
      guard.Insert(key, [&] { committed.push_back(key); });
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(live.Read()->inserted_count(), committed.size());
  while (committed.size() > 1) {
    EXPECT_EQ(live.Erase(std::vector<uint64_t>{committed.back()}), 1u);
    committed.pop_back();
    ASSERT_EQ(live.Read()->Count(committed), committed.size());
  }
}

// The keys of these values are unknown.
TEST(ConcurrentGuardTest, ACacheThatLeavesKeysOutIsNotBelieved) {
  struct HitsAlone {
    std::vector<std::optional<uint64_t>> Get(std::span<const uint64_t>) { return {15}; }
    void Put(std::span<const std::pair<uint64_t, uint64_t>>) {}
  };
  Live<ConcurrentSplitBlockBloomFilter> live;
  CacheGuard<uint64_t, uint64_t, ConcurrentSplitBlockBloomFilter> guard(live);
  HitsAlone cache;
  const std::vector<uint64_t> keys = {10, 15};
  const auto values = guard.GetMany(keys, cache, [](std::span<const uint64_t> asked) {
    return std::vector<std::optional<uint64_t>>(asked.begin(), asked.end());
  });
  EXPECT_EQ(values, (std::vector<std::optional<uint64_t>>{10, 15}));
  EXPECT_EQ(guard.stats().cache_failures, 1u);
}

// The database may take long. During a load, the guard must not keep a filter alive.
TEST(ConcurrentGuardTest, ALoadKeepsNoFilter) {
  Live<ConcurrentSplitBlockBloomFilter> live;
  ConcurrentSplitBlockBloomFilter filter({.capacity = 100});
  filter.Insert(uint64_t{1});
  live.Publish(std::move(filter));
  CacheGuard<uint64_t, uint64_t, ConcurrentSplitBlockBloomFilter> guard(live);
  struct NoCache {
    std::optional<uint64_t> Get(uint64_t) { return {}; }
    void Put(uint64_t, uint64_t) {}
  };
  NoCache cache;
  class Memory final : public std::pmr::memory_resource {
   public:
    int blocks = 0;

   private:
    void* do_allocate(size_t bytes, size_t alignment) override {
      ++blocks;
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* block, size_t bytes, size_t alignment) override {
      --blocks;
      std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
  };
  Memory memory;
  ConcurrentSplitBlockBloomFilter counted({.capacity = 100, .memory = {.resource = &memory}});
  counted.Insert(uint64_t{1});
  live.Publish(std::move(counted));
  EXPECT_EQ(memory.blocks, 1);
  guard.Get(1, cache, [&](uint64_t) {
    live.Publish(ConcurrentSplitBlockBloomFilter({.capacity = 100}));
    EXPECT_EQ(memory.blocks, 0);
    return std::optional<uint64_t>();
  });
}

}  // namespace tamis::concurrent_in_live_test
