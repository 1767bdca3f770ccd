// A server that stalls: its connections stay open, and it answers nothing. In practice a stall may
// last 10 s while a client waits for 5 s. Here the client waits for 0.3 s, and the server stalls
// until the client has given up, which makes no difference to the client.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/filter/layout.h"
#include "tamis/redis/near_cache.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/askers.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::stall_servers_test {

using std::chrono::milliseconds;

class Stalled {
 public:
  explicit Stalled(const Server& server) : pid_(server.pid) { kill(pid_, SIGSTOP); }
  ~Stalled() { kill(pid_, SIGCONT); }

 private:
  const pid_t pid_;
};

ServerOptions Impatient(const Servers& servers, milliseconds retry_for) {
  ServerOptions options = servers.options();
  options.connect_timeout = options.command_timeout = milliseconds(300);
  options.retry_for = retry_for;
  options.max_backoff = milliseconds(50);
  return options;
}

class RedisStallTest : public testing::Test {
 protected:
  void SetUp() override {
    TAMIS_NEED(servers_);
    SplitBlockFilter filter =
        SplitBlockFilter::Create(servers_.options(), name_, {{.bytes = 3'000'000}});
    filter.Insert(known_);
    local_.Insert(known_);
    layout_ = DescriptorNow(servers_, name_).layout;
  }

  SplitBlockFilter Open(const ServerOptions& options, const ClientOptions& client = {}) {
    return SplitBlockFilter::Open(options, name_, client);
  }
  // Returns the indices of the keys in segments of that master.
  std::vector<uint64_t> Of(const Server& master, std::span<const uint64_t> keys) {
    std::vector<uint64_t> of;
    std::vector<int> masters;
    for (uint64_t s = 0; s < layout_.segments(); ++s) {
      masters.push_back(MasterOfSlot(servers_.servers()[0].port, layout_.SlotOf(s)));
    }
    for (uint64_t i = 0; i < keys.size(); ++i) {
      const uint64_t block = split_block::BlockIndex(HashU64(keys[i]), layout_.blocks);
      if (masters[layout_.SegmentOf(block)] == master.port) of.push_back(i);
    }
    return of;
  }

  // No replica takes over while a server stalls, however slow the machine is.
  Servers servers_{"cluster", {"--cluster-node-timeout", "600000"}};
  const std::string name_ = NewName();
  const std::vector<uint64_t> known_ = RandomKeys(20'000, 1);
  const std::vector<uint64_t> strangers_ = RandomKeys(2'000, 2);
  SplitBlockBloomFilter local_{{.bytes = 3'000'000}};
  Layout layout_;
};

// The server stalls until all calls have given up.
TEST_F(RedisStallTest, KeysOfAServerThatStallsHaveNoAnswer) {
  const ServerOptions options = Impatient(servers_, milliseconds(400));
  const Server& victim = servers_.servers()[1];
  std::vector<uint64_t> asked = strangers_;
  asked.insert(asked.end(), known_.begin(), known_.begin() + 2'000);
  const std::vector<uint64_t> unanswered = Of(victim, asked);
  ASSERT_GT(unanswered.size(), asked.size() / 5);
  ASSERT_LT(unanswered.size(), asked.size() / 2);
  std::vector<uint8_t> expected(asked.size()), answers(asked.size());
  local_.Contains(asked, std::span(expected));
  std::vector<uint64_t> absent;  // unanswered keys, which are not in a near cache
  std::ranges::copy_if(unanswered, std::back_inserter(absent),
                       [&](uint64_t i) { return expected[i] == 0; });
  for (const uint64_t i : unanswered) expected[i] = 1;
  const auto known = std::span(known_).first(2'000);
  const std::vector<uint64_t> not_inserted = Of(victim, known);
  // A busy machine can make a second server too slow, whose keys are then unanswered as well. So
  // the test repeats the call.
  const auto expect_unanswered = [&](auto& of, const std::vector<uint64_t>& keys) {
    EXPECT_TRUE(WaitFor(120, [&] {
      std::fill(answers.begin(), answers.end(), uint8_t{9});
      try {
        of.Contains(asked, std::span(answers));
        ADD_FAILURE();
      } catch (const UnansweredError& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
        for (const uint64_t i : error.keys()) EXPECT_EQ(answers[i], 1);
        EXPECT_TRUE(std::ranges::includes(error.keys(), keys));
      }
      return answers == expected;
    }));
  };
  std::vector<SplitBlockFilter> filters;
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    filters.push_back(Open(options, {.route = route}));
    filters.push_back(Open(options, {.unavailable = Unavailable::kMaybe, .route = route}));
    filters.push_back(Open(options, {.route = route, .durable_replicas = 1}));
    filters.back().Count(asked);  // connects the client
  }
  NearCache near(Open(options), {.staleness = milliseconds(1)});
  {
    const Stalled stalled(victim);
    for (size_t route = 0; route < 2; ++route) {
      expect_unanswered(filters[3 * route], unanswered);
      EXPECT_TRUE(WaitFor(120, [&] {
        filters[3 * route + 1].Contains(asked, std::span(answers));
        return answers == expected;
      }));
      EXPECT_TRUE(WaitFor(120, [&] {
        try {
          filters[3 * route + 2].Insert(known);
          ADD_FAILURE();
        } catch (const UnansweredError& error) {
          EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
          EXPECT_TRUE(std::ranges::includes(error.keys(), not_inserted));
          return std::ranges::equal(error.keys(), not_inserted);
        }
        return false;
      }));
    }
    expect_unanswered(near, absent);
  }
  // Uses the same objects again, which discard the server's answers to earlier commands.
  local_.Contains(asked, std::span(expected));
  const auto recovers = [&](auto& one) {
    return WaitFor(120, [&] {
      try {
        one.Insert(known);
        one.Contains(asked, std::span(answers));
        EXPECT_EQ(answers, expected);
        return true;
      } catch (const UnansweredError&) {
        return false;
      }
    });
  };
  // Filters that fail open would not wait for an answer.
  for (const size_t i : {0, 2, 3, 5}) EXPECT_TRUE(recovers(filters[i])) << i;
  EXPECT_TRUE(recovers(near));
  for (const size_t i : {1, 4})
    EXPECT_TRUE(WaitFor(120, [&] {
      filters[i].Contains(asked, std::span(answers));
      return answers == expected;
    }));
  EXPECT_TRUE(SameBlocks(Open(servers_.options()).Pull(), local_));
}

// Clients that retry for longer than the stall notice nothing, although each of their commands
// timed out several times.
TEST_F(RedisStallTest, ClientsThatTryForLongerGoOn) {
  ServerOptions options = Impatient(servers_, std::chrono::minutes(3));
  const std::vector<uint64_t> fresh = RandomKeys(200'000, 3);
  Askers askers(options, name_, known_);
  std::atomic<size_t> inserted = 0;
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    SplitBlockFilter mine = Open(options);
    while (!stop && inserted + 100 <= fresh.size()) {
      try {
        mine.Insert(std::span(fresh).subspan(inserted, 100));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
        return;
      }
      inserted += 100;
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const auto both_go_on = [&] {
    const uint64_t answered = askers.answered();
    const size_t before = inserted;
    return WaitFor(120, [&] { return askers.answered() > answered + 1'000 && inserted > before; });
  };
  ASSERT_TRUE(both_go_on());
  for (size_t i = 0; i < 2; ++i) {
    const Stalled stalled(servers_.servers()[i]);
    std::this_thread::sleep_for(milliseconds(1'000));
  }
  EXPECT_TRUE(both_go_on());
  stop = true;
  writer.join();
  askers.Stop();
  EXPECT_EQ(askers.wrong(), 0u);
  EXPECT_EQ(askers.unanswered(), 0u);
  local_.Insert(std::span(fresh).first(inserted));
  EXPECT_TRUE(SameBlocks(Open(servers_.options()).Pull(), local_));
}

// Until a replica has data to follow, the other nodes do not know its progress, and list it as
// loading. The rebuild waits for such a replica, too.
TEST(RedisRebuildStallTest, ReplicasOfANewClusterAreWaitedFor) {
  Servers servers("cluster", {"--cluster-node-timeout", "600000"});
  TAMIS_NEED(servers);
  const std::string name = NewName();
  const std::vector<uint64_t> keys = RandomKeys(5'000, 1);
  Database database;
  database.Add(keys);
  {
    std::vector<std::unique_ptr<Stalled>> replicas;
    for (const Server& server : servers.servers()) {
      if (server.role == "replica") replicas.push_back(std::make_unique<Stalled>(server));
    }
    ASSERT_EQ(replicas.size(), 3u);
    SplitBlockFilter filter = SplitBlockFilter::Create(Impatient(servers, milliseconds(1'000)),
                                                       name, {{.bytes = 400'000}});
    filter.Insert(keys);
    ExpectError([&] { Rebuild(filter, database.Source()); }, ErrorCode::kNotDurable, "replicas");
  }
  SplitBlockFilter filter = SplitBlockFilter::Open(servers.options(), name);
  EXPECT_EQ(filter.Count(keys), keys.size());
  Rebuild(filter, database.Source(), {.grace = milliseconds(0)});
  ExpectHasJust(servers.options(), name, keys);
}

}  // namespace tamis::redis::stall_servers_test
