// Filters on servers in C: the same keys, answers and bits as in C++, and the keys of calls that
// fail for some of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "redis/src/descriptor.h"
#include "redis/src/layout.h"
#include "tests/c/key_sets.h"
#include "tests/c/pointer_checks.h"
#include "tests/c/redis/redis_c_test_util.h"

namespace tamis::redis::filter_servers_test {

class RedisCTest : public testing::Test {
 protected:
  void SetUp() override { TAMIS_NEED(servers_); }

  Servers& servers_ = Servers::Cluster();
  const CClient client_{servers_};
  const std::string name_ = NewName();
};

// All that can be asked, by functions of one of the two kinds of handles.
template <typename Handle, typename Bits, typename Bytes, typename Rows32, typename Rows64,
          typename Count>
void ExpectAnswers(Handle* c, const tamis_keys& keys, const std::vector<uint64_t>& wanted,
                   Bits contains_bitmap, Bytes contains_bytes, Rows32 select32, Rows64 select64,
                   Count count) {
  const size_t n = keys.count;
  uint64_t ones = 0;
  for (const uint64_t word : wanted) ones += static_cast<uint64_t>(std::popcount(word));
  uint64_t hits = 99;
  std::vector<uint64_t> bits(wanted.size() + 1, 99);
  ASSERT_EQ(contains_bitmap(c, &keys, bits.data(), bits.size(), &hits), TAMIS_OK)
      << tamis_last_error();
  EXPECT_EQ(hits, ones);
  EXPECT_EQ(bits.back(), 99u);
  bits.pop_back();
  EXPECT_EQ(bits, wanted);
  std::vector<uint8_t> bytes(n + 1, 99);
  ASSERT_EQ(contains_bytes(c, &keys, bytes.data(), n, &hits), TAMIS_OK);
  EXPECT_EQ(hits, ones);
  EXPECT_EQ(bytes[n], 99);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(bytes[i], wanted[i / 64] >> (i % 64) & 1) << i;
  std::vector<uint32_t> rows32(n);
  std::vector<uint64_t> rows64(n);
  ASSERT_EQ(select32(c, &keys, rows32.data(), n, &hits), TAMIS_OK);
  ASSERT_EQ(hits, ones);
  ASSERT_EQ(select64(c, &keys, rows64.data(), n, &hits), TAMIS_OK);
  ASSERT_EQ(hits, ones);
  for (size_t i = 0; i < ones; ++i) {
    ASSERT_EQ(rows32[i], rows64[i]);
    ASSERT_EQ(bytes[rows64[i]], 1);
    ASSERT_TRUE(i == 0 || rows64[i - 1] < rows64[i]) << i;
  }
  ASSERT_EQ(count(c, &keys, &hits), TAMIS_OK);
  EXPECT_EQ(hits, ones);
}

// On both sides of the runs in which keys of some forms are converted elsewhere.
TEST_F(RedisCTest, KeysOfEveryForm) {
  for (const auto& [n, offset, nulls] : {std::tuple{size_t{0}, 3u, false},
                                         {size_t{1}, 0u, false},
                                         {size_t{700}, 5u, true},
                                         {size_t{66'000}, 1u, true}}) {
    const KeySets known(n, offset, nulls, 1), others(n, 2 * offset, nulls, 2);
    for (size_t s = 0; s < known.sets().size(); ++s) {
      const KeySets::Set& set = known.sets()[s];
      SCOPED_TRACE(set.name + ", " + std::to_string(n));
      const tamis_hash hash = {TAMIS_HASH_XXH64, 0, 77, 0, 0};
      const std::string name = NewName();
      const CRedisFilter c = CreateC(name, OfBytes(400'000, hash), client_);
      uint64_t inserted = 99;
      ASSERT_EQ(tamis_redis_filter_insert(c.get(), &set.c, &inserted), TAMIS_OK)
          << tamis_last_error();
      EXPECT_EQ(inserted, set.cpp.CountValid());
      SplitBlockFilter cpp = SplitBlockFilter::Open(servers_.options(), name);
      SplitBlockBloomFilter local({.bytes = 400'000, .hash = {HashKind::kXxh64, 77}});
      local.Insert(set.cpp);
      const SplitBlockBloomFilter pulled = cpp.Pull();
      const auto have = pulled.payload(), want = local.payload();
      EXPECT_TRUE(std::equal(have.begin(), have.end(), want.begin(), want.end()));
      for (const KeySets::Set* asked : {&set, &others.sets()[s]}) {
        std::vector<uint64_t> wanted(BitmapWords(n));
        local.Contains(asked->cpp, Bitmap(wanted));
        ExpectAnswers(c.get(), asked->c, wanted, tamis_redis_filter_contains_bitmap,
                      tamis_redis_filter_contains_bytes, tamis_redis_filter_select32,
                      tamis_redis_filter_select64, tamis_redis_filter_count);
      }
      if (s % 5 == 0) {
        tamis_redis_near_copy* made = nullptr;
        ASSERT_EQ(tamis_redis_near_copy_open(name.c_str(), nullptr, &client_.options, &made),
                  TAMIS_OK);
        const CNearCopy copy(made);
        std::vector<uint64_t> wanted(BitmapWords(n));
        local.Contains(others.sets()[s].cpp, Bitmap(wanted));
        ExpectAnswers(copy.get(), others.sets()[s].c, wanted, tamis_redis_near_copy_contains_bitmap,
                      tamis_redis_near_copy_contains_bytes, tamis_redis_near_copy_select32,
                      tamis_redis_near_copy_select64, tamis_redis_near_copy_count);
      }
      cpp.Drop();
    }
  }
}

TEST_F(RedisCTest, OneKey) {
  const CRedisFilter c = CreateC(name_, OfBytes(400'000), client_);
  SplitBlockFilter cpp = SplitBlockFilter::Open(servers_.options(), name_);
  const std::vector<uint64_t> keys = RandomKeys(3, 1);
  const std::string text("a\0b", 3);
  EXPECT_EQ(tamis_redis_filter_contains_u64(c.get(), keys[0]), 0);
  EXPECT_EQ(tamis_redis_filter_insert_u64(c.get(), keys[0]), 1);
  EXPECT_EQ(tamis_redis_filter_contains_u64(c.get(), keys[0]), 1);
  EXPECT_EQ(tamis_redis_filter_insert_string(c.get(), text.data(), text.size()), 1);
  EXPECT_EQ(tamis_redis_filter_contains_string(c.get(), text.data(), text.size()), 1);
  EXPECT_EQ(tamis_redis_filter_contains_string(c.get(), nullptr, 0), 0);
  EXPECT_EQ(tamis_redis_filter_insert_hash(c.get(), HashU64(keys[1])), 1);
  EXPECT_EQ(tamis_redis_filter_contains_hash(c.get(), HashU64(keys[1])), 1);
  EXPECT_TRUE(cpp.Contains(keys[0]) && cpp.Contains(text) && cpp.Contains(keys[1]));
  EXPECT_FALSE(cpp.Contains(keys[2]));
  ExpectStatus(-tamis_redis_filter_contains_string(c.get(), nullptr, 1), TAMIS_INVALID_ARGUMENT,
               "string is NULL");
}

// Segments that are gone: what the others say is written, and the keys of these are named.
TEST_F(RedisCTest, KeysWithoutAnswer) {
  const CRedisFilter c = CreateC(name_, OfBytes(800'000), client_);
  const std::vector<uint64_t> known = RandomKeys(3'000, 4);
  tamis_keys keys = tamis_keys_u64(known.data(), known.size());
  ASSERT_EQ(tamis_redis_filter_insert(c.get(), &keys, nullptr), TAMIS_OK);
  const std::string key = DescriptorKey(name_);
  const Descriptor descriptor = ParseDescriptor(SayToOwner(servers_, key, {"GET", key}));
  const std::string gone = KeyOfSegment(name_, descriptor.layout, descriptor.generation, 1).text;
  std::vector<uint64_t> lost;
  for (size_t i = 0; i < known.size(); ++i) {
    const uint64_t block = split_block::BlockIndex(HashU64(known[i]), descriptor.layout.blocks);
    if (descriptor.layout.SegmentOf(block) == 1) lost.push_back(i);
  }
  ASSERT_FALSE(lost.empty());
  ASSERT_EQ(SayToOwner(servers_, gone, {"DEL", gone}), "1");

  for (const uint32_t route : {TAMIS_REDIS_BLOCKS, TAMIS_REDIS_SEGMENTS}) {
    CClient client = client_;
    client.options.route = route;
    const CRedisFilter failing = OpenC(name_, client);
    tamis_redis_filter* const f = failing.get();
    std::vector<uint64_t> bits(BitmapWords(known.size()));
    uint64_t hits = 0;
    ExpectStatus(tamis_redis_filter_contains_bitmap(f, &keys, bits.data(), bits.size(), &hits),
                 TAMIS_CORRUPT, std::to_string(lost.size()) + " of 3000 keys have no answer");
    EXPECT_EQ(hits, known.size());
    for (size_t i = 0; i < known.size(); ++i) ASSERT_TRUE(Bitmap(bits).Test(i)) << i;
    EXPECT_EQ(UnansweredOf(f), lost);
    std::vector<uint32_t> rows(known.size());
    hits = 0;
    EXPECT_EQ(tamis_redis_filter_select32(f, &keys, rows.data(), rows.size(), &hits),
              TAMIS_CORRUPT);
    ASSERT_EQ(hits, known.size());
    for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], i);
    hits = 0;
    EXPECT_EQ(tamis_redis_filter_count(f, &keys, &hits), TAMIS_CORRUPT);
    EXPECT_EQ(hits, known.size());
    uint64_t inserted = 99;
    ExpectStatus(tamis_redis_filter_insert(f, &keys, &inserted), TAMIS_CORRUPT,
                 "may not have been inserted");
    EXPECT_EQ(inserted, known.size() - lost.size());
    EXPECT_EQ(UnansweredOf(f), lost);
    // With nulls, which are no keys: every other one.
    const std::vector<uint8_t> validity(known.size() / 8 + 1, 0x55);
    tamis_keys half = keys;
    half.validity = validity.data();
    std::vector<uint64_t> lost_half;
    for (const uint64_t i : lost) {
      if (i % 2 == 0) lost_half.push_back(i);
    }
    EXPECT_EQ(tamis_redis_filter_insert(f, &half, &inserted), TAMIS_CORRUPT);
    EXPECT_EQ(UnansweredOf(f), lost_half);
    EXPECT_EQ(inserted, known.size() / 2 - lost_half.size());
    // One key; and a call that has an answer knows nothing of the last one.
    EXPECT_EQ(tamis_redis_filter_contains_u64(f, known[lost[0]]), -TAMIS_CORRUPT);
    EXPECT_EQ(UnansweredOf(f), std::vector<uint64_t>{0});
    EXPECT_EQ(tamis_redis_filter_insert_u64(f, known[lost[0]]), -TAMIS_CORRUPT);
    const uint64_t there = std::find(lost.begin(), lost.end(), 0u) == lost.end() ? 0 : 1;
    EXPECT_EQ(tamis_redis_filter_contains_u64(f, known[there]), 1);
    EXPECT_TRUE(UnansweredOf(f).empty());

    client.options.unavailable = TAMIS_REDIS_MAYBE;
    const CRedisFilter open = OpenC(name_, client);
    EXPECT_EQ(tamis_redis_filter_count(open.get(), &keys, &hits), TAMIS_OK);
    EXPECT_EQ(hits, known.size());
    EXPECT_EQ(tamis_redis_filter_contains_u64(open.get(), known[lost[0]]), 1);
    EXPECT_TRUE(UnansweredOf(open.get()).empty());
    EXPECT_EQ(tamis_redis_filter_insert(open.get(), &keys, nullptr), TAMIS_CORRUPT);
  }

  // More than are converted at a time elsewhere: the indices are those of the call.
  const std::vector<std::string> strings = RandomStrings(70'000, 6);
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  std::vector<const char*> pointers;
  std::vector<uint64_t> lengths;
  for (const std::string& string : strings) {
    pointers.push_back(string.data());
    lengths.push_back(string.size());
  }
  const tamis_keys many = tamis_keys_strings(pointers.data(), lengths.data(), pointers.size());
  uint64_t inserted = 0;
  EXPECT_EQ(tamis_redis_filter_insert(c.get(), &many, &inserted), TAMIS_CORRUPT);
  SplitBlockFilter cpp = SplitBlockFilter::Open(servers_.options(), name_);
  try {
    cpp.Insert(views);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UnansweredError& error) {
    EXPECT_EQ(UnansweredOf(c.get()), error.keys());
    EXPECT_EQ(inserted, views.size() - error.keys().size());
  }

  auto info = TAMIS_INIT(tamis_redis_info);
  ASSERT_EQ(tamis_redis_filter_get_info(c.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.bad_segments, 1u);
  EXPECT_STREQ(info.problem, "segment 1: it is missing, or has a wrong length");
  EXPECT_EQ(info.blocks, descriptor.layout.blocks);
  uint64_t segments = 0;
  for (uint64_t i = 0; i < info.num_nodes; ++i) segments += info.nodes[i].segments;
  EXPECT_EQ(segments, info.segments);
  tamis_filter* local = nullptr;
  ExpectStatus(tamis_redis_filter_pull(c.get(), &local), TAMIS_CORRUPT, "segment 1");
  EXPECT_EQ(local, nullptr);
}

TEST_F(RedisCTest, Durability) {
  const std::vector<uint64_t> known = RandomKeys(500, 1);
  const tamis_keys keys = tamis_keys_u64(known.data(), known.size());
  CClient client = client_;
  client.options.durable_replicas = 1;
  uint64_t inserted = 0;
  const CRedisFilter on_replicas = CreateC(name_, OfBytes(400'000), client);
  EXPECT_EQ(tamis_redis_filter_insert(on_replicas.get(), &keys, &inserted), TAMIS_OK);
  EXPECT_EQ(inserted, 500u);

  CClient without(Servers::Single());
  without.options.durable_replicas = 1;
  without.options.command_timeout_ms = 1'000;
  const CRedisFilter alone = CreateC(name_, OfBytes(400'000), without);
  inserted = 99;
  ExpectStatus(tamis_redis_filter_insert(alone.get(), &keys, &inserted), TAMIS_NOT_DURABLE,
               "may be lost if a master fails");
  EXPECT_EQ(inserted, 0u) << "none of them as it was asked for";
  EXPECT_EQ(UnansweredOf(alone.get()).size(), known.size());
  uint64_t hits = 0;
  EXPECT_EQ(tamis_redis_filter_count(alone.get(), &keys, &hits), TAMIS_OK);
  EXPECT_EQ(hits, known.size()) << "they are in";
}

TEST_F(RedisCTest, LocalFilters) {
  auto secret = tamis_hash{};
  ASSERT_EQ(tamis_hash_random(TAMIS_HASH_SIPHASH13, &secret), TAMIS_OK);
  const std::vector<uint64_t> known = RandomKeys(3'000, 4), more = RandomKeys(3'000, 5);
  const tamis_keys keys = tamis_keys_u64(known.data(), known.size());
  const tamis_keys more_keys = tamis_keys_u64(more.data(), more.size());
  for (const tamis_hash& hash : {tamis_hash{}, tamis_hash{TAMIS_HASH_XXH64, 0, 5, 0, 0}, secret}) {
    SCOPED_TRACE(hash.kind);
    const std::string name = NewName();
    const CRedisFilter c = CreateC(name, OfBytes(400'000, hash), client_);
    ASSERT_EQ(tamis_redis_filter_insert(c.get(), &keys, nullptr), TAMIS_OK);
    const CFilter pulled = Made<tamis_filter>(tamis_redis_filter_pull, c.get());
    auto options = TAMIS_INIT(tamis_filter_options);
    options.bytes = 400'000;
    options.hash = hash;
    const CFilter local = Made<tamis_filter>(tamis_filter_create, TAMIS_SPLIT_BLOCK, &options);
    ASSERT_EQ(tamis_filter_insert(local.get(), nullptr, &keys, nullptr, nullptr, 0), TAMIS_OK);
    EXPECT_EQ(PayloadOf(pulled.get()), PayloadOf(local.get()));
    // It can be changed, and its file has no secret.
    EXPECT_EQ(tamis_filter_insert_u64(pulled.get(), more[0]), 1);
    const std::vector<std::byte> file = SerializedC(pulled.get());
    tamis_filter* loaded = nullptr;
    EXPECT_EQ(tamis_filter_deserialize(file.data(), file.size(), nullptr, &loaded),
              hash.secret_low != 0 ? TAMIS_SECRET : TAMIS_OK);
    tamis_filter_free(loaded);

    ASSERT_EQ(tamis_filter_insert(local.get(), nullptr, &more_keys, nullptr, nullptr, 0), TAMIS_OK);
    ASSERT_EQ(tamis_redis_filter_push(c.get(), local.get()), TAMIS_OK) << tamis_last_error();
    const CFilter again = Made<tamis_filter>(tamis_redis_filter_pull, c.get());
    EXPECT_EQ(PayloadOf(again.get()), PayloadOf(local.get()));

    // Others than that.
    for (tamis_hash other : {tamis_hash{TAMIS_HASH_XXH3, 0, 9, 0, 0}, secret}) {
      if (hash.kind == other.kind) other.secret_low ^= 1;
      options.hash = other;
      const CFilter wrong = Made<tamis_filter>(tamis_filter_create, TAMIS_SPLIT_BLOCK, &options);
      EXPECT_EQ(tamis_redis_filter_push(c.get(), wrong.get()),
                hash.kind == other.kind ? TAMIS_SECRET : TAMIS_INCOMPATIBLE)
          << tamis_last_error();
    }
    options.hash = hash;
    const CFilter bloom = Made<tamis_filter>(tamis_filter_create, TAMIS_BLOOM, &options);
    ExpectStatus(tamis_redis_filter_push(c.get(), bloom.get()), TAMIS_INCOMPATIBLE,
                 "of the kind bloom");
    options.bytes = 200'000;
    const CFilter small = Made<tamis_filter>(tamis_filter_create, TAMIS_SPLIT_BLOCK, &options);
    ExpectStatus(tamis_redis_filter_push(c.get(), small.get()), TAMIS_INCOMPATIBLE, "blocks");
    ExpectStatus(tamis_redis_filter_push(c.get(), nullptr), TAMIS_INVALID_ARGUMENT,
                 "local is NULL");
  }
}

TEST_F(RedisCTest, Opening) {
  auto hash = tamis_hash{};
  ASSERT_EQ(tamis_hash_random(TAMIS_HASH_SIPHASH24, &hash), TAMIS_OK);
  CreateC(name_, OfBytes(400'000, hash), client_);
  tamis_redis_filter* made = nullptr;
  const auto open = [&](const tamis_redis_create_options* expected, const CClient& client) {
    made = nullptr;
    const tamis_status status =
        tamis_redis_filter_open(name_.c_str(), expected, &client.options, &made);
    tamis_redis_filter_free(made);
    return status;
  };
  CClient client = client_;
  EXPECT_EQ(open(nullptr, client), TAMIS_SECRET);
  client.options.has_secret = 1;
  client.options.secret_low = hash.secret_low ^ 1;
  client.options.secret_high = hash.secret_high;
  EXPECT_EQ(open(nullptr, client), TAMIS_SECRET);
  client.options.secret_low = hash.secret_low;
  EXPECT_EQ(open(nullptr, client), TAMIS_OK);
  tamis_redis_create_options expected = OfBytes(400'000, hash);
  EXPECT_EQ(open(&expected, client), TAMIS_OK) << tamis_last_error();
  expected.bytes = 500'000;
  EXPECT_EQ(open(&expected, client), TAMIS_INCOMPATIBLE);
  expected = OfBytes(400'000);
  EXPECT_EQ(open(&expected, client), TAMIS_INCOMPATIBLE);
  EXPECT_EQ(made, nullptr);
}

TEST_F(RedisCTest, Deadlines) {
  using std::chrono::system_clock;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch())
          .count();
  tamis_redis_create_options options = OfBytes(400'000);
  options.deadline_ms = now + 1'000;
  const CRedisFilter c = CreateC(name_, options, client_);
  EXPECT_EQ(tamis_redis_filter_insert_u64(c.get(), 1), 1);
  auto info = TAMIS_INIT(tamis_redis_info);
  ASSERT_EQ(tamis_redis_filter_get_info(c.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.deadline_ms, options.deadline_ms);
  ASSERT_TRUE(WaitFor(5, [&] { return tamis_redis_filter_contains_u64(c.get(), 1) != 1; }));
  ExpectStatus(-tamis_redis_filter_contains_u64(c.get(), 1), TAMIS_UNAVAILABLE,
               "has reached its deadline");
  EXPECT_EQ(UnansweredOf(c.get()), std::vector<uint64_t>{0});
  ExpectStatus(-tamis_redis_filter_insert_u64(c.get(), 1), TAMIS_UNAVAILABLE, "deadline");

  tamis_redis_filter* made = nullptr;
  const std::string name = NewName();
  for (const int64_t over : {int64_t{-1}, std::numeric_limits<int64_t>::min(), int64_t{1}, now}) {
    options.deadline_ms = over;
    ExpectStatus(tamis_redis_filter_create(name.c_str(), &options, &client_.options, &made),
                 TAMIS_INVALID_ARGUMENT, "over already");
  }
  constexpr auto kLast = std::chrono::floor<std::chrono::milliseconds>(
      std::chrono::system_clock::time_point::max().time_since_epoch());
  for (const int64_t late : {kLast.count() + 1, std::numeric_limits<int64_t>::max()}) {
    options.deadline_ms = late;
    ExpectStatus(tamis_redis_filter_create(name.c_str(), &options, &client_.options, &made),
                 TAMIS_INVALID_ARGUMENT, "2262");
  }
  options.deadline_ms = kLast.count();
  const CRedisFilter far = CreateC(name, options, client_);
  EXPECT_EQ(tamis_redis_filter_insert_u64(far.get(), 1), 1);
  ASSERT_EQ(tamis_redis_filter_get_info(far.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.deadline_ms, kLast.count());
}

TEST_F(RedisCTest, ServersThatAreNotThere) {
  CClient client = client_;
  client.options.url = "redis://127.0.0.1:1";
  client.options.retry_for_ms = 50;
  tamis_redis_filter* made = nullptr;
  ExpectStatus(tamis_redis_filter_open("a", nullptr, &client.options, &made), TAMIS_UNAVAILABLE,
               "127.0.0.1:1");
  client.options.url = "http://127.0.0.1";
  ExpectStatus(tamis_redis_filter_open("a", nullptr, &client.options, &made),
               TAMIS_INVALID_ARGUMENT, "redis://");
  // A password is in no message.
  client.options.url = "redis://127.0.0.1:1";
  client.options.user = "somebody";
  client.options.password = "tell-nobody";
  EXPECT_EQ(tamis_redis_filter_open("a", nullptr, &client.options, &made), TAMIS_UNAVAILABLE);
  EXPECT_EQ(std::string(tamis_last_error()).find("tell-nobody"), std::string::npos);
  EXPECT_EQ(made, nullptr);
}

TEST_F(RedisCTest, Options) {
  CreateC(name_, OfBytes(400'000), client_);
  tamis_redis_filter* made = nullptr;
  const auto refused = [&](const auto& change, const char* text) {
    CClient client = client_;
    change(client.options);
    ExpectStatus(tamis_redis_filter_open(name_.c_str(), nullptr, &client.options, &made),
                 TAMIS_INVALID_ARGUMENT, text);
  };
  using Options = tamis_redis_options;
  refused([](Options& o) { o.struct_bytes = 0; }, "TAMIS_INIT");
  refused([](Options& o) { o.connect_timeout_ms = UINT64_MAX; }, "connect_timeout");
  refused([](Options& o) { o.command_timeout_ms = 86'400'001; }, "command_timeout");
  refused([](Options& o) { o.retry_for_ms = uint64_t{1} << 63; }, "retry_for");
  refused([](Options& o) { o.min_backoff_ms = 5'000; }, "max_backoff");
  refused([](Options& o) { o.idle_share = std::numeric_limits<double>::quiet_NaN(); },
          "idle_share");
  refused([](Options& o) { o.idle_share = 1; }, "idle_share");
  refused([](Options& o) { o.idle_share = -0.5; }, "idle_share");
  refused([](Options& o) { o.read_from_replicas = 2; }, "read_from_replicas is 2");
  refused([](Options& o) { o.unavailable = 2; }, "unavailable is 2");
  refused([](Options& o) { o.route = 3; }, "route is 3");
  refused([](Options& o) { o.has_secret = 7; }, "has_secret is 7");
  refused([](Options& o) { o.reserved = 1; }, "reserved is 1");
  refused([](Options& o) { o.user = "somebody"; }, "needs a password");
  CClient client = client_;
  client.options.idle_share = -1;
  client.options.read_from_replicas = 1;
  client.options.connect_timeout_ms = client.options.command_timeout_ms = 86'400'000;
  client.options.max_bytes_in_flight = 1;
  const CRedisFilter c = OpenC(name_, client);
  EXPECT_EQ(tamis_redis_filter_insert_u64(c.get(), 1), 1);

  // Names; and those of a newer version of the library.
  for (const char* const name : {"", "a{b", "a\nb"}) {
    EXPECT_EQ(tamis_redis_filter_open(name, nullptr, &client.options, &made),
              TAMIS_INVALID_ARGUMENT);
  }
  struct {
    tamis_redis_options known = TAMIS_INIT(tamis_redis_options);
    uint64_t unknown = 1;
  } newer;
  newer.known.struct_bytes = sizeof(newer);
  ExpectStatus(tamis_redis_filter_open("a", nullptr, &newer.known, &made), TAMIS_UNSUPPORTED,
               "client has members");
  tamis_redis_create_options options = OfBytes(0);
  EXPECT_EQ(tamis_redis_filter_create("a", &options, &client.options, &made),
            TAMIS_INVALID_ARGUMENT);
  options = OfBytes(1000, {TAMIS_HASH_SIPHASH13, 0, 0, 0, 0});
  EXPECT_EQ(tamis_redis_filter_create("a", &options, &client.options, &made), TAMIS_SECRET);
  EXPECT_EQ(made, nullptr);
}

TEST_F(RedisCTest, PointersAreChecked) {
  const CRedisFilter c = CreateC(name_, OfBytes(400'000), client_);
  tamis_redis_filter* const f = c.get();
  const char* const name = name_.c_str();
  tamis_redis_filter* made = nullptr;
  tamis_filter* pulled = nullptr;
  const std::vector<uint64_t> known = RandomKeys(100, 1);
  const tamis_keys keys = tamis_keys_u64(known.data(), known.size());
  const tamis_redis_create_options create = OfBytes(1000);
  auto info = TAMIS_INIT(tamis_redis_info);
  uint64_t words[2], rows[100], hits = 99;
  uint32_t rows32[100];
  uint8_t bytes[100];
  const uint64_t* unanswered = nullptr;
  const tamis_redis_options* const options = &client_.options;
  ExpectPointersChecked(tamis_redis_filter_create, Allowed{2}, name, &create, options, &made);
  ExpectPointersChecked(tamis_redis_filter_open, Allowed{1, 2}, name, &create, options, &made);
  ExpectPointersChecked(tamis_redis_filter_drop, Allowed{}, f);
  ExpectPointersChecked(tamis_redis_filter_get_info, Allowed{}, f, &info);
  ExpectPointersChecked(tamis_redis_filter_unanswered, Allowed{}, f, &unanswered, &hits);
  ExpectPointersChecked(tamis_redis_filter_pull, Allowed{}, f, &pulled);
  ExpectPointersChecked(tamis_redis_filter_contains_u64, Allowed{}, f, 1);
  ExpectPointersChecked(tamis_redis_filter_insert_string, Allowed{}, f, "a", 1);
  ExpectPointersChecked(tamis_redis_filter_contains_bitmap, Allowed{4}, f, &keys, words, 2, &hits);
  ExpectPointersChecked(tamis_redis_filter_contains_bytes, Allowed{4}, f, &keys, bytes, 100, &hits);
  ExpectPointersChecked(tamis_redis_filter_select32, Allowed{4}, f, &keys, rows32, 100, &hits);
  ExpectPointersChecked(tamis_redis_filter_select64, Allowed{4}, f, &keys, rows, 100, &hits);
  ExpectPointersChecked(tamis_redis_filter_count, Allowed{}, f, &keys, &hits);
  ExpectPointersChecked(tamis_redis_filter_insert, Allowed{2}, f, &keys, &hits);
  EXPECT_EQ(hits, 99u);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(pulled, nullptr);
  ExpectStatus(tamis_redis_filter_contains_bitmap(f, &keys, words, 1, &hits),
               TAMIS_INVALID_ARGUMENT, "needs 2");
  tamis_keys wrong = keys;
  wrong.count = uint64_t{1} << 50;
  EXPECT_EQ(tamis_redis_filter_insert(f, &wrong, nullptr), TAMIS_INVALID_ARGUMENT);
  wrong = keys;
  wrong.form = 99;
  EXPECT_EQ(tamis_redis_filter_count(f, &wrong, &hits), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_redis_filter_count(f, &keys, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 0u) << "nothing was inserted";
  tamis_redis_filter_free(nullptr);
}

}  // namespace tamis::redis::filter_servers_test
