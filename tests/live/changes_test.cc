// Insertions and erasures during a rebuild: all take effect, in any interleaving.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/live/live.h"
#include "tests/core/file_test_util.h"
#include "tests/live/live_test_util.h"
#include "tests/test_util.h"

namespace tamis::changes_test {

using KeyVector = std::vector<uint64_t>;

template <typename F>
class ChangesTest : public testing::Test {
 protected:
  ChangesTest() { live_.Publish(FilterOf<F>({1})); }

  // A source with the keys 1 and 2, which calls `then` after it has read them.
  static RebuildSource<F> Source(std::function<void()> then) {
    return {[then](RebuildContext&) {
      F filter = FilterOf<F>({1, 2});
      then();
      return filter;
    }};
  }

  Live<F> live_;
};

using Changed = testing::Types<LockedBlocks, LockedCuckoo>;
TYPED_TEST_SUITE(ChangesTest, Changed);

TYPED_TEST(ChangesTest, GoToTheFilterOfTheMoment) {
  EXPECT_EQ(this->live_.Insert(KeyVector{5, 6}), 2u);
  EXPECT_EQ(this->live_.Read()->Count(KeyVector{1, 5, 6}), 3u);
  EXPECT_EQ(this->live_.status().recorded, 0u) << "there is no rebuild";
}

TYPED_TEST(ChangesTest, KeysInsertedBetweenBuildAndSwapAreInTheNewFilter) {
  const KeyVector keys = RandomKeys(10'000, /*seed=*/1);
  this->live_.Rebuild(this->Source([&] {
    EXPECT_EQ(this->live_.Insert(keys), keys.size());
    EXPECT_EQ(this->live_.Read().generation(), 1u);
    EXPECT_EQ(this->live_.Read()->Count(keys), keys.size()) << "at once, in the old one";
    EXPECT_EQ(this->live_.status().recorded, keys.size());
  }));
  EXPECT_EQ(this->live_.Read().generation(), 2u);
  EXPECT_EQ(this->live_.Read()->Count(keys), keys.size());
  EXPECT_EQ(this->live_.Read()->Count(KeyVector{1, 2}), 2u);
  EXPECT_EQ(this->live_.Read()->size(), keys.size() + 2) << "each once";
  EXPECT_EQ(this->live_.status().recorded, 0u);
}

TYPED_TEST(ChangesTest, KeysInsertedWhileOthersAreReplayedAreInTheNewFilter) {
  this->live_.Rebuild({[&](RebuildContext&) {
    TypeParam filter = FilterOf<TypeParam>({1});
    this->live_.Insert(KeyVector{100});
    // The replay calls this. Later, when the gate is closed, the other thread would wait for this
    // thread.
    filter.before_insert = [&, calls = 0]() mutable {
      if (calls++ > 0) return;
      std::thread([&] { this->live_.Insert(KeyVector{101}); }).join();
    };
    return filter;
  }});
  EXPECT_EQ(this->live_.Read().generation(), 2u);
  EXPECT_EQ(this->live_.Read()->Count(KeyVector{1, 100, 101}), 3u);
}

TYPED_TEST(ChangesTest, InsertsBeforeTheFirstFilterAreInIt) {
  Live<TypeParam> live;
  EXPECT_EQ(live.Insert(KeyVector{9}), 0u) << "into none; the source has to have it";
  live.Rebuild(this->Source([&] { EXPECT_EQ(live.Insert(KeyVector{5, 6}), 0u); }));
  EXPECT_EQ(live.Read()->Count(KeyVector{1, 2, 5, 6}), 4u);
}

TYPED_TEST(ChangesTest, NullsAreNotKeysAndTypesAreKept) {
  const std::vector<std::string> words = {"one", "two", "three", "four"};
  const uint8_t valid = 0b1010;
  this->live_.Rebuild(
      this->Source([&] { EXPECT_EQ(this->live_.Insert(Keys(words).WithValidity(&valid)), 2u); }));
  EXPECT_EQ(this->live_.Read()->size(), 4u);
  EXPECT_TRUE(this->live_.Read()->Contains(std::string_view("two")));
  EXPECT_TRUE(this->live_.Read()->Contains(std::string_view("four")));
  KeyTypes types = KeyType::kInteger;
  types.Add(KeyType::kBytes);
  EXPECT_EQ(this->live_.Read()->key_types(), types);
}

TYPED_TEST(ChangesTest, MoreThanMayBeRecordedFailTheRebuildAndAreNotLost) {
  const KeyVector keys = RandomKeys(5001, /*seed=*/2);
  for (const bool advances : {false, true}) {
    ExpectError(
        [&] {
          this->live_.Rebuild({[&](RebuildContext& context) {
                                this->live_.Insert(Keys(keys).Slice(0, 5000));
                                context.Advance(1);
                                this->live_.Insert(Keys(keys).Slice(5000, 1));
                                if (advances) {
                                  context.Advance(1);
                                  ADD_FAILURE() << "the source might as well stop";
                                }
                                return FilterOf<TypeParam>({1});
                              }},
                              {.max_recorded = 5000});
        },
        ErrorCode::kOutOfMemory,
        "more than 5000 keys (max_recorded) were changed during the rebuild");
    EXPECT_EQ(this->live_.Read().generation(), 1u);
    EXPECT_EQ(this->live_.Read()->Count(keys), keys.size());
    EXPECT_EQ(this->live_.status().failure->code, ErrorCode::kOutOfMemory);
    EXPECT_EQ(this->live_.status().recorded, 0u);
  }
  const auto insert = [&] { this->live_.Insert(Keys(keys).Slice(0, 5000)); };
  EXPECT_EQ(this->live_.Rebuild(this->Source(insert), {.max_recorded = 5000}), 2u);
  EXPECT_EQ(this->live_.Read()->Count(keys), 5000u);
}

TYPED_TEST(ChangesTest, AFilterOfAnotherHashIsNotPublished) {
  const RebuildSource<TypeParam> source = {[](RebuildContext&) {
    return FilterOf<TypeParam>({1}, 1000, HashSpec{HashKind::kXxh3, 77});
  }};
  ExpectError([&] { this->live_.Rebuild(source); }, ErrorCode::kIncompatible,
              "differs from the hash of the recorded changes");
  EXPECT_EQ(this->live_.Read().generation(), 1u);
  Live<TypeParam> other({.hash = {HashKind::kXxh3, 77}});
  EXPECT_EQ(other.Rebuild(source), 1u);
}

TYPED_TEST(ChangesTest, ChangesFollowTheHashOfAFilterThatIsPublished) {
  const HashSpec hash{HashKind::kXxh64, 5};
  this->live_.Publish(FilterOf<TypeParam>({1}, 20'000, hash));
  this->live_.Rebuild({[&](RebuildContext&) {
    TypeParam filter = FilterOf<TypeParam>({2}, 20'000, hash);
    this->live_.Insert(KeyVector{3});
    return filter;
  }});
  EXPECT_EQ(this->live_.Read()->Count(KeyVector{2, 3}), 2u);
}

// A rebuild waits for the change, so it reads the key.
TYPED_TEST(ChangesTest, ARebuildSeesBothPartsOfAChangeOrNeither) {
  std::mutex mutex;
  KeyVector database = {1};
  Event inserted, commit;
  std::jthread client([&] {
    auto change = this->live_.BeginChange();
    change.Insert(KeyVector{42});
    inserted.Set();
    commit.Wait();
    const std::lock_guard lock(mutex);
    database.push_back(42);
  });
  inserted.Wait();
  std::atomic<bool> read = false;
  RebuildJob job = this->live_.StartRebuild({[&](RebuildContext&) {
    const std::lock_guard lock(mutex);
    read = true;
    return FilterOf<TypeParam>(database);
  }});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(read) << "the key is in no filter that is built now";
  this->live_.Insert(KeyVector{43});  // other changes continue
  commit.Set();
  EXPECT_EQ(job.Wait(), 2u);
  EXPECT_EQ(this->live_.Read()->Count(KeyVector{1, 42, 43}), 3u);
}

TYPED_TEST(ChangesTest, ARebuildThatWaitsForAChangeCanBeCancelled) {
  auto change = this->live_.BeginChange();
  RebuildJob job = this->live_.StartRebuild(this->Source([] {}));
  job.Cancel();
  ExpectError([&] { job.Wait(); }, ErrorCode::kCancelled, "cancelled");
}

// Each thread inserts its own keys and then finds them in the current filter, while another
// thread rebuilds from the committed keys.
TYPED_TEST(ChangesTest, NoInsertIsLostInAnyInterleaving) {
  constexpr int kThreads = 3;
  constexpr int kRebuilds = 60;
  std::mutex mutex;
  std::set<uint64_t> database = {1};
  std::atomic<uint64_t> missed = 0;
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t](const std::stop_token& stop) {
      Random random(t);
      KeyVector mine;
      while (!stop.stop_requested() && mine.size() < 6000) {
        const uint64_t key = Mix(t << 32 | mine.size());
        {
          auto change = this->live_.BeginChange();
          const bool first = random.Below(2) == 0;
          if (first) change.Insert(KeyVector{key});
          {
            const std::lock_guard lock(mutex);
            database.insert(key);
          }
          if (!first) change.Insert(KeyVector{key});
        }
        mine.push_back(key);
        const auto snapshot = this->live_.Read();
        missed += !snapshot->Contains(key) + !snapshot->Contains(mine[random.Below(mine.size())]);
      }
      while (!stop.stop_requested()) missed += mine.size() - this->live_.Read()->Count(mine);
    });
  }
  for (int i = 0; i < kRebuilds; ++i) {
    this->live_.Rebuild({[&](RebuildContext&) {
      const std::lock_guard lock(mutex);
      return FilterOf<TypeParam>({database.begin(), database.end()}, 50'000);
    }});
  }
  threads.clear();
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(this->live_.Read()->Count(KeyVector(database.begin(), database.end())),
            database.size());
  EXPECT_EQ(TypeParam::instances, 1);
}

class ErasesTest : public testing::Test {
 protected:
  using Source = RebuildSource<LockedCuckoo>;

  ErasesTest() { live_.Publish(FilterOf<LockedCuckoo>({1, 2, 3})); }

  // A source of these keys, which calls `then` after it has read them.
  static Source SourceOf(KeyVector keys, bool snapshot, std::function<void()> then) {
    Source source = {[keys, then](RebuildContext&) {
      LockedCuckoo filter = FilterOf<LockedCuckoo>(keys);
      then();
      return filter;
    }};
    if (snapshot) source.open_snapshot = [] {};
    return source;
  }

  Live<LockedCuckoo> live_;
};

TEST_F(ErasesTest, AreReplayedForASnapshot) {
  live_.Rebuild(SourceOf({1, 2, 3}, true, [&] {
    EXPECT_EQ(live_.Erase(KeyVector{2, 77}), 1u) << "77 is not in";
    EXPECT_FALSE(live_.Read()->Contains(uint64_t{2}));
    EXPECT_EQ(live_.status().recorded, 1u);
  }));
  EXPECT_EQ(live_.Read()->Count(KeyVector{1, 2, 3}), 2u);
  EXPECT_FALSE(live_.Read()->Contains(uint64_t{2}));
  EXPECT_EQ(live_.status().skipped_erases, 0u);
}

TEST_F(ErasesTest, AreNotReplayedWithoutASnapshot) {
  live_.Rebuild(SourceOf({1, 2, 3}, false, [&] { EXPECT_EQ(live_.Erase(KeyVector{2}), 1u); }));
  EXPECT_EQ(live_.Read()->Count(KeyVector{1, 2, 3}), 3u) << "2 stays maybe";
  EXPECT_EQ(live_.status().skipped_erases, 1u);
  live_.Rebuild(SourceOf({1, 3}, false, [] {}));
  EXPECT_EQ(live_.Read()->Count(KeyVector{1, 2, 3}), 2u);
  EXPECT_EQ(live_.status().skipped_erases, 0u);
}

TEST_F(ErasesTest, AreReplayedInTheOrderOfTheirCalls) {
  live_.Rebuild(SourceOf({1, 2, 3}, true, [&] {
    live_.Erase(KeyVector{1});
    live_.Insert(KeyVector{1});  // present once
    live_.Insert(KeyVector{9});
    live_.Erase(KeyVector{9});  // absent
    live_.Insert(KeyVector{9, 9});
    live_.Erase(KeyVector{9});  // present once
  }));
  EXPECT_EQ(live_.Read()->size(), 4u);
  EXPECT_EQ(live_.Read()->Count(KeyVector{1, 2, 3, 9}), 4u);
  EXPECT_EQ(live_.Erase(KeyVector{1, 2, 3, 9}), 4u);
  EXPECT_EQ(live_.Read()->size(), 0u);
}

// Returns two keys that a cuckoo filter cannot distinguish. If a filter has only one of them,
// erasing the other one erases it.
std::pair<uint64_t, uint64_t> Twins() {
  CuckooFilter<16> filter({.capacity = 1000});
  filter.Insert(uint64_t{0});
  uint64_t twin = 1;
  while (!filter.Contains(twin)) ++twin;
  return {0, twin};
}

TEST_F(ErasesTest, OfAKeyThatTheSourceLackedWouldTakeOutAnotherOne) {
  const std::pair twins = Twins();
  const uint64_t gone = twins.first, stays = twins.second;
  const auto filter_of = [](const KeyVector& keys) {
    return FilterOf<LockedCuckoo>(keys, /*capacity=*/1000);
  };
  live_.Publish(filter_of({gone, stays}));
  // The database erases the key, the snapshot is opened, and the filter erases the key: one change.
  KeyVector database = {gone, stays};
  Event erased, snapshot;
  std::jthread client;
  Source source;
  source.open_snapshot = [&] {  // changes are already recorded
    client = std::jthread([&] {
      auto change = live_.BeginChange();
      database.erase(database.begin());
      erased.Set();
      snapshot.Wait();
      EXPECT_EQ(change.Erase(KeyVector{gone}), 1u);
    });
    erased.Wait();
  };
  source.build = [&](RebuildContext&) {
    snapshot.Set();
    client.join();
    return filter_of(database);
  };
  live_.Rebuild(source);
  EXPECT_TRUE(live_.Read()->Contains(stays));
  EXPECT_EQ(live_.status().skipped_erases, 1u);
}

TEST_F(ErasesTest, ARebuiltFilterWithoutRoomIsNotPublished) {
  const KeyVector keys = RandomKeys(5000, /*seed=*/3);
  ExpectError(
      [&] {
        live_.Rebuild({[&](RebuildContext&) {
          LockedCuckoo filter = FilterOf<LockedCuckoo>({1}, 100);
          live_.Insert(keys);
          return filter;
        }});
      },
      ErrorCode::kInvalidArgument, "found no room in the new filter");
  EXPECT_EQ(live_.Read().generation(), 1u);
  EXPECT_EQ(live_.Read()->Count(keys), keys.size());
}

// A filter is often rebuilt because it is full. The new filter has the keys for which the old
// filter had no room.
TEST_F(ErasesTest, KeysRefusedByTheOldFilterAreInTheNewOne) {
  const KeyVector keys = RandomKeys(5000, /*seed=*/4);
  Live<LockedCuckoo> live;
  live.Publish(FilterOf<LockedCuckoo>({1}, 100));
  live.Rebuild(SourceOf({1}, false, [&] { EXPECT_LT(live.Insert(keys), keys.size()); }));
  EXPECT_EQ(live.Read()->Count(keys), keys.size());
}

// Threads insert and erase their own keys, in the database and in the filter, while another thread
// rebuilds from snapshots. The keys of the database are always found.
TEST_F(ErasesTest, NoKeyIsLostWhereOthersAreErased) {
  constexpr int kThreads = 3;
  std::mutex mutex;
  std::set<uint64_t> database = {1, 2, 3};
  std::atomic<uint64_t> missed = 0;
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t](const std::stop_token& stop) {
      Random random(100 + t);
      KeyVector mine;
      for (uint64_t i = 0; !stop.stop_requested(); ++i) {
        const bool filter_first = random.Below(2) == 0;
        if (mine.size() < 300 && random.Below(2) == 0) {
          const uint64_t key = Mix(t << 32 | i);
          auto change = live_.BeginChange();
          if (filter_first) change.Insert(KeyVector{key});
          {
            const std::lock_guard lock(mutex);
            database.insert(key);
          }
          if (!filter_first) change.Insert(KeyVector{key});
          mine.push_back(key);
        } else if (!mine.empty()) {
          std::swap(mine[random.Below(mine.size())], mine.back());
          const uint64_t key = mine.back();
          mine.pop_back();
          auto change = live_.BeginChange();
          if (filter_first) change.Erase(KeyVector{key});
          {
            const std::lock_guard lock(mutex);
            database.erase(key);
          }
          if (!filter_first) change.Erase(KeyVector{key});
        }
        if (i % 16 == 0) missed += mine.size() - live_.Read()->Count(mine);
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    KeyVector keys;
    Source source;
    source.open_snapshot = [&] {
      const std::lock_guard lock(mutex);
      keys.assign(database.begin(), database.end());
    };
    source.build = [&](RebuildContext&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      // With room for keys that came and went before the snapshot was opened.
      return FilterOf<LockedCuckoo>(keys, 500'000);
    };
    live_.Rebuild(source);
  }
  threads.clear();
  EXPECT_EQ(missed, 0u);
  EXPECT_EQ(live_.Read()->Count(KeyVector(database.begin(), database.end())), database.size());
}

}  // namespace tamis::changes_test
