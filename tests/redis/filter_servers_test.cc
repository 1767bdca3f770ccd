// A filter on a single server and on a cluster, with the same tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/filter/layout.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::filter_servers_test {

bool SameBlocks(const SplitBlockBloomFilter& a, const SplitBlockBloomFilter& b) {
  const auto x = a.payload(), y = b.payload();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size()) == 0;
}

class RedisFilterTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { TAMIS_NEED(servers()); }
  Servers& servers() {
    return std::string(GetParam()) == "cluster" ? Servers::Cluster() : Servers::Single();
  }
  SplitBlockFilter Create(const FilterOptions& options, const ClientOptions& client = {}) {
    name_ = NewName();
    return SplitBlockFilter::Create(servers().options(), name_, {options}, client);
  }
  SplitBlockFilter OpenIt(const ClientOptions& client = {}) {
    return SplitBlockFilter::Open(servers().options(), name_, client);
  }

  std::string name_;
};

TEST_P(RedisFilterTest, OneKeyInOneBlock) {
  SplitBlockFilter filter = Create({.bytes = 32});
  EXPECT_EQ(filter.num_blocks(), 1u);
  EXPECT_FALSE(filter.Contains(uint64_t{7}));
  filter.Insert(uint64_t{7});
  EXPECT_TRUE(filter.Contains(uint64_t{7}));
  EXPECT_FALSE(filter.Contains("seven"));
  filter.Insert("seven");
  EXPECT_TRUE(filter.Contains("seven"));
  EXPECT_TRUE(OpenIt().Contains("seven"));
  filter.Drop();
  EXPECT_TRUE(KeysLike(servers(), "*" + name_ + "*").empty());
}

// The result does not depend on how the keys were inserted.
TEST_P(RedisFilterTest, PullIsTheLocalFilterBitForBit) {
  const FilterOptions options = {.capacity = 400'000, .fpr = 0.01, .hash = {HashKind::kXxh64, 3}};
  const std::vector<uint64_t> keys = RandomKeys(60'000, 1);
  const std::vector<std::string> strings = RandomStrings(20'000, 2);
  SplitBlockBloomFilter local(options);
  local.Insert(keys);
  local.Insert(strings);

  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter filter = Create(options, {.route = route});
    EXPECT_EQ(filter.Insert(keys), keys.size());
    EXPECT_EQ(filter.Insert(strings), strings.size());
    const SplitBlockBloomFilter pulled = filter.Pull();
    EXPECT_TRUE(SameBlocks(pulled, local));
    EXPECT_EQ(pulled.hash(), local.hash());
    EXPECT_EQ(pulled.capacity(), local.capacity());
    filter.Drop();
  }
  SplitBlockFilter pushed = Create(options);
  pushed.Push(local);
  EXPECT_TRUE(SameBlocks(pushed.Pull(), local));
  pushed.Push(local);  // the union equals the filter
  EXPECT_TRUE(SameBlocks(pushed.Pull(), local));
  EXPECT_TRUE(KeysLike(servers(), "*delta*" + name_).empty());
}

TEST_P(RedisFilterTest, AnswersInAllFormsEqualTheLocalFilters) {
  const FilterOptions options = {.capacity = 50'000, .fpr = 0.05};
  const std::vector<uint64_t> known = RandomKeys(50'000, 1);
  SplitBlockBloomFilter local(options);
  local.Insert(known);
  Create(options).Push(local);

  std::vector<uint64_t> asked = RandomKeys(5'000, 9);
  asked.insert(asked.end(), known.begin(), known.begin() + 5'000);
  asked.push_back(asked[0]);
  const size_t n = asked.size();
  std::vector<uint8_t> validity((n + 7) / 8, 0x5F);
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter filter = OpenIt({.route = route});
    for (const Keys& keys : {Keys(asked), Keys(asked).WithValidity(validity.data())}) {
      std::vector<uint64_t> want(BitmapWords(n)), got(BitmapWords(n) + 1, 0xEE);
      const size_t hits = local.Contains(keys, Bitmap(want));
      EXPECT_EQ(filter.Contains(keys, Bitmap(got)), hits);
      EXPECT_EQ(got.back(), 0xEEu);
      got.pop_back();
      EXPECT_EQ(got, want);
      EXPECT_EQ(filter.Count(keys), hits);
      std::vector<uint8_t> want_bytes(n), got_bytes(n, 0xEE);
      local.Contains(keys, want_bytes);
      EXPECT_EQ(filter.Contains(keys, std::span(got_bytes)), hits);
      EXPECT_EQ(got_bytes, want_bytes);
      std::vector<uint32_t> want_rows(n), got_rows(n);
      want_rows.resize(local.Select(keys, want_rows));
      got_rows.resize(filter.Select(keys, std::span(got_rows)));
      EXPECT_EQ(got_rows, want_rows);
      std::vector<uint64_t> long_rows(n);
      long_rows.resize(filter.Select(keys, std::span(long_rows)));
      EXPECT_TRUE(
          std::equal(long_rows.begin(), long_rows.end(), want_rows.begin(), want_rows.end()));
    }
  }
}

TEST_P(RedisFilterTest, AnswersForAnyNumberOfKeysEqualTheLocalFilters) {
  const FilterOptions options = {.capacity = 2'000'000, .fpr = 0.2};
  const std::vector<uint64_t> known = RandomKeys(1'000'000, 1);
  SplitBlockBloomFilter local(options);
  local.Insert(known);
  SplitBlockFilter filter = Create(options);
  filter.Push(local);
  Random random(4);
  for (const size_t n : {1, 2, 31, 32, 33, 40, 60, 64, 65, 100, 1000, 5000}) {
    std::vector<uint64_t> asked(n);
    for (uint64_t& key : asked) key = random.Below(2) == 0 ? random() : known[random.Below(1'000)];
    std::vector<uint64_t> want(BitmapWords(n)), got(BitmapWords(n));
    for (const Route route : {Route::kBlocks, Route::kSegments}) {
      SplitBlockFilter open = OpenIt({.route = route});
      EXPECT_EQ(open.Contains(asked, Bitmap(got)), local.Contains(asked, Bitmap(want))) << n;
      EXPECT_EQ(got, want) << n;
    }
  }
  filter.Drop();
}

TEST_P(RedisFilterTest, EveryFormOfKeys) {
  const FilterOptions options = {.capacity = 1'000, .fpr = 0.001};
  const std::vector<int32_t> numbers = {-1, 2, 3};
  const std::vector<uint32_t> unsigned_numbers = {4'000'000'000u};
  const std::vector<std::string_view> views = {"x", ""};
  const std::string bytes = "onetwothree";
  const std::vector<int32_t> offsets = {0, 3, 6, 11};
  const std::vector<int64_t> large_offsets = {0, 3, 6};
  const std::vector<uint64_t> hashes = {1, 2, uint64_t{3} << 40};
  const char fixed[] = "abcdefgh";
  const Keys forms[] = {
      Keys(numbers),
      Keys(unsigned_numbers),
      Keys(views),
      Keys(StringColumn{bytes.data(), offsets}),
      Keys(LargeStringColumn{bytes.data(), large_offsets}),
      Keys(Hashes{hashes}),
      Keys(FixedColumn{fixed, 4, 2, KeyType::kInt32}),
  };
  SplitBlockBloomFilter local(options);
  SplitBlockFilter filter = Create(options);
  for (const Keys& keys : forms) {
    local.Insert(keys);
    EXPECT_EQ(filter.Insert(keys), keys.size());
    EXPECT_EQ(filter.Count(keys), keys.size());
  }
  EXPECT_TRUE(SameBlocks(filter.Pull(), local));
}

TEST_P(RedisFilterTest, NothingIsAskedForNothing) {
  SplitBlockFilter filter = Create({.capacity = 1'000});
  const std::vector<uint64_t> none;
  EXPECT_EQ(filter.Count(none), 0u);
  EXPECT_EQ(filter.Insert(none), 0u);
  EXPECT_EQ(filter.Contains(none, Bitmap({})), 0u);
  const std::vector<uint64_t> nulls = {1, 2};
  const uint8_t invalid[] = {0};
  EXPECT_EQ(filter.Insert(Keys(nulls).WithValidity(invalid)), 0u);
  EXPECT_EQ(filter.Count(Keys(nulls).WithValidity(invalid)), 0u);
}

TEST_P(RedisFilterTest, OutputsThatAreTooSmallAreRefused) {
  SplitBlockFilter filter = Create({.capacity = 1'000});
  const std::vector<uint64_t> keys = {1, 2, 3};
  std::vector<uint8_t> bytes(2);
  std::vector<uint32_t> rows(2);
  const auto act = [&](auto call) {
    ExpectError(call, ErrorCode::kInvalidArgument, "the output has");
  };
  act([&] { filter.Contains(keys, Bitmap({})); });
  act([&] { filter.Contains(keys, std::span(bytes)); });
  act([&] { filter.Select(keys, std::span(rows)); });
}

// 8 clients insert at once, half of them by segments.
TEST_P(RedisFilterTest, NoBitOfEightClientsIsLost) {
  const FilterOptions options = {.capacity = 1'000'000, .fpr = 0.01};
  constexpr size_t kClients = 8;
  constexpr size_t kKeys = 1'000'000;
  const std::vector<uint64_t> keys = RandomKeys(kKeys, 5);
  SplitBlockBloomFilter local(options);
  local.Insert(keys);
  SplitBlockFilter filter = Create(options);
  std::vector<std::thread> clients;
  for (size_t c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      SplitBlockFilter mine = OpenIt({.route = c % 2 == 0 ? Route::kBlocks : Route::kSegments});
      const std::span all(keys);
      const size_t part = kKeys / kClients;
      const size_t calls = c % 2 == 0 ? 50 : 5;
      for (size_t i = 0; i < calls; ++i) {
        mine.Insert(all.subspan(c * part + i * part / calls, part / calls));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(filter.Count(keys), kKeys);
  EXPECT_TRUE(SameBlocks(filter.Pull(), local));
}

TEST_P(RedisFilterTest, TheRouteFollowsThePlan) {
  SplitBlockFilter filter = Create({.capacity = 400'000});
  EXPECT_EQ(filter.PlanRoute(Operation::kInsert, 10).route, Route::kBlocks);
  EXPECT_EQ(filter.PlanRoute(Operation::kInsert, 400'000).route, Route::kSegments);
  EXPECT_FALSE(filter.PlanRoute(Operation::kContains, 10).reason.empty());
  const std::vector<uint64_t> keys = RandomKeys(400'000, 3);
  filter.Insert(keys);
  EXPECT_EQ(filter.Count(keys), keys.size());
}

TEST_P(RedisFilterTest, KeyedHashesNeedTheirSecret) {
  const HashSpec hash = RandomKeyedHash();
  SplitBlockFilter filter = Create({.capacity = 1'000, .hash = hash});
  filter.Insert("x");
  EXPECT_TRUE(OpenIt({.secret = hash.secret}).Contains("x"));
  ExpectError([&] { OpenIt(); }, ErrorCode::kSecret, "requires a secret");
  ExpectError([&] { OpenIt({.secret = HashSecret{1, 2}}); }, ErrorCode::kSecret, "differs from");
  Create({.capacity = 1'000});
  ExpectError([&] { OpenIt({.secret = hash.secret}); }, ErrorCode::kSecret, "has no secret");
}

TEST_P(RedisFilterTest, AnotherGeometryOrHashIsAnError) {
  const FilterOptions options = {.capacity = 1'000, .hash = {HashKind::kXxh3, 5}};
  Create(options);
  const auto open = [&](const FilterOptions& expected) {
    return SplitBlockFilter::Open(servers().options(), name_, expected);
  };
  EXPECT_EQ(open(options).capacity(), 1'000u);
  ExpectError([&] { open({.capacity = 2'000, .hash = options.hash}); }, ErrorCode::kIncompatible,
              "blocks");
  ExpectError([&] { open({.capacity = 1'000}); }, ErrorCode::kIncompatible, "hash");
  ExpectError(
      [&] {
        open({.capacity = 1'000, .hash = {HashKind::kXxh64, 5}});
      },
      ErrorCode::kIncompatible, "hash");
  ExpectError([&] { open({.capacity = 1'000, .hash = RandomKeyedHash()}); },
              ErrorCode::kIncompatible, "hash");
  SplitBlockFilter filter = OpenIt();
  ExpectError([&] { filter.Push(SplitBlockBloomFilter({.capacity = 1'000})); },
              ErrorCode::kIncompatible, "equal");
}

TEST_P(RedisFilterTest, NamesAreTakenOnce) {
  SplitBlockFilter filter = Create({.capacity = 1'000});
  filter.Insert("x");
  ExpectError([&] { SplitBlockFilter::Create(servers().options(), name_, {{.capacity = 5'000}}); },
              ErrorCode::kInvalidArgument, "already");
  EXPECT_TRUE(filter.Contains("x"));
  filter.Drop();
  ExpectError([&] { OpenIt(); }, ErrorCode::kInvalidArgument, "does not exist");
  SplitBlockFilter again =
      SplitBlockFilter::Create(servers().options(), name_, {{.capacity = 1'000}});
  EXPECT_FALSE(again.Contains("x"));
  // The new filter does not answer for the old one.
  EXPECT_THROW(filter.Contains("x"), UnansweredError);
  filter.Drop();
  EXPECT_FALSE(again.Contains("x"));
}

TEST_P(RedisFilterTest, ClientsThatMakeTheSameNameMakeOneFilter) {
  name_ = NewName();
  std::atomic<int> made = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      try {
        SplitBlockFilter::Create(servers().options(), name_, {{.capacity = 100'000}});
        ++made;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(made, 1);
  const Info info = OpenIt().GetInfo();
  EXPECT_EQ(info.bad_segments, 0u);
  // Only segments and the descriptor. The clients that failed have left nothing.
  EXPECT_EQ(KeysLike(servers(), "*" + name_ + "*").size(), info.segments + 1);
}

TEST_P(RedisFilterTest, DescriptorsOfOthersAreErrors) {
  Create({.capacity = 1'000});
  const std::string key = DescriptorKey(name_);
  std::string text = SayToOwner(servers(), key, {"GET", key});
  const auto put = [&](const std::string& value) {
    SayToOwner(servers(), key, {"SET", key, value});
  };
  put("tamis-redis 2\n");
  ExpectError([&] { OpenIt(); }, ErrorCode::kUnsupported, name_);
  put(text + "x");
  ExpectError([&] { OpenIt(); }, ErrorCode::kCorrupt, name_);
  put("");
  ExpectError([&] { OpenIt(); }, ErrorCode::kCorrupt, name_);
  put(std::string(100'000, 'x'));
  EXPECT_THROW(OpenIt(), Error);
  SayToOwner(servers(), key, {"DEL", key});
  SayToOwner(servers(), key, {"HSET", key, "a", "b"});
  ExpectError([&] { OpenIt(); }, ErrorCode::kCorrupt, "WRONGTYPE");
}

TEST_P(RedisFilterTest, SizesOutOfRangeAreErrors) {
  const auto create = [&](const FilterOptions& options) {
    SplitBlockFilter::Create(servers().options(), NewName(), {options});
  };
  for (const FilterOptions& options :
       {FilterOptions{}, FilterOptions{.capacity = 1, .fpr = 0.7}, FilterOptions{.bytes = 31},
        FilterOptions{.bytes = uint64_t{1} << 40}, FilterOptions{.capacity = uint64_t{1} << 60},
        FilterOptions{.capacity = 1, .fpr = 1, .bytes = 64},
        FilterOptions{.capacity = 1, .hash = {static_cast<HashKind>(9), 0}},
        FilterOptions{.capacity = 1, .hash = {HashKind::kSipHash13, 1}}}) {
    ExpectError([&] { create(options); }, ErrorCode::kInvalidArgument, "");
  }
  for (const std::string& name : {std::string(), std::string("{a}"), std::string(512 << 20, 'x')}) {
    ExpectError([&] { SplitBlockFilter::Create(servers().options(), name, {{.capacity = 1}}); },
                ErrorCode::kInvalidArgument, "name");
    ExpectError([&] { SplitBlockFilter::Open(servers().options(), name); },
                ErrorCode::kInvalidArgument, "name");
  }
}

TEST_P(RedisFilterTest, MovedFromIsAnError) {
  SplitBlockFilter filter = Create({.capacity = 1'000});
  SplitBlockFilter other = std::move(filter);
  other.Insert("x");
  const auto act = [](auto call) { ExpectError(call, ErrorCode::kInvalidArgument, "moved from"); };
  act([&] { filter.Contains("x"); });
  act([&] { filter.Insert("x"); });
  act([&] { filter.Pull(); });
  act([&] { filter.Drop(); });
  act([&] { filter.GetInfo(); });
  act([&] { filter.name(); });
  act([&] { filter.PlanRoute(Operation::kInsert, 1); });
  filter = std::move(other);
  EXPECT_TRUE(filter.Contains("x"));
}

INSTANTIATE_TEST_SUITE_P(All, RedisFilterTest, testing::Values("single", "cluster"),
                         [](const auto& test) { return std::string(test.param); });

// On three masters.
TEST(RedisClusterTest, MemoryOfTheServersEqualsTheFilters) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(servers.options(), NewName(), {{.capacity = 100'000'000}});
  const Info info = filter.GetInfo();
  EXPECT_EQ(info.bad_segments, 0u) << info.problem;
  EXPECT_GT(info.server_bytes, info.bytes);
  EXPECT_LE(static_cast<double>(info.server_bytes), 1.05 * static_cast<double>(info.bytes));
  ASSERT_EQ(info.nodes.size(), 3u);
  for (const Info::Node& node : info.nodes) {
    EXPECT_NEAR(static_cast<double>(node.segments), static_cast<double>(info.segments) / 3,
                0.05 * static_cast<double>(info.segments) / 3);
  }
  filter.Drop();
}

}  // namespace tamis::redis::filter_servers_test
