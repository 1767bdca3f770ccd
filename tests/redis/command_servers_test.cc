// `tamis redis` on a cluster, and its messages about servers that refuse commands.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "tamis/redis/split_block_filter.h"
#include "tests/redis/servers.h"
#include "tests/tools/command_test.h"

namespace tamis::redis::command_servers_test {

using tools::CommandResult;
using tools::Numbers;

class RedisCommandTest : public tools::CommandTest {
 protected:
  void SetUp() override { TAMIS_NEED(servers_); }

  // A script in which $on names the server, and a filter that no other test uses.
  std::string With(const std::string& script) const {
    return "on='--url " + servers_.options().url + " --name " + name_ + "'\n" + script;
  }
  CommandResult Run(const std::string& script) const { return Sh(With(script)); }
  CommandResult Good(const std::string& script) const { return Ok(With(script)); }

  Servers& servers_ = Servers::Cluster();
  const std::string name_ = NewName();
};

TEST_F(RedisCommandTest, InsertsAndFinds) {
  Write("all", Numbers(1, 20'000));
  Write("asked", Numbers(15'001, 10'000));
  EXPECT_TRUE(Good("tamis redis create $on -n 1e6 --fpr 0.1%").ErrHas("for 1,000,000 keys at 0.1"));
  EXPECT_TRUE(Good("tamis redis insert $on all").ErrHas("20,000 keys inserted"));
  EXPECT_EQ(Good("tamis redis query $on --count all").out, "20000/20000\n");
  const CommandResult lines = Good("tamis redis query $on asked");
  EXPECT_GE(lines.NumLines(), 5'000u);
  EXPECT_LT(lines.NumLines(), 5'100u);
  EXPECT_EQ(lines.out.substr(0, 12), "15001\n15002\n");
  const auto json = Good("tamis redis query $on --json -v asked").Json();
  EXPECT_EQ(json["keys"], 10'000);
  EXPECT_EQ(json["matching"], lines.NumLines());
  EXPECT_EQ(Run("tamis redis query $on --any asked").status, 0);
  EXPECT_EQ(Run("echo no-such-key | tamis redis query $on --any").status, 1);
  // A string key is not an integer key.
  EXPECT_EQ(Good("echo 7 | tamis redis query $on --count").out, "1/1\n");
  EXPECT_EQ(Good("echo 7 | tamis redis query $on --count --integers").out, "0/1\n");
  Good("tamis redis insert -q $on --durable-replicas 1 all");
  const CommandResult alone =
      Run("head -n 10 all | tamis redis insert -q $on --durable-replicas 2");
  EXPECT_EQ(alone.status, 4);
  EXPECT_TRUE(alone.ErrHas("inserted: 10 keys, of which 10 may be on too few replicas"));
  EXPECT_EQ(Good("tamis redis drop -q $on").err, "");
  EXPECT_TRUE(KeysLike(servers_, "*" + name_ + "*").empty());
}

TEST_F(RedisCommandTest, Query_OfKeysThatMayHaveTheWrongForm_SaysSo) {
  Write("numbers", Numbers(1, 1'000));
  Write("others", Numbers(1'000'001, 1'000));
  Good("tamis redis create -q $on -n 1e5 --fpr 0.1%");
  Good("tamis redis insert -q $on --integers numbers");
  const std::string note = name_ + " does not record whether its keys are text or integers";
  for (const std::string how : {"", "--count", "--json", "-v", "--any", "--fail-open"}) {
    SCOPED_TRACE(how);
    const CommandResult wrong = Run("tamis redis query $on " + how + " numbers");
    EXPECT_TRUE(wrong.ErrHas(note) && wrong.ErrHas("give --integers")) << wrong.err;
    EXPECT_TRUE(Run("tamis redis query $on --integers " + how + " others").ErrHas("leave out"));
    EXPECT_FALSE(Run("tamis redis query $on --integers " + how + " numbers").ErrHas(note));
    EXPECT_EQ(Run("tamis redis query -q $on " + how + " numbers").err, "");
  }
  // One key found among twenty is enough to omit the note.
  EXPECT_FALSE(
      Good("head -n 110 numbers | cat - others | tamis redis query $on --integers").ErrHas(note));
  EXPECT_FALSE(Good("tamis redis query $on --count < /dev/null").ErrHas(note));
}

TEST_F(RedisCommandTest, Deadlines) {
  Good("tamis redis create -q $on -n 1000 --deadline 2100-01-01T00:00:00Z");
  EXPECT_EQ(Good("tamis redis info $on --json").Json()["deadline"], "2100-01-01T00:00:00Z");
  Good("tamis redis drop -q $on");
  Write("some", Numbers(1, 100));
  Good("tamis build -q -o local.tamis some");
  EXPECT_EQ(Run("tamis redis push $on --deadline 7d local.tamis").status, 2);
  Good("tamis redis push -q $on --create --deadline 7d local.tamis");
  EXPECT_NE(Good("tamis redis info $on").out.find("deadline"), std::string::npos);
  Good("tamis redis drop -q $on");
  EXPECT_TRUE(Run("tamis redis create $on -n 10 --deadline 2001-01-01T00:00:00Z").ErrHas("passed"));
  EXPECT_TRUE(Run("tamis redis create $on -n 10 --deadline soon").ErrHas("such as 36h"));
}

TEST_F(RedisCommandTest, PullsAndPushesFiles) {
  Write("some", Numbers(1, 5'000));
  Write("more", Numbers(5'001, 5'000));
  Good("tamis build -q -o local.tamis -n 20000 some");
  Good("tamis build -q -o both.tamis -n 20000 some more");
  Good("tamis redis push -q $on --create local.tamis");
  Good("tamis redis insert -q $on more");
  Good("tamis redis pull -q $on -o pulled.tamis");
  EXPECT_EQ(Good("tamis query pulled.tamis --count some more").out, "10000/10000\n");
  // Except for the header, the file has the bits of the filter that was built locally.
  const std::string pulled = Read("pulled.tamis"), built = Read("both.tamis");
  ASSERT_EQ(pulled.size(), built.size());
  EXPECT_EQ(pulled.substr(4096), built.substr(4096));
  Good("tamis build -q -o other.tamis -n 30000 some");
  const CommandResult refused = Run("tamis redis push $on other.tamis");
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.ErrHas("equal")) << refused.err;
  EXPECT_EQ(Run("tamis redis push $on --create local.tamis").status, 2) << "it is there";
  EXPECT_TRUE(Run("tamis redis push $on some").ErrHas("some"));
}

TEST_F(RedisCommandTest, RebuildsFromFiles) {
  Write("old", Numbers(1, 5'000));
  Write("new", Numbers(4'001, 5'000));
  Good("tamis redis create -q $on -n 20000 --fpr 0.001");
  Good("tamis redis insert -q $on old");
  EXPECT_TRUE(Good("tamis redis rebuild $on new").ErrHas("rebuilt from 5,000 keys"));
  EXPECT_EQ(Good("tamis redis query $on --count new").out, "5000/5000\n");
  EXPECT_LT(Good("tamis redis query $on old").NumLines(), 1'100u);
  EXPECT_EQ(Good("tamis redis info $on --json").Json()["rebuild"], "none");
  const auto json = Good("tamis redis rebuild $on --json old new").Json();
  EXPECT_EQ(json["keys"], 10'000);
  EXPECT_EQ(json["ended_abandoned"], false);
  EXPECT_EQ(Good("tamis redis query $on --count old new").out, "10000/10000\n");
  // A rebuild without keys fails and changes nothing.
  EXPECT_EQ(Run("tamis redis rebuild $on </dev/null").status, 2);
  EXPECT_EQ(Good("tamis redis query $on --count old").out, "5000/5000\n");
  EXPECT_TRUE(Good("tamis redis rebuild $on --end-abandoned").ErrHas("there is no abandoned"));
  Good("tamis build -q -o local.tamis -n 20000 --fpr 0.001 old new");
  Good("tamis redis pull -q $on -o pulled.tamis");
  EXPECT_EQ(Read("pulled.tamis").substr(4096), Read("local.tamis").substr(4096));
}

TEST_F(RedisCommandTest, EndsAnAbandonedRebuild) {
  Good("tamis redis create -q $on -n 20000");
  auto json = Good("tamis redis rebuild $on --end-abandoned --json").Json();
  EXPECT_EQ(json["filter"], name_);
  EXPECT_EQ(json["ended_abandoned"], false);
  // The state that an owner leaves if it ends before it has done anything.
  const std::string key = DescriptorKey(name_), rebuild = RebuildKey(name_);
  const Descriptor descriptor = ParseDescriptor(SayToOwner(servers_, key, {"GET", key}));
  const RebuildRecord record = {1, descriptor.generation, descriptor.generation ^ 1};
  SayToOwner(servers_, rebuild, {"SET", rebuild, RecordText(record)});
  EXPECT_EQ(Good("tamis redis info $on --json").Json()["rebuild"], "abandoned");
  json = Good("tamis redis rebuild $on --end-abandoned --json").Json();
  EXPECT_EQ(json["ended_abandoned"], true);
  EXPECT_EQ(Good("tamis redis info $on --json").Json()["rebuild"], "none");
  SayToOwner(servers_, rebuild, {"SET", rebuild, RecordText(record)});
  const CommandResult said = Good("tamis redis rebuild $on --end-abandoned");
  EXPECT_TRUE(said.ErrHas("an abandoned rebuild was ended")) << said.err;
  EXPECT_EQ(said.out, "");
}

TEST_F(RedisCommandTest, InfoNamesTheProblem) {
  Good("tamis redis create -q $on --bytes 300K --hash xxh64 --seed 5");
  const auto json = Good("tamis redis info $on --json").Json();
  EXPECT_EQ(json["bytes"], 300 * 1024);
  EXPECT_EQ(json["hash"], "xxh64");
  EXPECT_EQ(json["seed"], 5);
  EXPECT_EQ(json["bad_segments"], 0);
  EXPECT_EQ(json["nodes"].size(), 3u);
  EXPECT_NE(Good("tamis redis info $on").out.find("blocks                9,600"),
            std::string::npos);
  EXPECT_TRUE(json["deadline"].is_null());
  EXPECT_EQ(json["rebuild"], "none");
  const std::string rebuild = RebuildKey(name_);
  SayToOwner(servers_, rebuild, {"LPUSH", rebuild, "no record"});
  EXPECT_EQ(Good("tamis redis info $on --json").Json()["rebuild"], "unknown");
  EXPECT_NE(
      Good("tamis redis info $on").out.find("rebuild               unknown: no server reported it"),
      std::string::npos);
  SayToOwner(servers_, rebuild, {"DEL", rebuild});
  redis::SplitBlockFilter::Create(
      servers_.options(), name_ + "-ends",
      {{.capacity = 1'000}, std::chrono::system_clock::from_time_t(4'102'444'800)});
  EXPECT_EQ(Good("tamis redis info $on-ends --json").Json()["deadline"], "2100-01-01T00:00:00Z");
  EXPECT_NE(Good("tamis redis info $on-ends").out.find("2100-01-01"), std::string::npos);
  const std::string lost = KeysLike(servers_, "*bits*" + name_).front();
  SayToOwner(servers_, lost, {"DEL", lost});
  const CommandResult bad = Run("tamis redis info $on");
  EXPECT_EQ(bad.status, 3);
  EXPECT_NE(bad.out.find("it is missing"), std::string::npos) << bad.out;
  EXPECT_EQ(bad.out.find("no server"), std::string::npos) << bad.out;
  Write("keys", Numbers(1, 1'000));
  const CommandResult insert = Run("tamis redis insert $on keys");
  EXPECT_EQ(insert.status, 3);
  EXPECT_TRUE(insert.ErrHas("may not have been inserted")) << insert.err;
  EXPECT_EQ(Run("tamis redis query $on --count keys").status, 3);
  const CommandResult open = Run("tamis redis query $on --count --fail-open keys");
  EXPECT_EQ(open.status, 0) << open.err;
}

TEST_F(RedisCommandTest, SecretsAndWrongUse) {
  Write("secret", "000102030405060708090a0b0c0d0e0f\n");
  EXPECT_EQ(Run("tamis redis create $on -n 1000 --hash siphash13").status, 2);
  EXPECT_EQ(Run("tamis redis create $on -n 1000 --secret secret").status, 2);
  Good("tamis redis create -q $on -n 1000 --hash siphash13 --secret secret");
  Good("echo x | tamis redis insert -q $on --secret secret");
  EXPECT_EQ(Good("echo x | tamis redis query --count $on --secret secret").out, "1/1\n");
  EXPECT_EQ(Run("echo x | tamis redis query --count $on").status, 2);
  EXPECT_EQ(Run("tamis redis create -q $on -n 1000").status, 2) << "it is there";
  EXPECT_EQ(Run("tamis redis query --name no-such-filter --url redis://127.0.0.1:1 x").status, 3);
  EXPECT_TRUE(Run("tamis redis info $on-not").ErrHas("does not exist"));
  EXPECT_EQ(Run("tamis redis").status, 2);
  EXPECT_EQ(Run("tamis redis create --url x").status, 2);
}

TEST(RedisCommandPasswordTest, ComesFromTheEnvironmentOrAFileAndIsNeverShown) {
  Servers servers("single", {"--requirepass", "hunter2"});
  TAMIS_NEED(servers);
  class Runner : public tools::CommandTest {
   public:
    void TestBody() override {}
    using CommandTest::Sh;
    using CommandTest::Write;
  } runner;
  runner.Write("password", "hunter2\n");
  runner.Write("wrong", "hunter3");
  const std::string port = std::to_string(servers.servers()[0].port);
  const std::string host = "127.0.0.1:" + port;
  const std::string create = "tamis redis create -q -n 1000 --name ";
  for (const std::string& script :
       {create + "a --password-file password --url redis://" + host,
        "TAMIS_REDIS_PASSWORD=hunter2 " + create + "b --url redis://" + host,
        "TAMIS_REDIS_URL=redis://:hunter2@" + host + " " + create + "c",
        create + "d --user default --password-file password --url redis://" + host}) {
    const CommandResult result =
        runner.Sh("export TAMIS_REDIS_PASSWORD TAMIS_REDIS_URL\n" + script);
    EXPECT_EQ(result.status, 0) << script << result.err;
  }
  for (const std::string& script :
       {create + "e --url redis://" + host, create + "e --url redis://:hunter2@" + host,
        create + "e --password-file wrong --url redis://" + host}) {
    const CommandResult result = runner.Sh(script);
    EXPECT_NE(result.status, 0) << script;
    EXPECT_EQ((result.out + result.err).find("hunter"), std::string::npos) << result.err;
  }
}

}  // namespace tamis::redis::command_servers_test
