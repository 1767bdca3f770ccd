// Near caches with a thread that refreshes them.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/redis/near_cache.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::near_cache_thread_servers_test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// With these options, no call refreshes the near cache.
NearCacheOptions Every(milliseconds interval) {
  return {.staleness = std::chrono::hours(1), .refresh_every = interval};
}

TEST(RedisNearCacheThreadTest, RefreshesWithoutCalls) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  SplitBlockFilter writer =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.bytes = 900'000}});
  const std::vector<uint64_t> known = RandomKeys(2'000, 1), fresh = RandomKeys(2'000, 2);
  writer.Insert(known);
  const auto open = [&] { return SplitBlockFilter::Open(servers.options(), writer.name()); };
  for (const auto bad : {milliseconds(0), milliseconds(std::chrono::hours(25))}) {
    ExpectError([&] { NearCache(open(), Every(bad)); }, ErrorCode::kInvalidArgument,
                "refresh_every");
  }
  NearCache first(open(), Every(milliseconds(5)));
  NearCache near = std::move(first);
  ExpectError([&] { first.Contains("x"); }, ErrorCode::kInvalidArgument, "moved from");
  EXPECT_EQ(near.Count(known), known.size());
  writer.Insert(fresh);
  EXPECT_TRUE(WaitFor(120, [&] { return near.Count(fresh) == fresh.size(); }));
  const uint64_t before = near.stats().refreshes;
  EXPECT_GT(before, 1u);
  EXPECT_TRUE(WaitFor(120, [&] { return near.stats().refreshes > before; }));
  EXPECT_GE(near.stats().segments, 2u);
  EXPECT_EQ(near.stats().failures, 0u);
  EXPECT_EQ(near.stats().last_error, "");
  first = std::move(near);
  EXPECT_EQ(first.Count(fresh), fresh.size());
  writer.Drop();
}

// While the caller queries, inserts and refreshes, others insert, and the filter is rebuilt.
TEST(RedisNearCacheThreadTest, NothingIsMissedDuringChanges) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.bytes = 900'000}});
  const auto open = [&] { return SplitBlockFilter::Open(servers.options(), filter.name()); };
  const std::vector<uint64_t> known = RandomKeys(2'000, 1);
  const std::vector<uint64_t> others = RandomKeys(200'000, 2), mine = RandomKeys(200'000, 3);
  filter.Insert(known);
  Database database;
  database.Add(known);
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    SplitBlockFilter to = open();
    for (size_t i = 0; i + 50 <= others.size() && !stop; i += 50) {
      const auto some = std::span(others).subspan(i, 50);
      database.Add(some);
      to.Insert(some);
    }
  });
  std::atomic<int> rebuilds = 0;
  std::jthread rebuilder([&] {
    while (!stop) {
      Rebuild(filter, database.Source(), {.grace = milliseconds(0)});
      ++rebuilds;
    }
  });
  NearCache near(open(), {.staleness = milliseconds(200), .refresh_every = milliseconds(1)});
  NearCache strict(open(), {.refresh_every = milliseconds(1)});
  size_t missed = 0, inserted = 0;
  const auto end = steady_clock::now() + std::chrono::seconds(120);
  while ((rebuilds < 3 || inserted < 2'000 || near.stats().refreshes < 10) &&
         inserted + 50 <= mine.size() && steady_clock::now() < end) {
    const auto some = std::span(mine).subspan(inserted, 50);
    database.Add(some);
    for (NearCache* const copy : {&near, &strict}) {
      missed += known.size() - copy->Count(known);
      copy->Insert(some);
      missed += 50 - copy->Count(some);
    }
    inserted += 50;
    if (inserted % 500 == 0) near.Refresh();
  }
  stop = true;
  writer.join();
  rebuilder.join();
  EXPECT_EQ(missed, 0u);
  EXPECT_GE(rebuilds, 3);
  EXPECT_GE(near.stats().refreshes, 10u);
  EXPECT_EQ(near.Count(known), known.size());
  EXPECT_TRUE(WaitFor(120, [&] { return near.Count(database.All()) == database.All().size(); }));
  filter.Drop();
}

// If a server is gone, a call that already has its "no" does not wait, nor does the destructor.
TEST(RedisNearCacheThreadTest, FailuresAreReportedAndItStillEnds) {
  Servers servers("single");
  TAMIS_NEED(servers);
  const std::vector<uint64_t> known = RandomKeys(1'000, 1), strangers = RandomKeys(1'000, 2);
  SplitBlockFilter::Create(servers.options(), "near", {{.capacity = 100'000}}).Insert(known);
  ServerOptions quick = servers.options(), patient = servers.options();
  quick.retry_for = milliseconds(50);
  patient.retry_for = patient.command_timeout = std::chrono::minutes(10);
  NearCache fails(SplitBlockFilter::Open(quick, "near"), Every(milliseconds(5)));
  std::optional<NearCache> waits(std::in_place, SplitBlockFilter::Open(patient, "near"),
                                 Every(milliseconds(5)));
  const pid_t server = servers.servers()[0].pid;
  ASSERT_EQ(kill(server, SIGSTOP), 0);
  // Returns true in the middle of a refresh.
  const auto still = [&] {
    const uint64_t before = waits->stats().refreshes;
    std::this_thread::sleep_for(milliseconds(50));
    return waits->stats().refreshes == before;
  };
  EXPECT_TRUE(WaitFor(120, still));
  const auto begin = steady_clock::now();
  waits.reset();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::minutes(5));
  ASSERT_EQ(kill(server, SIGKILL), 0);
  EXPECT_TRUE(WaitFor(120, [&] { return fails.stats().failures_in_a_row >= 2; }));
  EXPECT_NE(fails.stats().last_error.find("near"), std::string::npos) << fails.stats().last_error;
  EXPECT_EQ(fails.Count(known), known.size());
  EXPECT_LT(fails.Count(strangers), 50u);
  ExpectError([&] { fails.Refresh(); }, ErrorCode::kUnavailable, "near");
}

TEST(RedisNearCacheThreadTest, FailuresEndWithTheirReason) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.bytes = 900'000}});
  NearCache near(SplitBlockFilter::Open(servers.options(), filter.name()), Every(milliseconds(1)));
  const std::string key = KeysLike(servers, "*bits*:2:" + filter.name()).at(0);
  ASSERT_EQ(SayToOwner(servers, key, {"COPY", key, key + "-kept"}), "1");
  SayToOwner(servers, key, {"DEL", key});
  EXPECT_TRUE(WaitFor(120, [&] { return near.stats().failures >= 2; }));
  EXPECT_NE(near.stats().last_error.find("segment 2: it is missing"), std::string::npos)
      << near.stats().last_error;
  ASSERT_EQ(SayToOwner(servers, key, {"RENAME", key + "-kept", key}), "OK");
  EXPECT_TRUE(WaitFor(120, [&] { return near.stats().failures_in_a_row == 0; }));
  EXPECT_GT(near.stats().failures, 0u);
  filter.Drop();
}

TEST(RedisNearCacheThreadTest, AChildOfForkHasNoThread) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.bytes = 900'000}});
  auto near = std::make_unique<NearCache>(SplitBlockFilter::Open(servers.options(), filter.name()),
                                          Every(milliseconds(1)));
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      near->Contains("x");
    } catch (const Error& error) {
      status = error.code() == ErrorCode::kInvalidArgument ? 0 : 2;
    }
    near.reset();
    _exit(status);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(near->Contains("x"));
  filter.Drop();
}

}  // namespace tamis::redis::near_cache_thread_servers_test
