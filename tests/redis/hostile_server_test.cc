// Servers that send invalid answers: no such answer becomes a "no", nothing is read or allocated
// beyond the request, and every call ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis/src/client/client.h"
#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/changes.h"
#include "tamis/redis/near_cache.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/redis_test_util.h"
#include "tests/test_util.h"

namespace tamis::redis::hostile_server_test {

using std::chrono::milliseconds;
using Words = FakeServer::Words;
using Answer = std::optional<std::string>;

ServerOptions Options(const FakeServer& server) {
  ServerOptions options;
  options.url = server.url();
  options.connect_timeout = milliseconds(500);
  options.command_timeout = milliseconds(200);
  options.retry_for = milliseconds(300);
  return options;
}

// Retries, because the timeouts of these tests are short and machines may be slow.
SplitBlockFilter OpenPatiently(const ServerOptions& options, const ClientOptions& client = {}) {
  for (int i = 0; i < 20; ++i) {
    try {
      return SplitBlockFilter::Open(options, "x", client);
    } catch (const Error&) {
    }
  }
  return SplitBlockFilter::Open(options, "x", client);
}

Descriptor OneSegment() {
  Descriptor descriptor;
  descriptor.layout = LayoutFor(100);
  descriptor.generation = 7;
  return descriptor;
}

// A server with a descriptor. The test gives the answers to all other commands.
FakeServer::Handler WithDescriptor(FakeServer::Handler handler) {
  return [handler = std::move(handler)](const Words& words) -> Answer {
    if (const Answer answer = AnswerOfSingle(words)) return answer;
    if (words[0] == "GET") return Bulk(DescriptorText(OneSegment()));
    return handler(words);
  };
}

// The only segment, without a key.
Answer EmptySegment(const Words& words) {
  const Descriptor descriptor = OneSegment();
  const uint64_t length = descriptor.layout.BytesOf(0);
  if (words[0] != "GETRANGE") return "-ERR unknown command\r\n";
  if (words[2] != StateOffsets(length).begin) return Bulk(std::string(32, '\0'));
  return Bulk(StateText({descriptor.generation, length, 0, 1}));
}

std::vector<std::string> HostileReplies() {
  std::string nest;
  for (int i = 0; i < 100; ++i) nest += "*1\r\n";
  return {"$-1\r\n",
          "*-1\r\n",
          "*0\r\n",
          "$0\r\n\r\n",
          "+OK\r\n",
          "+\r\n",
          ":0\r\n",
          ":5\r\n",
          ":-1\r\n",
          ":-99\r\n",
          ":9223372036854775807\r\n",
          ":99999999999999999999999\r\n",
          "$31\r\n" + std::string(31, '\0') + "\r\n",
          "$33\r\n" + std::string(33, '\0') + "\r\n",
          "$-5\r\n",
          "$99999999999\r\n",
          "$2147483647\r\nabc",
          "*-7\r\n",
          "*2147483647\r\n",
          "*1000000\r\n:1\r\n",
          "*2\r\n$-1\r\n$-1\r\n",
          "*2\r\n:1\r\n:2\r\n",
          "*2\r\n*1\r\n:2\r\n$1\r\nx\r\n",
          nest,
          "garbage\r\n",
          "\r\n\r\n\r\n",
          "-\r\n",
          "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
          "-ERR something\r\n",
          "-NOPERM no\r\n",
          "-OOM no\r\n",
          "-TRYAGAIN later\r\n",
          "-CLUSTERDOWN down\r\n",
          "-LOADING soon\r\n",
          "-NOSCRIPT none\r\n",
          "-MOVED 0\r\n",
          "-MOVED 99999 127.0.0.1:1\r\n",
          "-MOVED 8192 127.0.0.1:1\r\n",
          "-ASK 8192 127.0.0.1:1\r\n",
          "-MOVED 8192 " + std::string(300, 'x') + ":1\r\n",
          "-MOVED 8192 :0\r\n",
          std::string("-ERR \0\x01\xFF\r\n", 10),
          "-" + std::string(1 << 20, 'x') + "\r\n",
          "",
          "$32\r\n"};
}

TEST(RedisHostileServerTest, NoAnswerOfItIsNo) {
  for (const std::string& reply : HostileReplies()) {
    SCOPED_TRACE(reply.substr(0, 60));
    FakeServer server(WithDescriptor([&](const Words&) { return Answer(reply); }));
    ServerOptions options = Options(server);
    options.retry_for = milliseconds(5);
    options.connect_timeout = options.command_timeout = milliseconds(30);
    for (const Route route : {Route::kBlocks, Route::kSegments}) {
      SplitBlockFilter open = SplitBlockFilter::Open(
          options, "x", {.unavailable = Unavailable::kMaybe, .route = route});
      EXPECT_TRUE(open.Contains(uint64_t{1}));
      SplitBlockFilter strict = OpenPatiently(options, {.route = route});
      try {
        strict.Contains(uint64_t{1});
        ADD_FAILURE();
      } catch (const UnansweredError& error) {
        EXPECT_EQ(error.keys(), std::vector<uint64_t>{0});
      }
    }
    SplitBlockFilter filter = OpenPatiently(options);
    EXPECT_THROW(filter.Pull(), Error);
  }
}

TEST(RedisHostileServerTest, OpeningEndsInAnError) {
  for (const std::string& reply : HostileReplies()) {
    SCOPED_TRACE(reply.substr(0, 60));
    for (const bool to_cluster : {false, true}) {
      FakeServer server([&](const Words& words) -> Answer {
        if (!to_cluster && words[0] == "CLUSTER") return AnswerOfSingle(words);
        return reply;
      });
      ServerOptions options = Options(server);
      options.retry_for = milliseconds(5);
      options.connect_timeout = options.command_timeout = milliseconds(30);
      EXPECT_THROW(SplitBlockFilter::Open(options, "x"), Error);
    }
  }
}

TEST(RedisHostileServerTest, AServerThatNeverStopsSendingIsGivenUp) {
  const std::string endless(8 << 20, 'x');
  for (const std::string& begin : {std::string("+"), std::string("$4000000000\r\n")}) {
    FakeServer server(WithDescriptor([&](const Words&) { return Answer(begin + endless); }));
    SplitBlockFilter filter = OpenPatiently(Options(server));
    EXPECT_THROW(filter.Contains(uint64_t{1}), UnansweredError);
  }
  // Byte by byte, each byte before the timeout.
  FakeServer slow(WithDescriptor([&](const Words&) { return Answer(Bulk(std::string(32, 'x'))); }));
  SplitBlockFilter filter = OpenPatiently(Options(slow));
  slow.Drip(1, 50);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(filter.Contains(uint64_t{1}), UnansweredError);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(RedisHostileServerTest, AStallingServerIsWaitedForAsLongAsTheCallerAllows) {
  std::atomic<bool> stalls = false;
  FakeServer server([&](const Words& words) {
    while (stalls) std::this_thread::sleep_for(milliseconds(5));
    return WithDescriptor(EmptySegment)(words);
  });
  ServerOptions options = Options(server);
  SplitBlockFilter strict = OpenPatiently(options);
  SplitBlockFilter open = OpenPatiently(options, {.unavailable = Unavailable::kMaybe});
  options.command_timeout = options.retry_for = std::chrono::minutes(2);
  SplitBlockFilter patient = OpenPatiently(options);
  stalls = true;
  ExpectError([&] { strict.Contains("x"); }, ErrorCode::kUnavailable, "in time");
  ExpectError([&] { strict.Insert("x"); }, ErrorCode::kUnavailable, "may not have been inserted");
  EXPECT_TRUE(open.Contains("x"));
  const std::jthread wake([&] {
    std::this_thread::sleep_for(milliseconds(300));
    stalls = false;
  });
  EXPECT_FALSE(patient.Contains("x")) << "it has answered";
}

// Writing a segment takes more than one script. The first one succeeds, and the second one fails.
TEST(RedisHostileServerTest, ScriptsOfASegmentThatFareDifferently) {
  const Layout layout = LayoutFor(2'000);
  ASSERT_EQ(layout.segments(), 1u);
  Descriptor descriptor;
  descriptor.layout = layout;
  descriptor.generation = descriptor.origin = 7;
  std::atomic<int> scripts = 0;
  FakeServer server([&](const FakeServer::Words& words) -> std::optional<std::string> {
    if (const auto answer = AnswerOfSingle(words)) return answer;
    if (words[0] == "GET") return Bulk(DescriptorText(descriptor));
    if (words[0] == "EVALSHA" || words[0] == "EVAL") {
      return ++scripts % 2 == 1 ? ":1\r\n" : "-MISCONF cannot be saved\r\n";
    }
    return ":0\r\n";  // WAIT: no replica has the keys
  });
  ServerOptions options;
  options.url = server.url();
  SplitBlockFilter filter =
      SplitBlockFilter::Open(options, "x", {.route = Route::kBlocks, .durable_replicas = 1});
  ExpectError([&] { filter.Insert(RandomKeys(20'000, 1)); }, ErrorCode::kUnavailable,
              "may not have been inserted");
  EXPECT_EQ(scripts, 2);
}

// Inserts through Changeable. The only rejected keys are nulls, and the call is not split.
TEST(RedisHostileServerTest, InsertsThroughTheInterface) {
  std::atomic<int> scripts = 0;
  FakeServer server(WithDescriptor([&](const Words& words) -> Answer {
    if (words[0] != "EVALSHA" && words[0] != "EVAL") return EmptySegment(words);
    ++scripts;
    return ":1\r\n";
  }));
  ServerOptions options = Options(server);
  options.command_timeout = options.retry_for = std::chrono::minutes(2);
  SplitBlockFilter filter = SplitBlockFilter::Open(options, "x", {.route = Route::kBlocks});
  const std::vector<uint64_t> keys = {1, 2, 3};
  const uint8_t validity = 0b010;
  const Keys some = Keys(keys).WithValidity(&validity);
  Changeable& to = filter;
  EXPECT_TRUE(to.change_traits().whole_calls);
  std::vector<uint64_t> rejected(3);
  EXPECT_EQ(Insert(to, some, rejected), 1u);
  EXPECT_EQ(rejected, (std::vector<uint64_t>{0, 2, 0}));
  EXPECT_EQ(scripts, 1);
  ExpectError([&] { InsertIfAbsent(to, keys, Bitmap(rejected)); }, ErrorCode::kUnsupported,
              "which keys are new");
  ExpectError([&] { Erase(to, keys); }, ErrorCode::kUnsupported, "cannot be erased");
}

// A server may refuse a command after its first bytes. The client then does not send the rest,
// because its memory may no longer be valid.
TEST(RedisHostileServerTest, AnswersBeforeTheCommandWasSent) {
  Descriptor descriptor = OneSegment();
  descriptor.layout.segment_blocks = (kMaxSegment - kSegmentHeadroom) / split_block::kBlockBytes;
  descriptor.layout.blocks = descriptor.layout.segment_blocks;
  std::atomic<int> sets = 0;
  FakeServer server([&](const Words& words) -> Answer {
    if (const Answer answer = AnswerOfSingle(words)) return answer;
    if (words[0] == "GET") return Bulk(DescriptorText(descriptor));
    if (words[0] == "SET") ++sets;
    return "-ERR no\r\n";
  });
  server.AnswerBegun("SET", "-ERR not that much\r\n");
  ServerOptions options = Options(server);
  options.connect_timeout = options.command_timeout = milliseconds(10'000);
  SplitBlockFilter filter = SplitBlockFilter::Open(options, "x", {.route = Route::kSegments});
  ExpectError([&] { filter.Insert(uint64_t{1}); }, ErrorCode::kUnavailable, "not that much");
  const int before = server.connections();
  server.LetGo();
  ExpectError([&] { filter.Contains(uint64_t{1}); }, ErrorCode::kUnavailable, "ERR no");
  EXPECT_GT(server.connections(), before) << "not by the one on which it was";
  EXPECT_EQ(sets, 0);
}

// On a new connection WAIT does not cover the earlier writes, and reports that all replicas are up
// to date.
TEST(RedisHostileServerTest, AConnectionThatEndsBeforeWaitIsAnswered) {
  std::atomic<int> waits = 0;
  FakeServer server(WithDescriptor([&](const Words& words) -> Answer {
    if (words[0] == "WAIT" && ++waits == 1) return {};
    return ":1\r\n";
  }));
  ServerOptions options = Options(server);
  options.command_timeout = options.retry_for = milliseconds(10'000);
  SplitBlockFilter filter = SplitBlockFilter::Open(options, "x", {.durable_replicas = 1});
  ExpectError([&] { filter.Insert(uint64_t{1}); }, ErrorCode::kNotDurable, "unknown");
  EXPECT_EQ(waits, 1);
}

// A server that does not report its slots delays only clients that need the slots.
TEST(RedisHostileServerTest, CommandsContinueWhileNoServerReportsTheSlots) {
  std::atomic<bool> stop = false;
  std::atomic<int> asked = 0, moved = 0;
  std::string here;
  FakeServer server([&](const Words& words) -> Answer {
    if (words[0] == "CLUSTER" && words[1] == "SHARDS") {
      while (asked++ > 0 && !stop) std::this_thread::sleep_for(milliseconds(5));
      return "-ERR unknown subcommand\r\n";
    }
    if (words[0] == "CLUSTER") {
      return "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:" + here + "\r\n$1\r\nx\r\n";
    }
    if (words[0] == "GET") return Bulk(DescriptorText(OneSegment()));
    // The redirection occurs once, and makes the client read the slot map again.
    if (moved++ == 0) return "-MOVED 8192 127.0.0.1:" + here + "\r\n";
    return EmptySegment(words);
  });
  here = std::to_string(server.port());
  ServerOptions options = Options(server);
  options.command_timeout = options.retry_for = std::chrono::minutes(5);
  SplitBlockFilter filter = SplitBlockFilter::Open(options, "x");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(filter.Contains(static_cast<uint64_t>(i)));
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(2));
  EXPECT_GE(asked, 2);
  stop = true;
}

TEST(RedisHostileServerTest, UnrequestedAnswersAreNotMatchedToCommands) {
  // After each answer comes a second one, which would look like the answer to the next command.
  FakeServer server(WithDescriptor([&](const Words&) {
    return Answer(Bulk(std::string(32, '\xFF')) + Bulk(std::string(32, '\0')));
  }));
  SplitBlockFilter filter = OpenPatiently(Options(server), {.unavailable = Unavailable::kMaybe});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(filter.Contains(uint64_t{1}));
}

TEST(RedisHostileServerTest, RedirectionsWithoutEndEnd) {
  int port = 0;
  FakeServer server(WithDescriptor([&](const Words& words) -> Answer {
    if (words[0] == "ASKING") return "+OK\r\n";
    return "-ASK 8192 127.0.0.1:" + std::to_string(port) + "\r\n";
  }));
  port = server.port();
  SplitBlockFilter filter = OpenPatiently(Options(server));
  ExpectError([&] { filter.Contains(uint64_t{1}); }, ErrorCode::kUnavailable, "ASK");
}

TEST(RedisHostileServerTest, APasswordIsInNoError) {
  for (const char* reply :
       {"-ERR no hunter3\r\n", "-WRONGPASS invalid username-password pair\r\n"}) {
    FakeServer server([&](const Words&) { return Answer(reply); });
    ServerOptions options = Options(server);
    options.password = "hunter2";
    options.command_timeout = std::chrono::seconds(5);
    options.min_backoff = milliseconds(1);  // a busy machine takes longer to read the answer
    const auto begin = std::chrono::steady_clock::now();
    try {
      SplitBlockFilter::Open(options, "x");
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
    }
    EXPECT_EQ(server.connections(), 1) << "it does no good to try again";
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  }
}

// The master that replaces it may lack all keys, and has no replicas to wait for.
TEST(RedisHostileServerTest, KeysOnAReplacedMasterAreNotDurable) {
  std::atomic<int> port = 0;
  FakeServer server([&](const Words& words) -> Answer {
    if (words[0] != "CLUSTER") return "+OK\r\n";
    return "*1\r\n*4\r\n" + Bulk("slots") + "*2\r\n:0\r\n:16383\r\n" + Bulk("nodes") +
           "*1\r\n*8\r\n" + Bulk("port") + ":" + std::to_string(port) + "\r\n" + Bulk("endpoint") +
           Bulk("127.0.0.1") + Bulk("role") + Bulk("master") + Bulk("health") + Bulk("online");
  });
  port = server.port();
  Client client(Options(server));
  std::vector<Command> commands;
  commands.emplace_back(0, std::initializer_list<std::string_view>{"SET", "a", "b"}, 64);
  client.Run(commands);
  ASSERT_TRUE(commands[0].answered) << commands[0].failure;
  client.AwaitReplicas(commands, 0, /*all_known=*/true);
  EXPECT_TRUE(commands[0].durable);
  port = server.port() == 1 ? 2 : 1;  // the same server now names another master
  client.RefreshedMap();
  client.AwaitReplicas(commands, 0, /*all_known=*/true);
  EXPECT_FALSE(commands[0].durable);
}

// On a slow machine, a client may be late for each of many rebuilds.
TEST(RedisHostileServerTest, MarksThatChangeAreFollowedForALongTimeButNotForever) {
  std::atomic<uint64_t> changes = 0;
  const auto mark = [&] {  // after the changes the mark is gone, and the key is inserted
    const uint64_t count = changes;
    if (count == 0) return std::string(":8\r\n");
    --changes;
    return Bulk(StateText({OneSegment().generation, OneSegment().layout.BytesOf(0), count, 1}));
  };
  FakeServer server(WithDescriptor([&](const Words& words) -> Answer {
    if (words[0] == "EVALSHA" || words[0] == "EVAL") return mark();
    return EmptySegment(words);
  }));
  ServerOptions options = Options(server);
  options.command_timeout = options.retry_for = std::chrono::minutes(2);
  options.max_backoff = milliseconds(20);
  SplitBlockFilter filter = OpenPatiently(options);
  changes = 60;
  filter.Insert("x");
  EXPECT_EQ(changes, 0u);

  constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();
  options.min_backoff = options.max_backoff = std::chrono::hours(1);  // retry_for ends the pauses
  options.retry_for = milliseconds(300);
  SplitBlockFilter impatient = OpenPatiently(options);
  changes = kForever;
  ExpectError([&] { impatient.Insert("x"); }, ErrorCode::kUnavailable, "again and again");
  // The number of attempts does not depend on the speed of the servers.
  options.retry_for = milliseconds(0);
  SplitBlockFilter hasty = OpenPatiently(options);
  changes = kForever;
  ExpectError([&] { hasty.Insert("x"); }, ErrorCode::kUnavailable, "again and again");
  EXPECT_EQ(kForever - changes, 4u);
}

// A client that is late for every rebuild gets no error about damage.
TEST(RedisHostileServerTest, AFilterThatChangesForever) {
  std::atomic<uint64_t> generation = 1;
  FakeServer server([&](const Words& words) -> Answer {
    if (const Answer answer = AnswerOfSingle(words)) return answer;
    const bool script = words[0] == "EVALSHA" || words[0] == "EVAL";
    if (script && words[3] == DescriptorKey("x")) return ":-1\r\n";  // the descriptor may be new
    if (script || words[0] == "GETRANGE") return "$0\r\n\r\n";       // the segment does not exist
    if (words[0] == "MEMORY") return "$-1\r\n";
    if (words[0] == "SET") return "+OK\r\n";
    if (words[1] != DescriptorKey("x")) return "$-1\r\n";
    Descriptor descriptor = OneSegment();
    descriptor.generation = ++generation;
    return Bulk(DescriptorText(descriptor));
  });
  SplitBlockFilter filter = OpenPatiently(Options(server));
  const auto late = [&](auto act) {
    ExpectError(act, ErrorCode::kUnavailable, "it is rebuilt again and again");
  };
  late([&] { filter.Drop(); });
  late([&] { filter.Insert("x"); });
  late([&] { filter.Contains("x"); });
  late([&] { filter.Pull(); });
  SplitBlockBloomFilter local({.bytes = 32 * filter.num_blocks()});
  local.Insert("x");
  late([&] { filter.Push(local); });
  late([&] { NearCache{OpenPatiently(Options(server))}; });
  const Info info = filter.GetInfo();
  EXPECT_EQ(info.bad_segments, 1u);
  EXPECT_EQ(info.problem, "it is rebuilt again and again");
}

// The client must not report "no rebuild" or 0 bytes instead.
TEST(RedisHostileServerTest, UnansweredFieldsAreUnknown) {
  const std::string none = "$-1\r\n";
  std::string before = none, lease = none, after = none, bytes = "-NOPERM no\r\n";
  bool refuses = false, looked = false;
  FakeServer server([&](const Words& words) -> Answer {
    if (words.back() == LeaseKey("x")) {
      if (std::exchange(refuses, false)) return "-LOADING not yet\r\n";
      looked = true;
      return lease;
    }
    if (words.back() == RebuildKey("x")) return looked ? after : before;
    if (words[0] == "MEMORY") return bytes;
    return WithDescriptor(EmptySegment)(words);
  });
  ServerOptions options = Options(server);
  options.command_timeout = std::chrono::minutes(2);  // so that each command is sent once
  const auto look = [&] {
    looked = false;
    return OpenPatiently(options).GetInfo();
  };
  EXPECT_EQ(look().rebuild, RebuildState::kNone);
  EXPECT_EQ(look().measured_segments, 0u);
  EXPECT_EQ(look().server_bytes, 0u);
  EXPECT_EQ(look().bad_segments, 0u);
  bytes = "$-1\r\n";
  EXPECT_EQ(look().measured_segments, 1u);
  EXPECT_EQ(look().server_bytes, 0u);
  bytes = ":-5\r\n";
  EXPECT_EQ(look().measured_segments, 0u);
  bytes = ":300\r\n";
  EXPECT_EQ(look().measured_segments, 1u);
  EXPECT_EQ(look().server_bytes, 300u);

  const std::string record = Bulk("a record"), other = Bulk("another"), owner = Bulk("somebody");
  const std::string bad = ":5\r\n", error = "-NOPERM no\r\n";
  using enum RebuildState;
  struct Case {
    std::string before, lease, after;
    RebuildState state;
  };
  const Case cases[] = {{record, none, record, kAbandoned}, {record, owner, none, kRunning},
                        {record, none, none, kNone},        {none, none, record, kNone},
                        {record, none, other, kRunning},    {record, bad, record, kUnknown},
                        {record, error, record, kUnknown},  {record, none, error, kUnknown},
                        {record, none, bad, kUnknown},      {error, none, record, kUnknown},
                        {bad, owner, record, kUnknown}};
  for (const Case& one : cases) {
    before = one.before;
    lease = one.lease;
    after = one.after;
    for (const bool late : {false, true}) {  // whether the answer to the lease is late
      refuses = late;
      EXPECT_EQ(look().rebuild, one.state) << before << lease << after << late;
    }
  }
}

TEST(RedisHostileServerTest, ConnectionsAreTriedAgainAtLongerIntervals) {
  FakeServer server([&](const Words&) { return Answer(); });  // closes
  ServerOptions options = Options(server);
  options.retry_for = milliseconds(1'200);
  options.min_backoff = milliseconds(40);
  EXPECT_THROW(SplitBlockFilter::Open(options, "x"), Error);
  // The pauses are 40 + 80 + 160 + 320 + 640 ms, and the client waits at least half of each.
  EXPECT_GE(server.connections(), 4);
  EXPECT_LE(server.connections(), 12);
}

TEST(RedisHostileServerTest, OptionsOutOfRangeAreErrors) {
  const auto open = [](const auto& change) {
    ServerOptions options;
    change(options);
    ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kInvalidArgument, "");
  };
  open([](ServerOptions& o) { o.connect_timeout = milliseconds(0); });
  open([](ServerOptions& o) { o.command_timeout = milliseconds(-1); });
  open([](ServerOptions& o) { o.retry_for = milliseconds(-1); });
  open([](ServerOptions& o) { o.min_backoff = milliseconds(0); });
  open([](ServerOptions& o) { o.max_backoff = milliseconds(5); });
  open([](ServerOptions& o) { o.command_timeout = milliseconds::max(); });
  open([](ServerOptions& o) { o.url = "nonsense"; });
  open([](ServerOptions& o) { o.user = "me"; });
}

TEST(RedisHostileServerTest, TlsIsThereOrRefused) {
  FakeServer server([](const Words&) { return Answer("+OK\r\n"); });
  ServerOptions options = Options(server);
  options.url.replace(0, 5, "rediss");
#if TAMIS_REDIS_TLS
  ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kUnavailable, "TLS");
  options.ca_file = "no such file";
  ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kInvalidArgument, "TLS");
#else
  ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kUnsupported, "TLS");
  EXPECT_EQ(server.connections(), 0);
#endif
}

#if TAMIS_REDIS_TLS
// The client waits for a shorter time than for a reply. For the reply with the slots of a cluster,
// it waits six times as long.
TEST(RedisHostileServerTest, AServerThatNeverBeginsTlsIsGivenUp) {
  FakeServer server([](const Words&) { return Answer("+OK\r\n"); });
  ServerOptions options = Options(server);
  options.url.replace(0, 5, "rediss");
  options.command_timeout = milliseconds(5000);
  const auto begin = std::chrono::steady_clock::now();
  ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kUnavailable,
              "TLS cannot be started: no answer in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000));
}
#endif

TEST(RedisHostileServerTest, NoServerListens) {
  int port = 0;
  {
    FakeServer server([](const Words&) { return Answer(); });
    port = server.port();
  }
  ServerOptions options;
  options.url = "redis://127.0.0.1:" + std::to_string(port);
  options.retry_for = milliseconds(200);
  ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kUnavailable, "connect");
}

}  // namespace tamis::redis::hostile_server_test
