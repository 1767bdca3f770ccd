// A guard and one thread: which queries reach the cache and the database, and that no answer is
// wrong.
#include "tamis/live/guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/live/concurrent_cuckoo.h"
#include "tamis/live/watch.h"
#include "tests/core/file_test_util.h"
#include "tests/live/guard_test_util.h"
#include "tests/live/live_test_util.h"

namespace tamis::guard_test {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using Found = TestStore::Found;

class NoCache {
 public:
  std::optional<int> Get(const std::string&) { return {}; }
  void Put(const std::string&, int) {}
  std::vector<std::optional<int>> Get(std::span<const std::string> keys) {
    return std::vector<std::optional<int>>(keys.size());
  }
  void Put(std::span<const std::pair<std::string, int>>) {}
};

class GuardTest : public testing::Test {
 protected:
  // Keys 1 to 100 are in the database. The filter has them and the false positives 1000 to 1100.
  GuardTest() {
    for (uint64_t key = 1; key <= 100; ++key) database_.Insert(key);
    Publish();
  }
  void Publish(nanoseconds age = {}) {
    std::vector<uint64_t> keys;
    for (uint64_t key = 1; key <= 100; ++key) keys.insert(keys.end(), {key, key + 1000});
    live_.Publish(FilterOf<LockedBlocks>(keys), age);
  }

  Found Get(uint64_t key) {
    return guard_.Get(key, cache_, [&](uint64_t asked) { return database_.Get(asked); });
  }
  std::vector<Found> GetMany(const std::vector<uint64_t>& keys) {
    return guard_.GetMany(keys, cache_,
                          [&](std::span<const uint64_t> asked) { return database_.Get(asked); });
  }
  LiveClock Clock() {
    return [this] { return now_; };
  }

  static constexpr uint64_t kAbsent = 123'456;  // the filter answers no

  steady_clock::time_point now_{hours(1000)};
  Live<LockedBlocks> live_{{.clock = Clock()}};
  Guard guard_{
      live_,
      {.max_age = hours(2), .negative_ttl = seconds(10), .max_negatives = 64, .clock = Clock()}};
  TestStore cache_, database_;
};

TEST_F(GuardTest, WhereTheFilterSaysNoNothingIsAsked) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Get(kAbsent), Found());
  EXPECT_EQ(cache_.asked, 0u);
  EXPECT_EQ(database_.asked, 0u);
  EXPECT_EQ(guard_.stats().blocked, 5u);
  EXPECT_EQ(guard_.stats().passed, 0u);
}

TEST_F(GuardTest, WhereItSaysMaybeTheCacheIsAskedAndThenTheDatabase) {
  EXPECT_EQ(Get(7), Found(70));
  EXPECT_EQ(cache_.asked, 1u);
  EXPECT_EQ(database_.asked, 1u);
  EXPECT_TRUE(cache_.Has(7));
  EXPECT_EQ(Get(7), Found(70));
  EXPECT_EQ(cache_.asked, 2u);
  EXPECT_EQ(database_.asked, 1u) << "it is cached";
  const GuardStats stats = guard_.stats();
  EXPECT_EQ(stats.passed, 2u);
  EXPECT_EQ(stats.cache_hits, 1u);
  EXPECT_EQ(stats.loads, 1u);
  EXPECT_EQ(stats.false_positives, 0u);
  EXPECT_EQ(stats.unknown, 0u);
}

TEST_F(GuardTest, AFalsePositiveReachesTheDatabaseOnceInItsTime) {
  EXPECT_EQ(Get(1005), Found());
  EXPECT_EQ(Get(1005), Found());
  now_ += seconds(9);
  EXPECT_EQ(Get(1005), Found());
  EXPECT_EQ(database_.asked, 1u);
  EXPECT_EQ(guard_.stats().negatives, 1u);
  now_ += seconds(1);
  EXPECT_EQ(guard_.stats().negatives, 0u);
  EXPECT_EQ(Get(1005), Found());
  EXPECT_EQ(database_.asked, 2u);
  const GuardStats stats = guard_.stats();
  EXPECT_EQ(stats.false_positives, 2u);
  EXPECT_EQ(stats.negative_hits, 2u);
}

TEST_F(GuardTest, NegativesAreBounded) {
  for (uint64_t key = 1001; key <= 1100; ++key) {
    now_ += nanoseconds(1);
    EXPECT_EQ(Get(key), Found());
    EXPECT_LE(guard_.stats().negatives, 64u);
  }
  EXPECT_GT(guard_.stats().negatives, 10u);
  Guard none(live_, {.max_negatives = 0});
  for (int i = 0; i < 2; ++i) {
    none.Get(1001, cache_, [&](uint64_t key) { return database_.Get(key); });
  }
  EXPECT_EQ(none.stats().negatives, 0u);
  EXPECT_EQ(none.stats().loads, 2u);
}

TEST_F(GuardTest, ANegativeOfTheFutureIsNotBelieved) {
  EXPECT_EQ(Get(1005), Found());
  database_.Insert(1005);
  now_ -= hours(1);  // otherwise the miss would be cached for an hour
  EXPECT_EQ(Get(1005), Found(10'050));
}

TEST_F(GuardTest, WithoutAFilterAllKeysPass) {
  Live<LockedBlocks> empty;
  Guard guard(empty);
  const auto get = [&](uint64_t key) {
    return guard.Get(key, cache_, [&](uint64_t asked) { return database_.Get(asked); });
  };
  EXPECT_EQ(get(7), Found(70));
  EXPECT_EQ(get(kAbsent), Found());
  EXPECT_EQ(database_.asked, 2u);
  GuardStats stats = guard.stats();
  EXPECT_EQ(stats.unknown, 2u);
  EXPECT_EQ(stats.blocked, 0u);
  EXPECT_EQ(stats.false_positives, 0u) << "no filter has said maybe";
  EXPECT_FALSE(stats.known);
  EXPECT_EQ(stats.generation, 0u);
  empty.Publish(FilterOf<LockedBlocks>({7}));
  EXPECT_EQ(get(kAbsent + 1), Found());
  stats = guard.stats();
  EXPECT_EQ(stats.blocked, 1u);
  EXPECT_TRUE(stats.known);
}

TEST_F(GuardTest, AFilterThatIsTooOldLetsAllPass) {
  database_.Insert(kAbsent);  // but not into the filter
  EXPECT_EQ(Get(kAbsent), Found());
  now_ += hours(2);
  EXPECT_EQ(Get(kAbsent), Found()) << "it is just fresh";
  now_ += nanoseconds(1);
  EXPECT_EQ(Get(kAbsent), Found(kAbsent * 10));
  EXPECT_FALSE(guard_.stats().known);
  Publish(hours(1));
  EXPECT_TRUE(guard_.stats().known);
  EXPECT_EQ(guard_.stats().age, hours(1));
  Publish(hours(3));
  EXPECT_FALSE(guard_.stats().known);
  now_ -= hours(30);  // a clock that goes backwards makes the filter no older
  EXPECT_EQ(guard_.stats().age, nanoseconds(0));
  EXPECT_EQ(Get(7), Found(70));
}

TEST_F(GuardTest, ACacheThatFailsIsOneThatLacksTheKey) {
  cache_.broken = true;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Get(7), Found(70));
  EXPECT_EQ(GetMany({7, 8}), (std::vector<Found>{70, 80}));
  EXPECT_EQ(guard_.stats().cache_failures, 6u) << "to ask and to fill";
  EXPECT_EQ(database_.asked, 4u);
}

TEST_F(GuardTest, ExceptionsOfTheDatabaseReachTheCaller) {
  database_.broken = true;
  EXPECT_THROW(Get(7), std::runtime_error);
  EXPECT_THROW(Get(1005), std::runtime_error);
  EXPECT_EQ(guard_.stats().load_failures, 2u);
  EXPECT_EQ(guard_.stats().negatives, 0u) << "it is not known to be lacking";
  database_.broken = false;
  EXPECT_EQ(Get(7), Found(70)) << "the next call tries again";
}

TEST_F(GuardTest, KeysCanBeStrings) {
  Live<SplitBlockBloomFilter> live;
  SplitBlockBloomFilter filter({.capacity = 100});
  filter.Insert(std::vector<std::string>{"here"});
  live.Publish(std::move(filter));
  CacheGuard<std::string, int, SplitBlockBloomFilter> guard(live);
  NoCache cache;
  const auto load = [](const std::string& key) { return std::optional<int>(key.size()); };
  EXPECT_EQ(guard.Get("here", cache, load), 4);
  EXPECT_EQ(guard.Get("elsewhere", cache, load), std::nullopt);
}

// Numbers and strings have different hashes: a filter of numbers would answer "no" to all strings.
TEST(GuardFormsTest, AFilterOfOtherKeysLetsAllPass) {
  Live<SplitBlockBloomFilter> live;
  live.Publish(FilterOf<SplitBlockBloomFilter>({1, 2, 3}));
  CacheGuard<std::string, int, SplitBlockBloomFilter> guard(live);
  NoCache cache;
  const auto load = [](const std::string& key) { return std::optional<int>(key.size()); };
  EXPECT_EQ(guard.Get("here", cache, load), 4);
  const std::vector<std::string> keys = {"a", "bc"};
  EXPECT_EQ(guard.GetMany(keys, cache,
                          [](std::span<const std::string>) {
                            return std::vector<std::optional<int>>{1, 2};
                          }),
            (std::vector<std::optional<int>>{1, 2}));
  GuardStats stats = guard.stats();
  EXPECT_EQ(stats.blocked, 0u);
  EXPECT_EQ(stats.unknown, 3u);
  EXPECT_EQ(stats.other_type, 3u);
  EXPECT_EQ(stats.false_positives, 0u);
  EXPECT_FALSE(stats.known);
  ASSERT_TRUE(stats.failure);
  EXPECT_EQ(stats.failure->code, ErrorCode::kIncompatible);
  EXPECT_NE(stats.failure->text.find("of the filter are integers, but the keys of the guard are "
                                     "text"),
            std::string::npos)
      << stats.failure->text;

  SplitBlockBloomFilter strings({.capacity = 100});
  strings.Insert({"here"});
  live.Publish(std::move(strings));
  EXPECT_EQ(guard.Get("elsewhere", cache, load), std::nullopt);
  stats = guard.stats();
  EXPECT_TRUE(stats.known);
  EXPECT_FALSE(stats.failure);
  EXPECT_EQ(stats.blocked, 1u);
  EXPECT_EQ(stats.other_type, 3u);
}

TEST(GuardFormsTest, KeysOfUnknownTypeAndNoKeysMayBeAnything) {
  Live<SplitBlockBloomFilter> live;
  CacheGuard<std::string, int, SplitBlockBloomFilter> guard(live);
  live.Publish(SplitBlockBloomFilter({.capacity = 100}));
  EXPECT_TRUE(guard.stats().known) << "a filter of no keys";
  SplitBlockBloomFilter hashes({.capacity = 100});
  hashes.InsertHash(HashBytes("here", hashes.hash()));
  live.Publish(std::move(hashes));
  NoCache cache;
  const auto load = [](const std::string& key) { return std::optional<int>(key.size()); };
  EXPECT_EQ(guard.Get("here", cache, load), 4);
  EXPECT_EQ(guard.Get("elsewhere", cache, load), std::nullopt);
  EXPECT_EQ(guard.stats().blocked, 1u);
}

// If one string were inserted, the filter would count as a filter of strings, and would answer "no"
// to all other strings.
TEST(GuardFormsTest, NothingIsInsertedIntoAFilterOfOtherKeys) {
  Live<LockedBlocks> live;
  live.Publish(FilterOf<LockedBlocks>({1, 2, 3}));
  CacheGuard<std::string, int, LockedBlocks> guard(live);
  bool committed = false;
  ExpectError([&] { guard.Insert("here", [&] { committed = true; }); }, ErrorCode::kIncompatible,
              "publish a filter whose keys are text");
  EXPECT_FALSE(committed);
  EXPECT_EQ(live.Read()->key_types(), KeyTypes(KeyType::kInteger));
  live.Publish(FilterOf<LockedBlocks>({}));
  guard.Insert("here", [&] { committed = true; });
  EXPECT_TRUE(committed);
  EXPECT_TRUE(live.Read()->Contains("here"));
}

TEST_F(GuardTest, SaysWhyTheFilterIsNotKnown) {
  EXPECT_FALSE(guard_.stats().failure);
  now_ += hours(3);
  EXPECT_EQ(guard_.stats().failure->text, "the filter is older than max_age");
  Live<LockedBlocks> empty;
  EXPECT_EQ(Guard(empty).stats().failure->text, "no filter has been published");
}

TEST_F(GuardTest, RefusesNegativeTimes) {
  for (const GuardOptions& options :
       {GuardOptions{.max_age = seconds(-1)}, GuardOptions{.negative_ttl = seconds(-1)}}) {
    ExpectError([&] { Guard guard(live_, options); }, ErrorCode::kInvalidArgument,
                "must not be negative");
  }
}

TEST_F(GuardTest, ABatchLoadsTheRemainingKeysAtOnce) {
  EXPECT_EQ(Get(1005), Found());
  EXPECT_EQ(Get(1), Found(10));
  EXPECT_EQ(GetMany({kAbsent, 1, 2, 1005, 2, 1006, kAbsent + 1, 3}),
            (std::vector<Found>{{}, 10, 20, {}, 20, {}, {}, 30}));
  ASSERT_EQ(cache_.batches.size(), 1u);
  EXPECT_EQ(cache_.batches[0], (std::vector<uint64_t>{1, 2, 1005, 2, 1006, 3}));
  ASSERT_EQ(database_.batches.size(), 1u);
  EXPECT_EQ(database_.batches[0], (std::vector<uint64_t>{2, 1006, 3}));
  EXPECT_TRUE(cache_.Has(2) && cache_.Has(3));
  const GuardStats stats = guard_.stats();
  EXPECT_EQ(stats.blocked, 2u);
  EXPECT_EQ(stats.passed, 8u);
  EXPECT_EQ(stats.cache_hits, 1u);
  EXPECT_EQ(stats.negative_hits, 1u);
  EXPECT_EQ(stats.coalesced, 1u) << "the key that is twice in the batch";
  EXPECT_EQ(stats.loads, 5u);
  EXPECT_EQ(stats.false_positives, 2u);
  EXPECT_EQ(GetMany({}), std::vector<Found>());
  EXPECT_EQ(GetMany({kAbsent}), std::vector<Found>(1));
  EXPECT_EQ(cache_.batches.size(), 1u) << "nothing was left to ask for";
}

TEST_F(GuardTest, ABatchWhoseDatabaseFailsIsTriedAgain) {
  database_.broken = true;
  EXPECT_THROW(GetMany({1, 2, 2}), std::runtime_error);
  EXPECT_EQ(guard_.stats().load_failures, 2u);
  database_.broken = false;
  EXPECT_EQ(GetMany({1, 2, 2}), (std::vector<Found>{10, 20, 20}));
  ExpectError(
      [&] {
        guard_.GetMany(std::vector<uint64_t>{3, 4}, cache_,
                       [](std::span<const uint64_t>) { return std::vector<Found>{30}; });
      },
      ErrorCode::kInvalidArgument, "for 2 keys, and returned 1 values");
  EXPECT_EQ(GetMany({3, 4}), (std::vector<Found>{30, 40}));
}

TEST_F(GuardTest, InsertTellsTheFilterBeforeTheDatabase) {
  EXPECT_EQ(Get(kAbsent), Found());
  const int result = guard_.Insert(kAbsent, [&] {
    EXPECT_TRUE(live_.Read()->Contains(kAbsent));
    database_.Insert(kAbsent);
    return 5;
  });
  EXPECT_EQ(result, 5);
  EXPECT_EQ(Get(kAbsent), Found(kAbsent * 10));
  guard_.Insert(std::vector<uint64_t>{kAbsent + 1, kAbsent + 2}, [&] {
    for (const uint64_t key : {kAbsent + 1, kAbsent + 2}) database_.Insert(key);
  });
  EXPECT_EQ(Get(kAbsent + 2), Found((kAbsent + 2) * 10));
}

TEST_F(GuardTest, InsertDropsCachedMisses) {
  EXPECT_EQ(Get(1005), Found());
  guard_.Insert(1005, [&] {
    EXPECT_EQ(Get(1005), Found()) << "not yet";
    database_.Insert(1005);
  });
  EXPECT_EQ(Get(1005), Found(10'050));
}

TEST_F(GuardTest, ACommitThatThrowsMayHaveCommitted) {
  EXPECT_EQ(Get(1005), Found());
  EXPECT_THROW(guard_.Insert(1005,
                             [&] {
                               database_.Insert(1005);
                               throw std::runtime_error("the connection is gone");
                             }),
               std::runtime_error);
  EXPECT_EQ(Get(1005), Found(10'050));
}

// A cuckoo filter holds at most eight copies of a key.
TEST_F(GuardTest, CommitsThatThrowAddOneCopyToACuckooFilter) {
  using Cuckoo = ConcurrentCuckooFilter<16>;
  Live<Cuckoo> live;
  live.Publish(FilterOf<Cuckoo>({}, 1000));
  CacheGuard<uint64_t, uint64_t, Cuckoo> guard(live);
  const uint64_t keys[] = {1, 2, 2};
  const auto refuse = [] { throw std::runtime_error("refused"); };
  const auto refused = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_THROW(guard.Insert(1, refuse), std::runtime_error);
      EXPECT_THROW(guard.Insert(keys, refuse), std::runtime_error);
    }
  };
  refused();
  EXPECT_EQ(live.Read()->inserted_count(), 3u);
  guard.Insert(keys, [] {});
  EXPECT_EQ(live.Read()->inserted_count(), 6u) << "these have copies of their own";
  refused();
  EXPECT_EQ(live.Read()->inserted_count(), 6u);
  EXPECT_EQ(live.Erase(std::vector<uint64_t>{1, 2, 2}), 3u);
  EXPECT_EQ(live.Read()->Count(std::vector<uint64_t>{1, 2}), 2u);

  // A filter from a later rebuild does not have the copies. A filter from a running rebuild gets
  // all copies.
  refused();
  live.Rebuild({[](RebuildContext&) { return FilterOf<Cuckoo>({}, 1000); }});
  guard.Insert(1, [] {});
  EXPECT_EQ(live.Read()->inserted_count(), 1u);
  EXPECT_THROW(guard.Insert(2, refuse), std::runtime_error);
  live.Rebuild({[&](RebuildContext&) {
    guard.Insert(2, [] {});
    EXPECT_THROW(guard.Insert(3, refuse), std::runtime_error);
    EXPECT_THROW(guard.Insert(3, refuse), std::runtime_error);
    return FilterOf<Cuckoo>({1}, 1000);
  }});
  EXPECT_EQ(live.Read()->Count(std::vector<uint64_t>{1, 2, 3}), 3u);
}

// The copy of a failed commit may be erased before the key is inserted again: by the caller, or
// because the commit succeeded in spite of its exception, and the key was deleted later.
TEST_F(GuardTest, AKeyThatWasErasedAfterACommitThatThrewIsFoundWhenItComesAgain) {
  using Cuckoo = ConcurrentCuckooFilter<16>;
  const auto committed = [] { throw std::runtime_error("the reply is lost"); };
  const std::vector<uint64_t> key = {1};
  Live<Cuckoo> live;
  live.Publish(FilterOf<Cuckoo>({}, 1000));
  CacheGuard<uint64_t, uint64_t, Cuckoo> guard(live);
  EXPECT_THROW(guard.Insert(1, committed), std::runtime_error);
  EXPECT_EQ(live.Erase(key), 1u);
  EXPECT_THROW(guard.Insert(1, committed), std::runtime_error);
  EXPECT_EQ(live.Read()->Count(key), 1u);
  EXPECT_EQ(live.Erase(key), 1u);
  guard.Insert(1, [] {});
  EXPECT_EQ(live.Read()->Count(key), 1u);
  // During a commit.
  EXPECT_THROW(guard.Insert(2,
                            [&] {
                              EXPECT_EQ(live.Erase(std::vector<uint64_t>{2}), 1u);
                              throw std::runtime_error("the reply is lost");
                            }),
               std::runtime_error);
  EXPECT_THROW(guard.Insert(2, committed), std::runtime_error);
  EXPECT_EQ(live.Read()->Count(std::vector<uint64_t>{2}), 1u);
  // Within a change that has deleted the key from the database, and erases it from the filter
  // later.
  EXPECT_THROW(guard.Insert(3, committed), std::runtime_error);
  {
    auto change = live.BeginChange();
    EXPECT_THROW(guard.Insert(3, committed), std::runtime_error);
    EXPECT_EQ(change.Erase(std::vector<uint64_t>{3}), 1u);
  }
  EXPECT_EQ(live.Read()->Count(std::vector<uint64_t>{3}), 1u);
}

// A filter that calls `on_key_types` once, when a guard reads its key types.
struct InterruptedCuckoo : LockedCuckoo {
  using LockedCuckoo::LockedCuckoo;
  KeyTypes key_types() const {
    if (on_key_types) std::exchange(on_key_types, {})();
    return LockedCuckoo::key_types();
  }
  static inline std::function<void()> on_key_types;
};

TEST_F(GuardTest, ARebuildThatEndsDuringAnInsertKeepsAKeyWhoseCommitThrewBefore) {
  Live<InterruptedCuckoo> live;
  live.Publish(FilterOf<InterruptedCuckoo>({}, 1000));
  CacheGuard<uint64_t, uint64_t, InterruptedCuckoo> guard(live);
  EXPECT_THROW(guard.Insert(1, [] { throw std::runtime_error("refused"); }), std::runtime_error);
  std::promise<void> built, finish;
  std::jthread rebuild([&] {
    live.Rebuild({[&](RebuildContext&) {
      built.set_value();
      finish.get_future().wait();
      return FilterOf<InterruptedCuckoo>({}, 1000);
    }});
  });
  built.get_future().wait();
  InterruptedCuckoo::on_key_types = [&] {
    finish.set_value();
    rebuild.join();
  };
  guard.Insert(1, [] {});
  EXPECT_EQ(live.Read().generation(), 2u);
  EXPECT_TRUE(live.Read()->Contains(1));
}

TEST_F(GuardTest, AKeyThatComesInAnotherWayCanBeMadeKnown) {
  EXPECT_EQ(Get(1005), Found());
  database_.Insert(1005);
  EXPECT_EQ(Get(1005), Found());
  guard_.Forget(1005);
  EXPECT_EQ(Get(1005), Found(10'050));
}

TEST_F(GuardTest, KeysWithoutRoomInTheFilterAreNotCommitted) {
  Live<LockedCuckoo> live;
  live.Publish(FilterOf<LockedCuckoo>({}, 1));
  CacheGuard<uint64_t, uint64_t, LockedCuckoo> guard(live);
  uint64_t committed = 0;
  ExpectError(
      [&] {
        for (uint64_t key = 0; key < 1000; ++key) guard.Insert(key, [&] { ++committed; });
      },
      ErrorCode::kInvalidArgument, "the filter has no room for a key");
  EXPECT_GT(committed, 0u);
  EXPECT_LT(committed, 1000u);
}

// A filter that is rebuilt while a key is inserted has the key.
TEST_F(GuardTest, ARebuildWaitsForTheCommit) {
  std::optional<RebuildJob> job;
  guard_.Insert(kAbsent, [&] {
    job.emplace(live_.StartRebuild({[&](RebuildContext&) {
      std::vector<uint64_t> keys;
      for (uint64_t key = 1; key <= 200'000; ++key) {
        if (database_.Has(key)) keys.push_back(key);
      }
      return FilterOf<LockedBlocks>(keys);
    }}));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    database_.Insert(kAbsent);
  });
  EXPECT_EQ(job->Wait(), 2u);
  EXPECT_EQ(Get(kAbsent), Found(kAbsent * 10));
}

// A missing, damaged or old file blocks no request: every answer equals the answer of the database.
TEST(GuardedFileTest, EveryRequestIsAnsweredWhateverBecomesOfTheFile) {
  const TemporaryFolder folder;
  const auto path = folder / "keys.tamis";
  TestStore cache, database;
  std::vector<uint64_t> keys;
  for (uint64_t key = 0; key < 1000; ++key) {
    keys.push_back(key * 3);
    database.Insert(key * 3);
  }
  const auto expect_right = [&](const char* what, bool known) {
    Live<SplitBlockBloomFilter> live;
    Watch<SplitBlockBloomFilter> watch(live, path, {.interval = hours(1)});
    CacheGuard<uint64_t, uint64_t, SplitBlockBloomFilter> guard(live, {.max_age = hours(24)});
    for (uint64_t key = 0; key < 3000; ++key) {
      const Found found =
          guard.Get(key, cache, [&](uint64_t asked) { return database.Get(asked); });
      EXPECT_EQ(found, key % 3 == 0 ? Found(key * 10) : Found()) << what << ' ' << key;
    }
    EXPECT_EQ(guard.stats().known, known) << what;
    EXPECT_EQ(guard.stats().blocked > 0, known) << what;
    EXPECT_EQ(guard.stats().unknown, known ? 0u : 3000u) << what;
  };
  expect_right("missing", false);
  FilterOf<SplitBlockBloomFilter>(keys).Save(path);
  const Bytes good = ReadBytes(path);
  expect_right("good", true);
  Bytes corrupted = good;
  corrupted[good.size() / 2] = static_cast<char>(corrupted[good.size() / 2] ^ 1);
  WriteBytes(path, corrupted);
  expect_right("corrupted", false);
  WriteBytes(path, Bytes(good.begin(), good.begin() + 1000));
  expect_right("truncated", false);
  WriteBytes(path, {});
  expect_right("empty", false);
  WriteBytes(path, good);
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - hours(25));
  expect_right("stale", false);
}

TEST(GuardStatsTest, AreTextForPrometheus) {
  GuardStats stats;
  stats.blocked = 12;
  stats.false_positives = 3;
  stats.known = true;
  stats.generation = 4;
  stats.age = std::chrono::milliseconds(61'005);
  const std::string text = PrometheusText({{"a\"b\\c\nd", stats}, {"other", {}}});
  const std::string label = "{guard=\"a\\\"b\\\\c\\nd\"} ";
  EXPECT_EQ(text.find("# HELP tamis_guard_blocked_total Keys for which the filter answered no.\n"
                      "# TYPE tamis_guard_blocked_total counter\n"
                      "tamis_guard_blocked_total" +
                      label +
                      "12\n"
                      "tamis_guard_blocked_total{guard=\"other\"} 0\n"),
            0u)
      << text;
  for (const std::string& line :
       {"tamis_guard_false_positives_total" + label + "3", "tamis_guard_filter_known" + label + "1",
        "tamis_guard_filter_generation" + label + "4",
        "tamis_guard_filter_age_seconds" + label + "61.005000000",
        std::string("# TYPE tamis_guard_filter_known gauge")}) {
    EXPECT_NE(text.find('\n' + line + '\n'), std::string::npos) << line;
  }
  // There are four lines for each metric, and each line ends.
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4 * 15);
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace tamis::guard_test
