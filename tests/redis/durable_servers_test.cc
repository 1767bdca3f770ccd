// Insertions that replicas have, and what is said of those that they may not have.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tamis/redis/split_block_filter.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;

TEST(RedisDurableTest, ReplicasHaveWhatWasInserted) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  const std::string name = NewName();
  SplitBlockFilter::Create(servers.options(), name, {{.bytes = 900'000}});
  const std::vector<uint64_t> keys = RandomKeys(3'000, 1);
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter filter =
        SplitBlockFilter::Open(servers.options(), name, {.route = route, .durable_replicas = 1});
    EXPECT_EQ(filter.Insert(keys), keys.size());
    EXPECT_EQ(filter.Insert(keys), keys.size());  // nothing new, and still known
  }
  SplitBlockFilter::Open(servers.options(), name).Drop();
}

TEST(RedisDurableTest, WithoutReplicasNothingIs) {
  Servers& servers = Servers::Single();
  TAMIS_NEED(servers);
  const std::string name = NewName();
  SplitBlockFilter::Create(servers.options(), name, {{.bytes = 900'000}});
  const std::vector<uint64_t> keys = RandomKeys(500, 1);
  ServerOptions options = servers.options();
  options.command_timeout = milliseconds(1'000);
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter filter =
        SplitBlockFilter::Open(options, name, {.route = route, .durable_replicas = 1});
    try {
      filter.Insert(keys);
      ADD_FAILURE();
    } catch (const UnansweredError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNotDurable) << error.what();
      EXPECT_EQ(error.keys().size(), keys.size());
    }
    EXPECT_EQ(filter.Count(keys), keys.size()) << "they are in";
  }
}

// "Must show" 4: none that was reported durable is lost, however the master ends.
TEST(RedisDurableTest, NoneIsLostWhenTheSoleReplicaIsPromoted) {
  Servers servers("cluster", {"--cluster-node-timeout", "1500"});
  TAMIS_NEED(servers);
  const std::vector<uint64_t> keys = RandomKeys(400'000, 2);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), "durable", {{.bytes = 3'000'000}});
  std::vector<uint64_t> durable, unknown;  // keys
  std::atomic<size_t> calls = 0;
  std::atomic<bool> stop = false;
  std::jthread writer([&] {
    SplitBlockFilter mine =
        SplitBlockFilter::Open(servers.options(), "durable", {.durable_replicas = 1});
    for (size_t i = 0; i + 100 <= keys.size() && !stop; i += 100) {
      const auto some = std::span(keys).subspan(i, 100);
      std::vector<uint64_t> lost;
      try {
        mine.Insert(some);
      } catch (const UnansweredError& error) {
        lost = error.keys();
      }
      for (size_t k = 0; k < some.size(); ++k) {
        const bool known = !std::binary_search(lost.begin(), lost.end(), k);
        (known ? durable : unknown).push_back(some[k]);
      }
      ++calls;
    }
  });
  EXPECT_TRUE(WaitFor(120, [&] { return calls > 20; }));
  const Server dead = servers.servers()[1];
  ASSERT_EQ(kill(dead.pid, SIGKILL), 0);
  EXPECT_TRUE(WaitFor(60, [&] {
    const int owner = MasterOfSlot(servers.servers()[0].port, 8'000);
    return owner != 0 && owner != dead.port;
  }));
  // Of its slots nothing is durable any more: there is no replica left.
  const size_t at_failover = calls;
  EXPECT_TRUE(WaitFor(120, [&] { return calls >= at_failover + 2; }));
  stop = true;
  writer.join();
  EXPECT_FALSE(durable.empty());
  EXPECT_FALSE(unknown.empty());
  EXPECT_EQ(filter.Count(durable), durable.size());
}

}  // namespace
}  // namespace tamis::redis
