// Segments that are missing, damaged or from another filter, and servers that refuse commands. None
// of these leads to the answer "no", and no write creates a missing segment.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/redis/near_cache.h"
#include "tamis/redis/rebuild.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::damage_servers_test {

using std::chrono::milliseconds;

// A filter of several segments, one of which can be damaged.
class RedisDamageTest : public testing::Test {
 protected:
  static constexpr uint64_t kBad = 1;  // the damaged segment

  void SetUp() override { TAMIS_NEED(servers_); }

  void Make() {
    name_ = NewName();
    SplitBlockFilter filter =
        SplitBlockFilter::Create(servers_.options(), name_, {{.bytes = 800'000}});
    filter.Insert(known_);
    const std::string key = DescriptorKey(name_);
    descriptor_ = ParseDescriptor(SayToOwner(servers_, key, {"GET", key}));
    key_ = KeyOfSegment(name_, descriptor_.layout, descriptor_.generation, kBad);
    lost_.clear();
    for (size_t i = 0; i < known_.size(); ++i) {
      const uint64_t block = split_block::BlockIndex(HashU64(known_[i]), descriptor_.layout.blocks);
      if (descriptor_.layout.SegmentOf(block) == kBad) lost_.push_back(i);
    }
    ASSERT_LT(lost_.front(), 20u);
    ASSERT_LT(lost_.size(), known_.size() / 6);
  }

  std::string OnBad(const std::vector<std::string>& words) {
    return SayToOwner(servers_, key_.text, words);
  }

  // Checks all routes, with and without exceptions. The exception's text must contain `words`.
  void ExpectUnanswered(ErrorCode code, const std::string& words) {
    for (const size_t count : {size_t{20}, size_t{60}, known_.size()}) {
      for (const Route route : {Route::kBlocks, Route::kSegments}) {
        SCOPED_TRACE(testing::Message() << count << (route == Route::kBlocks ? " by blocks" : ""));
        const auto keys = std::span(known_).first(count);
        SplitBlockFilter filter =
            SplitBlockFilter::Open(servers_.options(), name_, {.route = route});
        std::vector<uint64_t> bits(BitmapWords(count));
        ExpectKeys([&] { filter.Contains(keys, Bitmap(bits)); }, code, words, count);
        // The other keys are answered. Keys without an answer are "maybe".
        for (size_t i = 0; i < count; ++i) ASSERT_TRUE(Bitmap(bits).Test(i)) << i;
        SplitBlockFilter open = SplitBlockFilter::Open(
            servers_.options(), name_, {.unavailable = Unavailable::kMaybe, .route = route});
        EXPECT_EQ(open.Count(keys), count);
        const std::vector<uint64_t> strangers = RandomKeys(2'000, 77);
        const size_t maybe = open.Count(strangers);
        EXPECT_GT(maybe, 100u);  // one segment of twelve
        EXPECT_LT(maybe, 300u);
      }
    }
  }

  void ExpectNotInserted(ErrorCode code, const std::string& words) {
    for (const Route route : {Route::kBlocks, Route::kSegments}) {
      SCOPED_TRACE(static_cast<int>(route));
      SplitBlockFilter filter = SplitBlockFilter::Open(
          servers_.options(), name_, {.unavailable = Unavailable::kMaybe, .route = route});
      ExpectKeys([&] { filter.Insert(known_); }, code, words, known_.size());
    }
  }

  // The lost keys among the first `count` must have no answer.
  template <typename Act>
  void ExpectKeys(const Act& act, ErrorCode code, const std::string& words, size_t count) {
    try {
      act();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UnansweredError& error) {
      EXPECT_STREQ(ErrorCodeName(error.code()), ErrorCodeName(code)) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      const auto end = std::lower_bound(lost_.begin(), lost_.end(), count);
      EXPECT_EQ(error.keys(), std::vector<uint64_t>(lost_.begin(), end));
    }
  }

  Servers& servers_ = Servers::Cluster();
  const std::vector<uint64_t> known_ = RandomKeys(3'000, 4);
  std::string name_;
  Descriptor descriptor_;
  SegmentKey key_;
  std::vector<uint64_t> lost_;  // indices of the keys in that segment
};

TEST_F(RedisDamageTest, SegmentsThatAreGone) {
  Make();
  OnBad({"DEL", key_.text});
  ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: it is missing");
  ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: it is missing");
  EXPECT_EQ(OnBad({"EXISTS", key_.text}), "0");
  SplitBlockFilter filter = SplitBlockFilter::Open(servers_.options(), name_);
  ExpectError([&] { filter.Pull(); }, ErrorCode::kCorrupt, "segment 1: it is missing");
  SplitBlockBloomFilter local({.bytes = descriptor_.layout.bytes()});
  local.Insert(known_);
  ExpectError([&] { filter.Push(local); }, ErrorCode::kCorrupt, "segment 1: it is missing");
  EXPECT_EQ(OnBad({"EXISTS", key_.text}), "0");
  const Info info = filter.GetInfo();
  EXPECT_EQ(info.bad_segments, 1u);
  EXPECT_EQ(info.problem, "segment 1: it is missing, or has a wrong length");
}

// The state of a missing segment after a write that did not check for it.
TEST_F(RedisDamageTest, SegmentsThatAnotherClientMadeEmpty) {
  Make();
  const std::string length = std::to_string(descriptor_.layout.BytesOf(kBad));
  for (const std::string& last : {std::string("0"), length}) {
    OnBad({"DEL", key_.text});
    OnBad({"SETRANGE", key_.text, last, std::string(kStateBytes, '\0')});
    ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: it");
    ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: it");
  }
}

TEST_F(RedisDamageTest, AnotherGeneration) {
  Make();
  OnBad({"SETRANGE", key_.text, StateOffsets(descriptor_.layout.BytesOf(kBad)).begin, "x"});
  ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: its state belongs to another filter");
  ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: its state belongs to another filter");
}

TEST_F(RedisDamageTest, WrongLengths) {
  Make();
  const std::string bits = OnBad({"GET", key_.text});
  for (const std::string& wrong :
       {bits.substr(0, bits.size() - 1), bits.substr(0, bits.size() - 32), bits.substr(0, 32),
        bits + "x", bits + std::string(32, '\0'), bits + std::string(1 << 20, '\0')}) {
    OnBad({"SET", key_.text, wrong});
    ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: it is missing, or has a wrong length");
    ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: it is missing, or has a wrong length");
    EXPECT_EQ(OnBad({"STRLEN", key_.text}), std::to_string(wrong.size()));
  }
  // The last segment, which is shorter, replaces another one.
  const uint64_t last = descriptor_.layout.segments() - 1;
  const SegmentKey other = KeyOfSegment(name_, descriptor_.layout, descriptor_.generation, last);
  const std::string shorter = SayToOwner(servers_, other.text, {"GET", other.text});
  ASSERT_LT(shorter.size(), bits.size());
  OnBad({"SET", key_.text, shorter});
  ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: it is missing, or has a wrong length");
  OnBad({"SET", key_.text, std::string(bits.size() - shorter.size(), '\0') + shorter});
  ExpectUnanswered(ErrorCode::kCorrupt,
                   "segment 1: its state belongs to another filter, or is damaged");
}

TEST_F(RedisDamageTest, ValuesOfAnotherType) {
  Make();
  OnBad({"DEL", key_.text});
  OnBad({"LPUSH", key_.text, "x"});
  ExpectUnanswered(ErrorCode::kCorrupt, "WRONGTYPE");
  ExpectNotInserted(ErrorCode::kCorrupt, "WRONGTYPE");
}

// If the new segment of a rebuild is gone, the old segment is used.
TEST_F(RedisDamageTest, MarksThatNameNoSegment) {
  Make();
  const uint64_t length = descriptor_.layout.BytesOf(kBad);
  OnBad({"SETRANGE", key_.text, std::to_string(length + kMarkOffset), "anything"});
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter filter = SplitBlockFilter::Open(servers_.options(), name_, {.route = route});
    EXPECT_EQ(filter.Count(known_), known_.size());
    const std::vector<uint64_t> fresh = RandomKeys(300, 50 + static_cast<uint64_t>(route));
    EXPECT_EQ(filter.Insert(fresh), fresh.size());
    EXPECT_EQ(filter.Count(fresh), fresh.size());
  }
  NearCache near(SplitBlockFilter::Open(servers_.options(), name_));
  EXPECT_EQ(near.Refresh(), 0u);
}

// Segments of two generations that do not name each other, which no rebuild leaves behind.
TEST_F(RedisDamageTest, MarksThatContradictEachOther) {
  Make();
  const uint64_t length = descriptor_.layout.BytesOf(kBad);
  const uint64_t other = 12;
  const SegmentKey key = KeyOfSegment(name_, descriptor_.layout, other, kBad);
  OnBad({"SETRANGE", key_.text, std::to_string(length + kMarkOffset), LittleText(other)});
  OnBad({"SETRANGE", key.text, std::to_string(length), StateText({other, length, 77, 1})});
  ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: it is being rebuilt, but its generations");
  EXPECT_EQ(SplitBlockFilter::Open(servers_.options(), name_).Count(known_), known_.size());
}

// A client with an older descriptor reads closed segments if a server has lost the new descriptor.
TEST_F(RedisDamageTest, ClosedSegments) {
  Make();
  const uint64_t length = descriptor_.layout.BytesOf(kBad);
  OnBad({"SETRANGE", key_.text, std::to_string(length), LittleText(12)});
  ExpectUnanswered(ErrorCode::kCorrupt, "segment 1: its state belongs to another filter");
  ExpectNotInserted(ErrorCode::kCorrupt, "segment 1: its state belongs to another filter");
}

TEST_F(RedisDamageTest, VersionsChangeWithTheBitsAndOnlyThen) {
  Make();
  const StateOffsets at(descriptor_.layout.BytesOf(kBad));
  const auto version = [&] { return OnBad({"GETRANGE", key_.text, at.version, at.end}); };
  const auto settle = [&] { OnBad({"SETRANGE", key_.text, at.version, LittleText(0x1234)}); };
  const auto is_odd = [](const std::string& v) { return v.size() == 8 && (v[0] & 1) == 1; };
  EXPECT_TRUE(is_odd(version()));
  settle();
  std::string last = version();
  SplitBlockFilter filter =
      SplitBlockFilter::Open(servers_.options(), name_, {.route = Route::kBlocks});
  filter.Insert(known_);  // all are inserted already
  EXPECT_EQ(version(), last);
  EXPECT_EQ(filter.Count(known_), known_.size());
  EXPECT_EQ(version(), last);
  filter.Insert(RandomKeys(100, 99));
  EXPECT_TRUE(is_odd(version()));
  settle();
  SplitBlockFilter by_segments =
      SplitBlockFilter::Open(servers_.options(), name_, {.route = Route::kSegments});
  by_segments.Insert(RandomKeys(100, 98));
  EXPECT_TRUE(is_odd(version()));
  // The version stays the same until a client reads it.
  last = version();
  filter.Insert(RandomKeys(100, 97));
  EXPECT_EQ(version(), last);
}

// ---- Tests with their own servers ----

TEST(RedisServerFaultTest, FlushedServersAnswerNoKeyWithNo) {
  Servers servers("single");
  TAMIS_NEED(servers);
  const std::vector<uint64_t> keys = RandomKeys(1'000, 1);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), "flushed", {{.capacity = 1'000'000}});
  filter.Insert(keys);
  Say(servers.servers()[0].port, {"FLUSHALL"});
  EXPECT_THROW(filter.Count(keys), UnansweredError);
  EXPECT_THROW(filter.Insert(keys), UnansweredError);
  EXPECT_THROW(filter.Pull(), Error);
  EXPECT_EQ(Say(servers.servers()[0].port, {"DBSIZE"}), "0");
  ExpectError([&] { SplitBlockFilter::Open(servers.options(), "flushed"); },
              ErrorCode::kInvalidArgument, "does not exist");
}

TEST(RedisServerFaultTest, PasswordsAndUsers) {
  Servers servers("single", {"--requirepass", "hunter2"});
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const std::string host = "127.0.0.1:" + std::to_string(port);
  const auto create = [&](const std::string& url, const std::string& user = {},
                          const std::string& password = {}) {
    ServerOptions options;
    options.url = url;
    options.user = user;
    options.password = password;
    const std::string name = NewName();
    SplitBlockFilter filter = SplitBlockFilter::Create(options, name, {{.capacity = 100'000}});
    filter.Insert("x");
    EXPECT_TRUE(filter.Contains("x"));
    filter.Pull();
    EXPECT_EQ(filter.GetInfo().bad_segments, 0u);
    SplitBlockFilter::Open(options, name, {.route = Route::kSegments}).Insert("y");
    filter.Drop();
  };
  create("redis://:hunter2@" + host);
  create("redis://default:hunter%32@" + host);
  create("redis://" + host, "", "hunter2");
  EXPECT_EQ(Say(port, {"PING"}).substr(0, 6), "NOAUTH");
  const auto begin = std::chrono::steady_clock::now();
  for (const std::string& url :
       {"redis://" + host, "redis://:wrong-secret@" + host, "redis://me:wrong-secret@" + host}) {
    try {
      create(url);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
      EXPECT_EQ(std::string(error.what()).find("wrong-secret"), std::string::npos) << error.what();
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, ServerOptions().retry_for)
      << "as tried again";
}

// The rights that redis/FORMAT.md lists.
TEST(RedisServerFaultTest, AUserNeedsOnlyTheseRights) {
  Servers servers("single",
                  {"--user", "tamis", "on", ">pw", "~tamis:*", "+@read", "+@write", "+eval",
                   "+evalsha", "+cluster|shards", "+cluster|slots", "+memory|usage", "+wait"});
  TAMIS_NEED(servers);
  ServerOptions options = servers.options();
  options.command_timeout = std::chrono::seconds(5);  // WAIT may take half of it
  options.user = "tamis";
  options.password = "pw";
  const std::string name = NewName();
  SplitBlockFilter filter = SplitBlockFilter::Create(options, name, {{.capacity = 100'000}});
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter open = SplitBlockFilter::Open(options, name, {.route = route});
    open.Insert("x");
    EXPECT_TRUE(open.Contains("x"));
  }
  EXPECT_GT(filter.GetInfo().server_bytes, 0u);
  filter.Push(filter.Pull());
  Rebuild(filter, [](RebuildInserter& to) { to.Insert(std::vector<std::string_view>{"x"}); },
          {.grace = milliseconds(0)});
  EXPECT_TRUE(NearCache(SplitBlockFilter::Open(options, name)).Contains("x"));
  ExpectError([&] { SplitBlockFilter::Open(options, name, {.durable_replicas = 1}).Insert("y"); },
              ErrorCode::kNotDurable, "1 replicas");
  filter.Drop();
  EXPECT_EQ(Say(servers.servers()[0].port, {"DBSIZE"}), "0");
}

TEST(RedisServerFaultTest, DatabasesAreOfSingleServers) {
  Servers& single = Servers::Single();
  TAMIS_NEED(single);
  ServerOptions options = single.options();
  options.url += "/3";
  const std::string name = NewName();
  SplitBlockFilter filter = SplitBlockFilter::Create(options, name, {{.capacity = 1'000}});
  filter.Insert("x");
  EXPECT_TRUE(SplitBlockFilter::Open(options, name).Contains("x"));
  EXPECT_THROW(SplitBlockFilter::Open(single.options(), name), Error);
  options.url = Servers::Cluster().options().url + "/3";
  ExpectError([&] { SplitBlockFilter::Open(options, name); }, ErrorCode::kUnavailable,
              "a cluster has no databases");
}

TEST(RedisServerFaultTest, AChildOfForkConnectsAgain) {
  Servers& servers = Servers::Single();
  TAMIS_NEED(servers);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.bytes = 900'000}});
  const std::vector<uint64_t> keys = RandomKeys(40'000, 6);
  const auto work = [&](size_t from) {
    bool all = true;
    for (size_t i = from; i < keys.size(); i += 200) {
      const auto some = std::span(keys).subspan(i, 100);
      all = filter.Insert(some) == some.size() && filter.Count(some) == some.size() && all;
    }
    return all;
  };
  filter.Insert("before");
  const pid_t child = fork();
  if (child == 0) {
    bool all = false;
    try {
      all = work(100);
    } catch (...) {
    }
    _exit(all ? 0 : 1);
  }
  EXPECT_TRUE(work(0));
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

TEST(RedisServerFaultTest, Ipv6) {
  // With the minus, the server also starts on a machine without IPv6.
  Servers servers("single", {"--bind", "127.0.0.1", "-::1"});
  TAMIS_NEED(servers);
  ServerOptions options = servers.options();
  options.url = "redis://[::1]:" + std::to_string(servers.servers()[0].port);
  options.retry_for = milliseconds(100);
  try {
    SplitBlockFilter filter = SplitBlockFilter::Create(options, "six", {{.capacity = 1'000}});
    filter.Insert("x");
    EXPECT_TRUE(filter.Contains("x"));
  } catch (const Error& error) {
    GTEST_SKIP() << "this machine has no IPv6: " << error.what();
  }
}

TEST(RedisServerFaultTest, ServersWithoutMemoryTakeNoFilter) {
  Servers servers("single", {"--maxmemory", "8mb", "--maxmemory-policy", "noeviction"});
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  ExpectError(
      [&] {
        SplitBlockFilter::Create(servers.options(), "large", {{.bytes = uint64_t{64} << 20}});
      },
      ErrorCode::kOutOfMemory, "OOM");
  EXPECT_TRUE(WaitFor(120, [&] { return Say(port, {"DBSIZE"}) == "0"; }));
  SplitBlockFilter small =
      SplitBlockFilter::Create(servers.options(), "small", {{.bytes = uint64_t{4} << 20}});
  small.Insert("x");
  Say(port, {"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(small.Contains("x"));
  ExpectError([&] { small.Insert("y"); }, ErrorCode::kOutOfMemory, "OOM");
}

TEST(RedisServerFaultTest, ARebuildThatLacksMemoryTakesNone) {
  Servers servers("single", {"--maxmemory-policy", "noeviction"});
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const uint64_t bytes = uint64_t{16} << 20;
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), "large", {{.bytes = bytes}});
  const std::vector<uint64_t> keys = RandomKeys(1'000, 1);
  filter.Insert(keys);
  const auto known = [&](RebuildInserter& to) { to.Insert(keys); };
  const std::string before = Say(port, {"DBSIZE"});
  Say(port, {"CONFIG", "SET", "maxmemory", std::to_string(bytes * 3 / 2)});
  ExpectError([&] { Rebuild(filter, known); }, ErrorCode::kOutOfMemory, "OOM");
  EXPECT_EQ(filter.GetInfo().rebuild, RebuildState::kNone);
  EXPECT_EQ(Say(port, {"DBSIZE"}), before);
  // The server frees segments in the background.
  EXPECT_TRUE(WaitFor(120, [&] {
    try {
      filter.Insert("x");
      return true;
    } catch (const Error&) {
      return false;
    }
  }));

  // Another client ends a rebuild when its server has no memory left.
  Say(port, {"CONFIG", "SET", "maxmemory", "0"});
  StoppingOwner owner(servers.options(), "large", known, [&](const RebuildProgress& progress) {
    if (progress.step != RebuildStep::kFill) return false;
    Say(port, {"CONFIG", "SET", "maxmemory", "1"});
    Say(port, {"DEL", LeaseKey("large")});
    return true;
  });
  ASSERT_TRUE(owner.AwaitStop());
  EXPECT_TRUE(EndAbandonedRebuild(filter));
  EXPECT_NE(owner.Outcome(), std::nullopt);
  EXPECT_EQ(Say(port, {"DBSIZE"}), before);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

TEST(RedisServerFaultTest, ConnectionsAndScriptsThatAServerForgets) {
  Servers& servers = Servers::Single();
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const std::vector<uint64_t> keys = RandomKeys(20'000, 8);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.capacity = 2'000'000}});
  std::atomic<size_t> calls = 0;
  const std::jthread fault([&](const std::stop_token& stop) {
    milliseconds pause(15);
    for (size_t before = 0; !stop.stop_requested(); std::this_thread::sleep_for(pause)) {
      Say(port, {"CLIENT", "KILL", "TYPE", "normal"});
      Say(port, {"SCRIPT", "FLUSH"});
      // On a slow machine the pause grows until a command has enough time.
      pause = calls == before ? pause + pause / 4 : milliseconds(15);
      before = calls;
    }
  });
  for (size_t i = 0; i < 20; ++i) {
    filter.Insert(std::span(keys).subspan(i * 1'000, 1'000));
    EXPECT_EQ(filter.Count(std::span(keys).first((i + 1) * 1'000)), (i + 1) * 1'000);
    ++calls;
  }
  EXPECT_EQ(filter.Count(keys), keys.size());
}

}  // namespace tamis::redis::damage_servers_test
