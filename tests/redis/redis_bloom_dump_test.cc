// Filters of RedisBloom read from a fake server: their dumps, filters that change during the read,
// and invalid answers.
#include "tamis/redis/redis_bloom_dump.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tests/core/file_test_util.h"
#include "tests/formats/redis_test_recipes.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/redis_test_util.h"

namespace tamis::redis::redis_bloom_dump_test {

using std::chrono::milliseconds;
using Words = FakeServer::Words;
using Answer = std::optional<std::string>;
using Chunks = std::vector<RedisChunk>;

constexpr char kBloomType[] = "+MBbloom--\r\n";
constexpr char kCuckooType[] = "+MBbloomCF\r\n";

ServerOptions Options(const FakeServer& server) {
  ServerOptions options;
  options.url = server.url();
  options.retry_for = milliseconds(300);
  return options;
}

std::string ScanReply(int64_t iterator, std::span<const std::byte> bytes) {
  return "*2\r\n:" + std::to_string(iterator) + "\r\n" +
         Bulk(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// Returns the module's reply. A cuckoo filter without keys has no chunks.
std::string ScanReply(const Chunks& chunks, const std::string& iterator) {
  if (chunks.empty()) return "*2\r\n:0\r\n$-1\r\n";
  if (iterator == "0") return ScanReply(1, chunks[0].bytes);
  for (size_t i = 1; i < chunks.size(); ++i) {
    if (std::to_string(chunks[i - 1].iterator) == iterator) {
      return ScanReply(chunks[i].iterator, chunks[i].bytes);
    }
  }
  return ScanReply(0, {});
}

// A server with a filter under the key "users". `scan` answers the n-th SCANDUMP, which has this
// iterator.
using Scan = std::function<Answer(int n, const std::string& iterator)>;
FakeServer::Handler Module(const char* type, Scan scan) {
  struct State {
    std::mutex mutex;
    int scans = 0;
  };
  auto state = std::make_shared<State>();
  return [type, scan = std::move(scan), state](const Words& words) -> Answer {
    const std::lock_guard lock(state->mutex);
    if (words[0] == "CLUSTER") return AnswerOfSingle(words);
    EXPECT_EQ(words.at(1), "users");
    if (words[0] == "TYPE") return type;
    EXPECT_EQ(words[0], std::string_view(type) == kBloomType ? "BF.SCANDUMP" : "CF.SCANDUMP");
    return scan(state->scans++, words.at(2));
  };
}

std::string Golden(const char* name) {
  const Bytes bytes = ReadBytes(std::filesystem::path(TAMIS_GOLDEN_DIR) / "redis_bloom" /
                                (name + std::string(".dump")));
  return {bytes.begin(), bytes.end()};
}

std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Filter>
Chunks GoldenChunks(const char* name) {
  const std::string golden = Golden(name);
  return Filter::FromBytes(std::as_bytes(std::span(golden))).ToChunks();
}

TEST(RedisBloomDumpTest, GivesTheGoldenFiles) {
  const auto expect = [](const char* name, const char* type, const char* format,
                         const Chunks& chunks) {
    SCOPED_TRACE(name);
    const FakeServer server(Module(
        type, [&](int, const std::string& iterator) { return ScanReply(chunks, iterator); }));
    const RedisBloomDump dump = DumpRedisBloom(Options(server), "users");
    EXPECT_EQ(Text(dump.bytes), Golden(name));
    EXPECT_STREQ(dump.format, format);
    EXPECT_FALSE(dump.grew);
    EXPECT_EQ(ForeignFilter::FromBytes(dump.bytes, dump.format).ToBytes(), dump.bytes);
  };
  for (const RedisBloomRecipe& recipe : kRedisBloomRecipes) {
    expect(recipe.name, kBloomType, "redisbloom", GoldenChunks<RedisBloomFilter>(recipe.name));
  }
  for (const RedisCuckooRecipe& recipe : kRedisCuckooRecipes) {
    if (recipe.inserted == recipe.erased) continue;
    expect(recipe.name, kCuckooType, "redisbloom-cf", GoldenChunks<RedisCuckooFilter>(recipe.name));
  }
}

TEST(RedisBloomDumpTest, ChunksOf16MiB) {
  RedisBloomFilter filter({.capacity = 20'000'000, .error_rate = 0.001, .non_scaling = true});
  ASSERT_GT(filter.bytes(), 32u << 20);
  const std::vector<std::string> keys = RedisTestKeys(0, 1'000);
  filter.Insert(keys);
  const Chunks chunks = filter.ToChunks();
  ASSERT_EQ(chunks[1].bytes.size(), 16u << 20);
  const FakeServer server(Module(
      kBloomType, [&](int, const std::string& iterator) { return ScanReply(chunks, iterator); }));
  EXPECT_EQ(DumpRedisBloom(Options(server), "users").bytes, filter.ToBytes());
  EXPECT_EQ(DumpRedisBloom(Options(server), "users", {.max_bytes = filter.bytes()}).bytes.size(),
            filter.serialized_bytes());
  ExpectError([&] { DumpRedisBloom(Options(server), "users", {.max_bytes = filter.bytes() - 1}); },
              ErrorCode::kOutOfMemory, "more than the");
}

// During the read, keys are inserted, and the filter adds links.
TEST(RedisBloomDumpTest, ABloomFilterThatGrowsHasTheKeysFromBefore) {
  RedisBloomFilter filter({.capacity = 40, .expansion = 1});
  const std::vector<std::string> before = RedisTestKeys(0, 400);
  filter.Insert(before);
  uint64_t next = 400;
  const FakeServer server(Module(kBloomType, [&](int, const std::string& iterator) {
    std::string reply = ScanReply(filter.ToChunks(), iterator);
    filter.Insert(RedisTestKeys(next, next + 30));
    next += 30;
    return reply;
  }));
  const RedisBloomDump dump = DumpRedisBloom(Options(server), "users");
  EXPECT_TRUE(dump.grew);
  const RedisBloomFilter read = RedisBloomFilter::FromBytes(dump.bytes);
  EXPECT_EQ(read.Count(before), before.size());
  EXPECT_LT(read.num_links(), filter.num_links());
}

TEST(RedisBloomDumpTest, AnotherFilterUnderTheSameKeyIsReadAgain) {
  const Chunks first = GoldenChunks<RedisBloomFilter>("bf_growing");
  // Filters with other links, and with fewer keys in the same links.
  RedisBloomFilter emptied = RedisBloomFilter::FromChunks(first);
  emptied.Clear();
  for (const Chunks& second : {GoldenChunks<RedisBloomFilter>("bf_same_size"), emptied.ToChunks(),
                               GoldenChunks<RedisBloomFilter>("bf_default")}) {
    for (int at = 1; at <= 4; ++at) {
      const FakeServer server(Module(kBloomType, [&](int n, const std::string& iterator) {
        return ScanReply(n < at ? first : second, iterator);
      }));
      const RedisBloomDump dump = DumpRedisBloom(Options(server), "users");
      EXPECT_FALSE(dump.grew);
      EXPECT_EQ(dump.bytes, RedisBloomFilter::FromChunks(second).ToBytes()) << at;
    }
  }
  // Each read finds a different filter under the key.
  const Chunks second = GoldenChunks<RedisBloomFilter>("bf_same_size");
  int scans = 0;
  const FakeServer server(Module(kBloomType, [&](int, const std::string& iterator) {
    if (iterator == "0") ++scans;
    return ScanReply(scans % 2 == 0 ? first : second, iterator);
  }));
  ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, ErrorCode::kUnavailable,
              "the filter changed during each of 5 reads");
}

// One key is erased and another one inserted: the header changes only in its count of erased keys,
// but other bytes change.
TEST(RedisBloomDumpTest, ACuckooFilterIsReadUntilItStaysTheSame) {
  const Chunks start = GoldenChunks<RedisCuckooFilter>("cf_growing");
  for (const int changes : {1, 5, 9}) {
    RedisCuckooFilter filter = RedisCuckooFilter::FromChunks(start);
    const FakeServer server(Module(kCuckooType, [&](int n, const std::string& iterator) {
      std::string reply = ScanReply(filter.ToChunks(), iterator);
      if (n < changes) {
        filter.Erase(RedisTestKey(static_cast<uint64_t>(n)));
        filter.Insert(RedisTestKey(static_cast<uint64_t>(1'000 + n)));
      }
      return reply;
    }));
    const RedisBloomDump dump = DumpRedisBloom(Options(server), "users");
    EXPECT_EQ(dump.bytes, filter.ToBytes()) << changes;
    EXPECT_FALSE(dump.grew);
  }
  RedisCuckooFilter filter = RedisCuckooFilter::FromChunks(start);
  const FakeServer server(Module(kCuckooType, [&](int n, const std::string& iterator) {
    std::string reply = ScanReply(filter.ToChunks(), iterator);
    filter.Erase(RedisTestKey(static_cast<uint64_t>(n)));
    filter.Insert(RedisTestKey(static_cast<uint64_t>(1'000 + n)));
    return reply;
  }));
  ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, ErrorCode::kUnavailable,
              "during each of 5 reads");
}

TEST(RedisBloomDumpTest, OfAFilterWithoutKeys) {
  const Chunks chunks = GoldenChunks<RedisCuckooFilter>("cf_growing");
  for (const int left : {0, 1, 2, 5}) {
    const FakeServer server(Module(kCuckooType, [&](int n, const std::string& iterator) {
      return ScanReply(n < left ? chunks : Chunks(), iterator);
    }));
    ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, ErrorCode::kUnsupported,
                "without keys");
  }
}

TEST(RedisBloomDumpTest, KeysThatAreNotAFilter) {
  const auto expect = [](const std::string& type, ErrorCode code, const std::string& words) {
    const FakeServer server([&](const Words& command) -> Answer {
      if (command[0] == "CLUSTER") return AnswerOfSingle(command);
      EXPECT_EQ(command[0], "TYPE");
      return type;
    });
    ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, code, words);
  };
  expect("+none\r\n", ErrorCode::kUnavailable, "the key \"users\": it does not exist");
  expect("+list\r\n", ErrorCode::kUnsupported, "has the type \"list\"");
  expect("+CMSk-TYPE\r\n", ErrorCode::kUnsupported, "CMSk-TYPE");
  expect("-NOPERM no permissions\r\n", ErrorCode::kUnavailable, "NOPERM");
  expect(":1\r\n", ErrorCode::kCorrupt, "the number 1");
  expect("$9\r\nMBbloom--\r\n", ErrorCode::kCorrupt, "a string of 9 bytes");
  expect("+" + std::string(100'000, 'x') + "\r\n", ErrorCode::kUnavailable, "larger");
}

// Expects this error if the server always gives this answer to the `at`-th SCANDUMP of a dump.
void ExpectRefused(int at, const std::string& answer, ErrorCode code, const std::string& words) {
  SCOPED_TRACE(answer.substr(0, 60));
  const Chunks chunks = GoldenChunks<RedisBloomFilter>("bf_growing");
  const std::string iterator =
      at == 0 ? "0" : std::to_string(chunks[static_cast<size_t>(at) - 1].iterator);
  const FakeServer server(Module(kBloomType, [&](int, const std::string& asked) -> Answer {
    return asked == iterator ? answer : ScanReply(chunks, asked);
  }));
  const auto begin = std::chrono::steady_clock::now();
  ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, code, words);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(RedisBloomDumpTest, AnswersThatAreNotChunks) {
  for (const int at : {0, 1, 2}) {
    const auto corrupt = [&](const std::string& answer, const std::string& words) {
      ExpectRefused(at, answer, ErrorCode::kCorrupt, words);
    };
    corrupt("+OK\r\n", "the status OK");
    corrupt("*0\r\n", "an array of 0");
    corrupt("*3\r\n:1\r\n$1\r\nx\r\n:1\r\n", "an array of 3");
    corrupt("*2\r\n$1\r\n1\r\n$1\r\nx\r\n", "a string of 1");
    corrupt("*2\r\n:-1\r\n$1\r\nx\r\n", "the number -1");
    corrupt("*2\r\n:1\r\n:1\r\n", "a number and bytes, but the number 1");
    corrupt("*2\r\n:1\r\n*1\r\n:1\r\n", "an array of 1");
    ExpectRefused(at, "-ERR unknown command 'BF.SCANDUMP'\r\n", ErrorCode::kUnsupported,
                  "the server does not have RedisBloom");
    ExpectRefused(at, "-ERR not found\r\n", ErrorCode::kUnavailable, "not found");
    ExpectRefused(at, "-NOPERM no\r\n", ErrorCode::kUnavailable, "NOPERM");
    ExpectRefused(at, "-WRONGTYPE no\r\n", ErrorCode::kCorrupt, "WRONGTYPE");
    ExpectRefused(at, "-LOADING soon\r\n", ErrorCode::kUnavailable, "LOADING");
    // Larger than any chunk, whether all of it is sent or not.
    const std::string large((size_t{16} << 20) + 8192, 'x');
    ExpectRefused(at, "*2\r\n:1\r\n" + Bulk(large), ErrorCode::kUnavailable, "larger than");
    ExpectRefused(at, "*2\r\n:1\r\n$99999999999\r\n" + large + large.substr(0, 2 << 20),
                  ErrorCode::kUnavailable, "larger than");
    ExpectRefused(at, "*1000000\r\n:1\r\n", ErrorCode::kUnavailable, "larger than");
  }
}

TEST(RedisBloomDumpTest, ChunksThatDoNotFit) {
  const Chunks chunks = GoldenChunks<RedisBloomFilter>("bf_growing");
  const size_t link = chunks[1].bytes.size();
  const std::string all(link, 'x'), part(link - 1, 'x'), more(link + 1, 'x');
  const auto corrupt = [](int at, int64_t iterator, const std::string& bytes,
                          const std::string& words) {
    ExpectRefused(at, ScanReply(iterator, std::as_bytes(std::span(bytes))), ErrorCode::kCorrupt,
                  words);
  };
  const auto end = static_cast<int64_t>(1 + link);
  corrupt(1, 0, "", "its dump ends after 0 bytes");
  corrupt(2, 0, "", "its dump ends after " + std::to_string(link));
  corrupt(1, end, "", "a chunk of 0 bytes");
  corrupt(1, end - 1, part, "a chunk of " + std::to_string(link - 1));  // and this would never end
  corrupt(1, 1 + end, more, "a chunk of " + std::to_string(link + 1));
  // Iterators that stay the same, go back or go too far.
  for (const int64_t iterator : {int64_t{1}, int64_t{0}, end - 1, end + 1, INT64_MAX}) {
    corrupt(1, iterator, all, "has the iterator " + std::to_string(iterator));
  }
  const std::string header = Text(chunks[0].bytes);
  corrupt(0, 2, header, "begins with the iterator 2");
  corrupt(0, 0, "", "begins with the iterator 0");
  corrupt(0, 1, "", "chunk length");
  corrupt(0, 1, header.substr(1), "header length");
  std::string damaged = header;
  damaged[0] = static_cast<char>(damaged[0] + 1);
  corrupt(0, 1, damaged, "the key \"users\": memory: size");
}

TEST(RedisBloomDumpTest, NothingIsReadOfAFilterThatSaysItIsTooLarge) {
  Chunks chunks = GoldenChunks<RedisBloomFilter>("bf_default");
  const uint64_t bytes = uint64_t{1} << 50, bits = 8 * bytes;
  std::memcpy(&chunks[0].bytes[20], &bytes, 8);
  std::memcpy(&chunks[0].bytes[28], &bits, 8);
  const FakeServer server(Module(kBloomType, [&](int, const std::string& iterator) {
    EXPECT_EQ(iterator, "0");
    return ScanReply(chunks, iterator);
  }));
  ExpectError([&] { DumpRedisBloom(Options(server), "users"); }, ErrorCode::kOutOfMemory,
              "more than the 4.00 GiB that are allowed");
  // A stated size below the caller's limit causes no allocation either.
  chunks.resize(1);
  const FakeServer other(Module(
      kBloomType, [&](int, const std::string& iterator) { return ScanReply(chunks, iterator); }));
  ExpectError([&] { DumpRedisBloom(Options(other), "users", {.max_bytes = bytes}); },
              ErrorCode::kCorrupt, "its dump ends after 0 bytes");
}

TEST(RedisBloomDumpTest, BrokenConnectionsAreMadeAgain) {
  const Chunks chunks = GoldenChunks<RedisBloomFilter>("bf_growing");
  int broken = 0;
  const FakeServer server(Module(kBloomType, [&](int n, const std::string& iterator) -> Answer {
    if (n % 2 == 0 && ++broken > 0) return {};
    return ScanReply(chunks, iterator);
  }));
  EXPECT_EQ(Text(DumpRedisBloom(Options(server), "users").bytes), Golden("bf_growing"));
  EXPECT_GT(broken, 3);
}

}  // namespace tamis::redis::redis_bloom_dump_test
