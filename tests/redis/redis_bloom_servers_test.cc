// Filters of RedisBloom on real servers. TAMIS_REDISBLOOM_MODULE in the environment is the path of
// the module (redisbloom.so in a release of RedisBloom). Without it, only the errors of servers
// without the module are tested.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/client/slot.h"
#include "tamis/error.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/redis/redis_bloom_dump.h"
#include "tests/formats/redis_test_recipes.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#if TAMIS_HAVE_COMMAND
#include "tests/tools/command_test.h"
#endif

namespace tamis::redis::redis_bloom_servers_test {

TEST(RedisBloomServersTest, KeysThatAreNotFilters) {
  for (const Servers* const servers : {&Servers::Single(), &Servers::Cluster()}) {
    TAMIS_NEED(*servers);
    const ServerOptions options = servers->options();
    const std::string key = NewName();
    ExpectError([&] { DumpRedisBloom(options, key); }, ErrorCode::kUnavailable,
                "the key \"" + key + "\": it does not exist");
    SayToOwner(*servers, key, {"SET", key, "x"});
    ExpectError([&] { DumpRedisBloom(options, key); }, ErrorCode::kUnsupported,
                "has the type \"string\"");
  }
}

class RedisBloomModuleTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* const module = std::getenv("TAMIS_REDISBLOOM_MODULE");
    if (module == nullptr) GTEST_SKIP() << "TAMIS_REDISBLOOM_MODULE names no module";
    servers_ =
        std::make_unique<Servers>(GetParam(), std::vector<std::string>{"--loadmodule", module});
    TAMIS_NEED(*servers_);
  }

  std::string Do(const std::string& key, std::vector<std::string> words) {
    words.insert(words.begin() + 1, key);
    return SayToOwner(*servers_, key, words);
  }
  // Restores the chunks as LOADCHUNK expects them.
  template <typename Filter>
  void Restore(const std::string& key, const std::string& command, const Filter& filter) {
    for (const RedisChunk& chunk : filter.ToChunks()) {
      const std::string bytes(reinterpret_cast<const char*>(chunk.bytes.data()),
                              chunk.bytes.size());
      ASSERT_EQ(Do(key, {command, std::to_string(chunk.iterator), bytes}), "OK");
    }
  }
  RedisBloomDump Dump(const std::string& key) { return DumpRedisBloom(servers_->options(), key); }

  std::unique_ptr<Servers> servers_;
};
INSTANTIATE_TEST_SUITE_P(All, RedisBloomModuleTest, testing::Values("single", "cluster"),
                         [](const auto& mode) { return std::string(mode.param); });

TEST_P(RedisBloomModuleTest, ThereAndBack) {
  RedisBloomFilter bloom({.capacity = 5'000});
  RedisCuckooFilter cuckoo({.capacity = 5'000});
  bloom.Insert(RedisTestKeys(0, 20'000));
  cuckoo.Insert(RedisTestKeys(0, 20'000));
  for (int i = 0; i < 5; ++i) {
    const std::string b = NewName(), c = NewName();  // random slots
    Restore(b, "BF.LOADCHUNK", bloom);
    Restore(c, "CF.LOADCHUNK", cuckoo);
    RedisBloomDump dump = Dump(b);
    EXPECT_STREQ(dump.format, "redisbloom");
    EXPECT_EQ(dump.bytes, bloom.ToBytes());
    dump = Dump(c);
    EXPECT_STREQ(dump.format, "redisbloom-cf");
    EXPECT_EQ(dump.bytes, cuckoo.ToBytes());
  }
}

TEST_P(RedisBloomModuleTest, MadeByTheServer) {
  const std::string b = NewName(), c = NewName();
  RedisBloomFilter bloom({.capacity = 50});
  RedisCuckooFilter cuckoo({.capacity = 64});
  EXPECT_EQ(Do(b, {"BF.RESERVE", "0.01", "50"}), "OK");
  EXPECT_EQ(Do(c, {"CF.RESERVE", "64"}), "OK");
  ExpectError([&] { Dump(c); }, ErrorCode::kUnsupported, "without keys");
  for (const std::string& key : RedisTestKeys(0, 300)) {
    Do(b, {"BF.ADD", key});
    bloom.Insert(key);
    Do(c, {"CF.ADD", key});
    cuckoo.Insert(key);
  }
  EXPECT_EQ(Dump(b).bytes, bloom.ToBytes());
  EXPECT_EQ(Dump(c).bytes, cuckoo.ToBytes());
}

TEST_P(RedisBloomModuleTest, WhileOthersInsert) {
  // 48 MiB, more than three chunks.
  RedisBloomFilter start({.capacity = 28'000'000, .error_rate = 0.001, .non_scaling = true});
  const std::vector<std::string> before = RedisTestKeys(0, 2'000);
  start.Insert(before);
  const std::string key = NewName();
  Restore(key, "BF.LOADCHUNK", start);
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> inserted = 0;
  std::thread writer([&] {
    for (uint64_t i = 2'000; !stop; ++i) {
      Do(key, {"BF.ADD", RedisTestKey(i)});
      ++inserted;
    }
  });
  while (inserted == 0) std::this_thread::yield();
  int grew = 0;
  for (int i = 0; i < 3; ++i) {
    const RedisBloomDump dump = Dump(key);
    grew += dump.grew ? 1 : 0;
    EXPECT_EQ(RedisBloomFilter::FromBytes(dump.bytes).Count(before), before.size());
  }
  stop = true;
  writer.join();
  EXPECT_GT(grew, 0);
}

#if TAMIS_HAVE_COMMAND
TEST_P(RedisBloomModuleTest, FromTheShell) {
  class Runner : public tools::CommandTest {
   public:
    void TestBody() override {}
    using CommandTest::Ok;
    using CommandTest::Sh;
    using CommandTest::Write;
  } runner;
  const std::string key = NewName();
  for (int i = 1; i <= 300; ++i) Do(key, {"BF.ADD", std::to_string(i)});
  runner.Write("keys", tools::Numbers(1, 600));
  const std::string on = " --url " + servers_->options().url + " ";
  runner.Ok("tamis import -q --from redis --key " + key + on + "-o f.tamis");
  EXPECT_EQ(runner.Ok("tamis query --integers f.tamis keys | head -n 300").out,
            tools::Numbers(1, 300));
  runner.Ok("TAMIS_REDIS_URL=" + servers_->options().url +
            " && export TAMIS_REDIS_URL && tamis import -q --from redis --key " + key +
            " -o g.tamis");
  EXPECT_EQ(runner.Sh("cmp f.tamis g.tamis").status, 0);
  const tools::CommandResult none =
      runner.Sh("tamis import --from redis --key no-key" + on + "-o h");
  EXPECT_EQ(none.status, 3);
  EXPECT_TRUE(none.ErrHas("it does not exist on the server")) << none.err;
}
#endif

}  // namespace tamis::redis::redis_bloom_servers_test
