// Near copies and rebuilds in C.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/c/pointer_checks.h"
#include "tests/c/redis/redis_c_test_util.h"

namespace tamis::redis::near_copy_servers_test {

class RedisCCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    TAMIS_NEED(servers_);
    filter_ = CreateC(name_, OfBytes(400'000), client_);
    ASSERT_EQ(tamis_redis_filter_insert(filter_.get(), &keys_, nullptr), TAMIS_OK);
  }

  CNearCopy Open(uint64_t staleness_ms, uint64_t refresh_every_ms,
                 const tamis_redis_options& client) const {
    auto options = TAMIS_INIT(tamis_redis_near_copy_options);
    options.staleness_ms = staleness_ms;
    options.refresh_every_ms = refresh_every_ms;
    tamis_redis_near_copy* copy = nullptr;
    EXPECT_EQ(tamis_redis_near_copy_open(name_.c_str(), &options, &client, &copy), TAMIS_OK)
        << tamis_last_error();
    return CNearCopy(copy);
  }
  static tamis_redis_near_copy_stats StatsOf(const CNearCopy& copy) {
    auto stats = TAMIS_INIT(tamis_redis_near_copy_stats);
    EXPECT_EQ(tamis_redis_near_copy_get_stats(copy.get(), &stats), TAMIS_OK);
    return stats;
  }

  Servers& servers_ = Servers::Single();
  const CClient client_{servers_};
  const std::string name_ = NewName();
  const std::vector<uint64_t> known_ = RandomKeys(3'000, 1), others_ = RandomKeys(3'000, 2);
  const tamis_keys keys_ = tamis_keys_u64(known_.data(), known_.size());
  const tamis_keys other_keys_ = tamis_keys_u64(others_.data(), others_.size());
  CRedisFilter filter_;
};

TEST_F(RedisCCopyTest, AnswersAndInsertions) {
  const CNearCopy copy = Open(0, 0, client_.options);
  tamis_redis_near_copy* const c = copy.get();
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(c, known_[0]), 1);
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(c, 1), 0);
  // Every "no" is confirmed: what others insert is found.
  EXPECT_EQ(tamis_redis_filter_insert_u64(filter_.get(), 1), 1);
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(c, 1), 1);
  EXPECT_EQ(tamis_redis_near_copy_insert_string(c, "apple", 5), 1);
  EXPECT_EQ(tamis_redis_near_copy_contains_string(c, "apple", 5), 1);
  EXPECT_EQ(tamis_redis_filter_contains_string(filter_.get(), "apple", 5), 1);
  EXPECT_EQ(tamis_redis_near_copy_insert_hash(c, HashU64(2)), 1);
  EXPECT_EQ(tamis_redis_near_copy_contains_hash(c, HashU64(2)), 1);
  uint64_t inserted = 0, hits = 0;
  EXPECT_EQ(tamis_redis_near_copy_insert(c, &other_keys_, &inserted), TAMIS_OK);
  EXPECT_EQ(inserted, others_.size());
  EXPECT_EQ(tamis_redis_filter_count(filter_.get(), &other_keys_, &hits), TAMIS_OK);
  EXPECT_EQ(hits, others_.size());

  ASSERT_EQ(tamis_redis_near_copy_refresh(c, &hits), TAMIS_OK);
  EXPECT_GT(hits, 0u);
  ASSERT_EQ(tamis_redis_near_copy_refresh(c, &hits), TAMIS_OK);
  EXPECT_EQ(hits, 0u);
  const CFilter snapshot = Made<tamis_filter>(tamis_redis_near_copy_snapshot, c);
  const CFilter pulled = Made<tamis_filter>(tamis_redis_filter_pull, filter_.get());
  EXPECT_EQ(PayloadOf(snapshot.get()), PayloadOf(pulled.get()));
}

TEST_F(RedisCCopyTest, StalenessIsTakenForNo) {
  const CNearCopy copy = Open(60'000, 0, client_.options);
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(copy.get(), others_[0]), 0);
  EXPECT_EQ(tamis_redis_filter_insert_u64(filter_.get(), others_[0]), 1);
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(copy.get(), others_[0]), 0);
  EXPECT_EQ(tamis_redis_near_copy_refresh(copy.get(), nullptr), TAMIS_OK);
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(copy.get(), others_[0]), 1);
  EXPECT_LT(StatsOf(copy).age_ms, 60'000u);
}

TEST_F(RedisCCopyTest, TheThreadRefreshes) {
  const CNearCopy copy = Open(60'000, 5, client_.options);
  EXPECT_EQ(tamis_redis_filter_insert_u64(filter_.get(), others_[0]), 1);
  EXPECT_TRUE(
      WaitFor(20, [&] { return tamis_redis_near_copy_contains_u64(copy.get(), others_[0]) == 1; }));
  EXPECT_GT(StatsOf(copy).refreshes, 1u);
  tamis_filter* made = nullptr;
  ExpectStatus(tamis_redis_near_copy_snapshot(copy.get(), &made), TAMIS_UNSUPPORTED,
               "refresh_every_ms");
  // The filter is gone: the thread says so, and goes on.
  ASSERT_EQ(tamis_redis_filter_drop(filter_.get()), TAMIS_OK);
  EXPECT_TRUE(WaitFor(20, [&] { return StatsOf(copy).failures > 0; }));
  EXPECT_STRNE(StatsOf(copy).last_error, "");
}

TEST_F(RedisCCopyTest, KeysWithoutAnswer) {
  CClient client = client_;
  client.options.retry_for_ms = 50;
  Servers own("single");
  const std::string url = own.options().url;
  client.options.url = url.c_str();
  const CRedisFilter filter = CreateC(name_, OfBytes(400'000), client);
  ASSERT_EQ(tamis_redis_filter_insert(filter.get(), &keys_, nullptr), TAMIS_OK);
  const CNearCopy copy = Open(0, 0, client.options);
  try {
    Say(own.servers()[0].port, {"SHUTDOWN", "NOSAVE"});
  } catch (const std::exception&) {
  }
  EXPECT_EQ(tamis_redis_near_copy_contains_u64(copy.get(), known_[0]), 1);
  std::vector<uint64_t> both = {known_[0], others_[0], known_[1], others_[1]};
  const tamis_keys keys = tamis_keys_u64(both.data(), both.size());
  uint8_t bytes[4] = {9, 9, 9, 9};
  uint64_t hits = 0;
  EXPECT_EQ(tamis_redis_near_copy_contains_bytes(copy.get(), &keys, bytes, 4, &hits),
            TAMIS_UNAVAILABLE);
  EXPECT_EQ(hits, 4u);
  EXPECT_EQ(UnansweredOf(copy.get()), (std::vector<uint64_t>{1, 3}));
  uint64_t inserted = 99;
  EXPECT_EQ(tamis_redis_near_copy_insert(copy.get(), &keys, &inserted), TAMIS_UNAVAILABLE);
  EXPECT_EQ(inserted, 0u);
  EXPECT_EQ(UnansweredOf(copy.get()).size(), 4u);
  ExpectStatus(-tamis_redis_filter_contains_u64(filter.get(), 1), TAMIS_UNAVAILABLE, "127.0.0.1");
}

TEST_F(RedisCCopyTest, PointersAndOptionsAreChecked) {
  const CNearCopy copy = Open(0, 0, client_.options);
  auto options = TAMIS_INIT(tamis_redis_near_copy_options);
  auto stats = TAMIS_INIT(tamis_redis_near_copy_stats);
  tamis_redis_near_copy* made = nullptr;
  tamis_filter* filter = nullptr;
  uint64_t hits = 0;
  const tamis_redis_options* const client = &client_.options;
  ExpectPointersChecked(tamis_redis_near_copy_open, Allowed{1, 2}, name_.c_str(), &options, client,
                        &made);
  ExpectPointersChecked(tamis_redis_near_copy_refresh, Allowed{1}, copy.get(), &hits);
  ExpectPointersChecked(tamis_redis_near_copy_get_stats, Allowed{}, copy.get(), &stats);
  ExpectPointersChecked(tamis_redis_near_copy_snapshot, Allowed{}, copy.get(), &filter);
  ExpectPointersChecked(tamis_redis_near_copy_count, Allowed{}, copy.get(), &keys_, &hits);
  ExpectPointersChecked(tamis_redis_near_copy_insert, Allowed{2}, copy.get(), &keys_, &hits);
  for (const uint64_t wrong : {uint64_t{86'400'001}, UINT64_MAX}) {
    options.refresh_every_ms = wrong;
    ExpectStatus(tamis_redis_near_copy_open(name_.c_str(), &options, client, &made),
                 TAMIS_INVALID_ARGUMENT, "refresh_every");
  }
  EXPECT_EQ(made, nullptr);
  tamis_redis_near_copy_free(nullptr);
}

// What a source does, and what it has seen.
struct Source {
  const tamis_keys* keys = nullptr;
  const tamis_filter* filter = nullptr;
  tamis_status returns = TAMIS_OK;
  bool opens_a_file = false;
  std::vector<uint32_t> steps = {};
  uint32_t end_at = 99;
  tamis_status seen = TAMIS_OK;
};

tamis_status Fill(tamis_redis_inserter* into, void* context) {
  Source& source = *static_cast<Source*>(context);
  EXPECT_EQ(tamis_redis_inserter_set_total(into, 3'000), TAMIS_OK);
  EXPECT_EQ(tamis_redis_inserter_keep_alive(into), TAMIS_OK);
  EXPECT_EQ(tamis_redis_inserter_insert(into, nullptr, nullptr), TAMIS_INVALID_ARGUMENT);
  EXPECT_EQ(tamis_redis_inserter_add(into, nullptr), TAMIS_INVALID_ARGUMENT);
  uint64_t inserted = 0;
  if (source.keys != nullptr) {
    source.seen = tamis_redis_inserter_insert(into, source.keys, &inserted);
    if (source.seen != TAMIS_OK) return source.seen;
    EXPECT_EQ(inserted, source.keys->count);
  }
  if (source.filter != nullptr) {
    source.seen = tamis_redis_inserter_add(into, source.filter);
    if (source.seen != TAMIS_OK) return source.seen;
  }
  tamis_filter* none = nullptr;
  if (source.opens_a_file) return tamis_filter_open("/none/of/these", nullptr, &none);
  return source.returns;
}

int32_t Progress(uint32_t step, uint64_t, uint64_t, void* context) {
  Source& source = *static_cast<Source*>(context);
  if (source.steps.empty() || source.steps.back() != step) source.steps.push_back(step);
  return step == source.end_at ? 7 : 0;
}

class RedisCRebuildTest : public RedisCCopyTest {
 protected:
  tamis_status Rebuild(Source& source, tamis_redis_rebuild_result* result = nullptr) {
    auto options = TAMIS_INIT(tamis_redis_rebuild_options);
    options.grace_ms = -1;
    options.on_progress = Progress;
    options.context = &source;
    return tamis_redis_filter_rebuild(filter_.get(), Fill, &source, &options, result);
  }
  // Of this key set the filter has all, and of the other none but some.
  void ExpectHas(const tamis_keys& these, const tamis_keys& not_these) {
    uint64_t hits = 0;
    EXPECT_EQ(tamis_redis_filter_count(filter_.get(), &these, &hits), TAMIS_OK);
    EXPECT_EQ(hits, these.count);
    EXPECT_EQ(tamis_redis_filter_count(filter_.get(), &not_these, &hits), TAMIS_OK);
    EXPECT_LT(hits, 100u);
  }
};

TEST_F(RedisCRebuildTest, FillsAnew) {
  Source source{.keys = &other_keys_};
  auto result = TAMIS_INIT(tamis_redis_rebuild_result);
  ASSERT_EQ(Rebuild(source, &result), TAMIS_OK) << tamis_last_error();
  EXPECT_EQ(result.keys, others_.size());
  EXPECT_EQ(result.ended_abandoned, 0u);
  EXPECT_EQ(source.steps, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  ExpectHas(other_keys_, keys_);
  auto info = TAMIS_INIT(tamis_redis_info);
  ASSERT_EQ(tamis_redis_filter_get_info(filter_.get(), &info), TAMIS_OK);
  EXPECT_EQ(info.generation, result.generation);

  // Out of a local filter, and without options.
  auto options = TAMIS_INIT(tamis_filter_options);
  options.bytes = 400'000;
  const CFilter local = Made<tamis_filter>(tamis_filter_create, TAMIS_SPLIT_BLOCK, &options);
  ASSERT_EQ(tamis_filter_insert(local.get(), nullptr, &keys_, nullptr, nullptr, 0), TAMIS_OK);
  source = {.filter = local.get()};
  ASSERT_EQ(Rebuild(source), TAMIS_OK) << tamis_last_error();
  ExpectHas(keys_, other_keys_);
  uint32_t ended = 9;
  EXPECT_EQ(tamis_redis_filter_end_abandoned_rebuild(filter_.get(), nullptr, &ended), TAMIS_OK);
  EXPECT_EQ(ended, 0u);
}

TEST_F(RedisCRebuildTest, SourcesThatFail) {
  const auto expect = [&](Source source, tamis_status status, const char* text) {
    ExpectStatus(Rebuild(source), status, text);
    ExpectHas(keys_, other_keys_);
  };
  // With its own status, one that is none, and one of a function that it has called.
  expect({.keys = &other_keys_, .returns = TAMIS_IO}, TAMIS_IO, "the source has ended");
  expect({.keys = &other_keys_, .returns = 4711}, 4711, "4711");
  expect({.keys = &other_keys_, .returns = -1}, -1, "-1");
  expect({.opens_a_file = true}, TAMIS_IO, "/none/of/these");
  tamis_keys wrong = other_keys_;
  wrong.data = nullptr;
  expect({.keys = &wrong}, TAMIS_INVALID_ARGUMENT, "keys.data is NULL");
  const CFilter cuckoo = MakeC(TAMIS_CUCKOO16, 1000);
  expect({.filter = cuckoo.get()}, TAMIS_INCOMPATIBLE, "of the kind cuckoo16");
  expect({.keys = &other_keys_, .end_at = TAMIS_REDIS_MARK}, TAMIS_CANCELLED, "on_progress");
  expect({.keys = &other_keys_, .end_at = TAMIS_REDIS_MERGE}, TAMIS_CANCELLED, "on_progress");

  // By a function of the inserter, whose status the source returns.
  Source source{.keys = &other_keys_, .end_at = TAMIS_REDIS_FILL};
  EXPECT_EQ(Rebuild(source), TAMIS_CANCELLED);
  ExpectHas(keys_, other_keys_);

  // Too late.
  source = {.keys = &other_keys_, .end_at = TAMIS_REDIS_CLOSE};
  ExpectStatus(Rebuild(source), TAMIS_CANCELLED, "in place");
  ExpectHas(other_keys_, keys_);
}

TEST_F(RedisCRebuildTest, PointersAndOptionsAreChecked) {
  Source source{.keys = &other_keys_};
  auto options = TAMIS_INIT(tamis_redis_rebuild_options);
  auto result = TAMIS_INIT(tamis_redis_rebuild_result);
  tamis_redis_filter* const f = filter_.get();
  void* const context = &source;
  ExpectStatus(tamis_redis_filter_rebuild(f, nullptr, context, &options, &result),
               TAMIS_INVALID_ARGUMENT, "source is NULL");
  ExpectStatus(tamis_redis_filter_rebuild(nullptr, Fill, context, &options, &result),
               TAMIS_INVALID_ARGUMENT, "filter is NULL");
  result.struct_bytes = 0;
  ExpectStatus(tamis_redis_filter_rebuild(f, Fill, context, &options, &result),
               TAMIS_INVALID_ARGUMENT, "TAMIS_INIT");
  const auto refused = [&](const auto& change, const char* text) {
    auto changed = options;
    change(changed);
    ExpectStatus(tamis_redis_filter_rebuild(f, Fill, context, &changed, nullptr),
                 TAMIS_INVALID_ARGUMENT, text);
    ExpectStatus(tamis_redis_filter_end_abandoned_rebuild(f, &changed, nullptr),
                 TAMIS_INVALID_ARGUMENT, text);
  };
  refused([](auto& o) { o.struct_bytes = 8; }, "TAMIS_INIT");
  refused([](auto& o) { o.lease_ms = UINT64_MAX; }, "lease");
  refused([](auto& o) { o.grace_ms = -2; }, "grace");
  refused([](auto& o) { o.grace_ms = INT64_MAX; }, "grace");
  refused([](auto& o) { o.no_huge_pages = 2; }, "no_huge_pages");
  ExpectPointersChecked(tamis_redis_filter_end_abandoned_rebuild, Allowed{1, 2}, f,
                        static_cast<const tamis_redis_rebuild_options*>(&options),
                        static_cast<uint32_t*>(nullptr));
  EXPECT_TRUE(source.steps.empty());
  ExpectHas(keys_, other_keys_);
}

}  // namespace tamis::redis::near_copy_servers_test
