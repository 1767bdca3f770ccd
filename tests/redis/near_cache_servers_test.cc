// A near cache of a filter on servers: while other clients write, it must not miss keys that are
// older than its staleness.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "tamis/changes.h"
#include "tamis/redis/near_cache.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::near_cache_servers_test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class RedisNearCacheTest : public testing::Test {
 protected:
  void SetUp() override { TAMIS_NEED(servers_); }

  SplitBlockFilter Create(const CreateOptions& options) {
    return SplitBlockFilter::Create(servers_.options(), name_, options);
  }
  SplitBlockFilter Open(const ClientOptions& options = {}) {
    return SplitBlockFilter::Open(servers_.options(), name_, options);
  }
  // Options with which the near cache is never stale.
  static NearCacheOptions Lax() { return {.staleness = milliseconds::max()}; }

  Servers& servers_ = Servers::Cluster();
  const std::string name_ = NewName();
};

TEST_F(RedisNearCacheTest, ReadsOnlyWhatHasChanged) {
  SplitBlockFilter writer = Create({{.bytes = 900'000}});
  const std::vector<uint64_t> keys = RandomKeys(2'000, 1);
  writer.Insert(keys);
  NearCache near(Open(), Lax());
  EXPECT_EQ(near.Count(keys), keys.size());
  EXPECT_EQ(near.Refresh(), 0u);
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter other = Open({.route = route});
    const uint64_t fresh = 1'000 + static_cast<uint64_t>(route);
    other.Insert(fresh);
    EXPECT_FALSE(near.Contains(fresh));
    EXPECT_EQ(near.Refresh(), 1u);
    EXPECT_TRUE(near.Contains(fresh));
    EXPECT_EQ(near.Refresh(), 0u);
    other.Insert(fresh);  // changes no bit
    EXPECT_LE(near.Refresh(), route == Route::kBlocks ? 0u : 1u);
  }
  // The near cache has its own insertions at once.
  near.Insert(Keys(std::span(&keys[0], 1)));
  const uint64_t mine = 77;
  EXPECT_EQ(Insert(near, Keys(std::span(&mine, 1))), 1u) << "as a Changeable";
  EXPECT_TRUE(near.Contains(mine));
  EXPECT_TRUE(Open().Contains(mine));
  near.Refresh();
  const SplitBlockBloomFilter pulled = writer.Pull();
  EXPECT_EQ(std::memcmp(pulled.payload().data(), near.copy().payload().data(), pulled.bytes()), 0);
}

TEST_F(RedisNearCacheTest, AStrictNoComesFromTheServers) {
  SplitBlockFilter writer = Create({{.bytes = 900'000}});
  const std::vector<uint64_t> known = RandomKeys(2'000, 1);
  writer.Insert(known);
  NearCache near(Open());
  const std::vector<uint64_t> fresh = RandomKeys(1'000, 2);
  writer.Insert(fresh);
  EXPECT_EQ(near.Count(fresh), fresh.size());

  const SplitBlockBloomFilter local = writer.Pull();
  std::vector<uint64_t> asked = RandomKeys(1'000, 3);
  asked.insert(asked.end(), known.begin(), known.begin() + 500);
  asked.insert(asked.end(), fresh.begin(), fresh.begin() + 500);
  const size_t n = asked.size();
  const std::vector<uint8_t> validity((n + 7) / 8, 0x6D);
  for (const Keys& keys : {Keys(asked), Keys(asked).WithValidity(validity.data())}) {
    std::vector<uint64_t> want(BitmapWords(n)), got(BitmapWords(n));
    const size_t hits = local.Contains(keys, Bitmap(want));
    EXPECT_EQ(near.Contains(keys, Bitmap(got)), hits);
    EXPECT_EQ(got, want);
    EXPECT_EQ(near.Count(keys), hits);
    std::vector<uint8_t> want_bytes(n), got_bytes(n, 9);
    local.Contains(keys, want_bytes);
    EXPECT_EQ(near.Contains(keys, std::span(got_bytes)), hits);
    EXPECT_EQ(got_bytes, want_bytes);
    std::vector<uint32_t> want_rows(n), got_rows(n);
    std::vector<uint64_t> long_rows(n);
    want_rows.resize(local.Select(keys, want_rows));
    got_rows.resize(near.Select(keys, std::span(got_rows)));
    EXPECT_EQ(got_rows, want_rows);
    EXPECT_EQ(near.Select(keys, std::span(long_rows)), hits);
  }
  std::vector<uint8_t> small(1);
  ExpectError([&] { near.Contains(asked, std::span(small)); }, ErrorCode::kInvalidArgument,
              "the output has");
}

// A call finds keys that were inserted longer before it than the staleness.
TEST_F(RedisNearCacheTest, NothingOlderThanTheStalenessIsMissed) {
  constexpr milliseconds kStaleness(30);
  SplitBlockFilter writer = Create({{.bytes = 3'000'000}});
  const std::vector<uint64_t> keys = RandomKeys(100'000, 1);
  std::mutex mutex;
  std::vector<steady_clock::time_point> done;  // times of batches of 50
  std::atomic<bool> stop = false;
  std::jthread thread([&] {
    for (size_t i = 0; i + 50 <= keys.size() && !stop; i += 50) {
      writer.Insert(std::span(keys).subspan(i, 50));
      const std::lock_guard lock(mutex);
      done.push_back(steady_clock::now());
    }
  });
  NearCache near(Open(), {.staleness = kStaleness});
  size_t missed = 0, asked = 0;
  Random random(5);
  const auto end = steady_clock::now() + std::chrono::seconds(3);
  // Takes longer on a slow machine.
  const auto last = end + std::chrono::minutes(2);
  while (steady_clock::now() < end || (asked < 1'000 && steady_clock::now() < last)) {
    const auto begin = steady_clock::now();
    size_t batches = 0;
    {
      const std::lock_guard lock(mutex);
      batches = done.size();
      while (batches > 0 && begin - done[batches - 1] <= kStaleness) --batches;
    }
    if (batches == 0) continue;
    // The last keys, and random ones.
    for (const size_t batch : {batches - 1, static_cast<size_t>(random.Below(batches))}) {
      const auto some = std::span(keys).subspan(50 * batch, 50);
      missed += some.size() - near.Count(some);
      asked += some.size();
    }
  }
  stop = true;
  thread.join();
  EXPECT_EQ(missed, 0u);
  EXPECT_GE(asked, 1'000u);
}

TEST_F(RedisNearCacheTest, LostSegmentsAreNotANo) {
  Create({{.bytes = 900'000}});
  const std::vector<uint64_t> known = RandomKeys(1'000, 1);
  const std::vector<uint64_t> strangers = RandomKeys(1'000, 2);
  Open().Insert(known);
  NearCache throws(Open(), {.staleness = milliseconds(1)});
  NearCache open(Open({.unavailable = Unavailable::kMaybe}), {.staleness = milliseconds(1)});
  NearCache strict(Open());
  EXPECT_EQ(throws.Count(strangers), 0u);
  const std::string key = DescriptorKey(name_);
  const Descriptor descriptor = ParseDescriptor(SayToOwner(servers_, key, {"GET", key}));
  const SegmentKey segment = KeyOfSegment(name_, descriptor.layout, descriptor.generation, 2);
  SayToOwner(servers_, segment.text, {"DEL", segment.text});
  std::this_thread::sleep_for(milliseconds(5));
  // The near cache still finds the keys that it has.
  for (NearCache* near : {&throws, &open, &strict}) EXPECT_EQ(near->Count(known), known.size());
  for (NearCache* near : {&throws, &strict}) {
    std::vector<uint64_t> bits(BitmapWords(strangers.size()));
    std::this_thread::sleep_for(milliseconds(5));
    try {
      near->Contains(strangers, Bitmap(bits));
      ADD_FAILURE();
    } catch (const UnansweredError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      EXPECT_GT(error.keys().size(), 20u);
      EXPECT_LT(error.keys().size(), 200u);
      for (const uint64_t k : error.keys()) {
        const uint64_t block =
            split_block::BlockIndex(HashU64(strangers[k]), descriptor.layout.blocks);
        EXPECT_EQ(descriptor.layout.SegmentOf(block), 2u);
        EXPECT_TRUE(Bitmap(bits).Test(k));
      }
    }
  }
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_GT(open.Count(strangers), 20u);
  ExpectError([&] { throws.Refresh(); }, ErrorCode::kCorrupt, "segment 2: it is missing");
}

TEST(RedisNearCacheFaultTest, WithoutServersOnlyMaybe) {
  Servers servers("single");
  TAMIS_NEED(servers);
  ServerOptions options = servers.options();
  options.retry_for = milliseconds(200);
  const std::vector<uint64_t> known = RandomKeys(1'000, 1);
  const std::vector<uint64_t> strangers = RandomKeys(1'000, 2);
  SplitBlockFilter::Create(options, "near", {{.capacity = 100'000}}).Insert(known);
  const auto open = [&](const NearCacheOptions& near, Unavailable unavailable) {
    return NearCache(SplitBlockFilter::Open(options, "near", {.unavailable = unavailable}), near);
  };
  NearCache lax = open({.staleness = std::chrono::hours(1)}, Unavailable::kThrow);
  NearCache fails_open = open({.staleness = milliseconds(1)}, Unavailable::kMaybe);
  NearCache throws = open({.staleness = milliseconds(1)}, Unavailable::kThrow);
  ASSERT_EQ(kill(servers.servers()[0].pid, SIGKILL), 0);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(lax.Count(known), known.size());
  EXPECT_LT(lax.Count(strangers), 50u);
  EXPECT_EQ(fails_open.Count(strangers), strangers.size());
  EXPECT_THROW(throws.Count(strangers), UnansweredError);
  EXPECT_EQ(throws.Count(known), known.size());
}

TEST_F(RedisNearCacheTest, DeadlinesAndOptions) {
  const auto now = std::chrono::system_clock::now();
  Create({{.capacity = 1'000}, now + std::chrono::seconds(10)});
  ExpectError([&] { NearCache(Open(), {.staleness = milliseconds(0)}); },
              ErrorCode::kInvalidArgument, "staleness");
  NearCache near(Open(), Lax());
  near.Insert(Keys(std::span<const std::string_view>()));
  EXPECT_FALSE(near.Contains("x"));
  ASSERT_TRUE(WaitFor(
      30, [&] { return std::chrono::system_clock::now() - now > std::chrono::seconds(10); }));
  ExpectError([&] { near.Contains("x"); }, ErrorCode::kUnavailable, "deadline");
}

}  // namespace tamis::redis::near_cache_servers_test
