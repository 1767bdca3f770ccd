// Tests every interleaving of the steps of a query with the steps of a writer, on tables of a few
// buckets: a key that stays in the table is never missed.
//
// Queries do not influence a writer. So its stores, to buckets and to the log, are recorded once.
// Each read of a query sees the memory after some number of these stores, at least as many as the
// read before. The test tries all such sequences, with the buckets in both orders. The log is so
// short that entries are overwritten while they are read.
#include "live/src/move_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/src/filters/kinds/cuckoo/cuckoo_chunk.h"
#include "tests/test_util.h"

namespace tamis::move_log_test {

constexpr int kBits = 8;
constexpr uint32_t kBuckets = 4;
using Word = cuckoo::Word<kBits>;
using Table = std::array<Word, kBuckets>;

using Entry = detail::MoveLog::Entry;
constexpr uint64_t kLogEntries = 3;

// A table and its log at one point in time.
struct State {
  Table table = {};
  std::array<Entry, kLogEntries> log = {};
  uint64_t count = 0;
};

struct RecordedBuckets {
  static constexpr bool kShared = true;

  Word Load(const Word& bucket) const { return bucket; }
  void Store(Word& bucket, Word word) const {
    bucket = word;
    states->push_back(states->back());
    states->back().table[static_cast<size_t>(&bucket - table->data())] = word;
  }
  // Like MoveLog::Add.
  void Copied(uint32_t a, uint32_t b) const {
    states->push_back(states->back());
    State& state = states->back();
    state.log[state.count % kLogEntries] = {detail::MoveLog::IdOf(0, a),
                                            detail::MoveLog::IdOf(0, b)};
    states->push_back(state);
    ++states->back().count;
  }

  Table* table;
  std::vector<State>* states;
};
using Chunk = detail::CuckooChunk<kBits, RecordedBuckets>;

// The source of all reads of a query under test. Read number i sees state at[i], or, if the
// sequence is shorter, the state of the previous read.
struct Clock {
  const std::vector<State>* states;
  std::vector<size_t> at = {};
  size_t reads = 0;

  const State& Next() {
    if (reads == at.size()) at.push_back(at.empty() ? 0 : at.back());
    return (*states)[at[reads++]];
  }
  // Moves to the next sequence that does not go back in time. Returns false after the last one.
  // Reads after the changed read may depend on it.
  bool Advance() {
    at.resize(reads);
    reads = 0;
    while (!at.empty() && at.back() + 1 == states->size()) at.pop_back();
    if (at.empty()) return false;
    ++at.back();
    return true;
  }
};
Clock* g_clock = nullptr;  // global because LookAt takes buckets with static functions

struct ReplayedBuckets {
  static Word Load(const Word& bucket) {
    const State& state = g_clock->Next();
    return state.table[static_cast<size_t>(&bucket - g_clock->states->front().table.data())];
  }
};
struct ReplayedLog {
  static constexpr uint64_t kEntries = kLogEntries;

  uint64_t Count() const { return g_clock->Next().count; }
  Entry At(uint64_t at) const { return g_clock->Next().log[at % kEntries]; }
};

struct Key {
  uint32_t bucket;
  uint32_t fingerprint;

  uint32_t other() const { return cuckoo::AlternateBucket(bucket, fingerprint, kBuckets); }
};

// Counts the results of queries for a key over all sequences of states.
struct Ends {
  size_t misses = 0;
  size_t unsure = 0;
};
Ends LookUp(const std::vector<State>& states, uint32_t first, uint32_t second,
            uint32_t fingerprint) {
  Ends ends;
  Clock clock = {&states};
  g_clock = &clock;
  const Table& table = states.front().table;
  do {
    const detail::Found found = detail::LookAt<kBits, ReplayedBuckets>(
        ReplayedLog(), detail::MoveLog::IdOf(0, first), table[first], table[second], fingerprint);
    ends.misses += found == detail::Found::kNo;
    ends.unsure += found == detail::Found::kUnsure;
  } while (clock.Advance());
  return ends;
}

// A table with some keys, some of which stay, and a writer.
class Trial {
 public:
  explicit Trial(uint64_t seed) : random_(seed) {
    states_.emplace_back();
    for (int i = 0; i < 40; ++i) Insert(RandomKey());
    // Earlier records do not matter.
    states_.erase(states_.begin(), states_.end() - 1);
    staying_ = keys_;
  }

  // Makes a few changes: erases keys, inserts keys, and inserts copies of keys.
  void Change() {
    const uint64_t changes = 1 + random_.Below(5);
    for (uint64_t i = 0; i < changes && states_.size() < 10; ++i) {
      const uint64_t choice = random_.Below(4);
      if (choice == 0 && keys_.size() > 4) {
        Erase(random_.Below(keys_.size()));
      } else if (choice == 1 && !added_.empty()) {
        const Key key = added_.back();
        added_.pop_back();
        EraseKey(key);
      } else {
        // A copy, in the same bucket or in the other one; or another key.
        Key key = choice == 2 ? keys_[random_.Below(keys_.size())] : RandomKey();
        if (random_.Below(2) == 0) key.bucket = key.other();
        if (Insert(key)) added_.push_back(key);
      }
    }
  }

  const std::vector<State>& states() const { return states_; }
  const std::vector<Key>& staying() const { return staying_; }
  bool moved() const { return moved_; }
  bool erased_a_copy() const { return erased_a_copy_; }

 private:
  Key RandomKey() {
    return {static_cast<uint32_t>(random_.Below(kBuckets)),
            static_cast<uint32_t>(1 + random_.Below(random_.Below(2) == 0 ? 6 : 255))};
  }
  Chunk Writer() { return Chunk(table_.data(), kBuckets, {&table_, &states_}); }
  bool Insert(const Key& key) {
    const size_t before = states_.size();
    if (!Writer().Insert(key.bucket, key.fingerprint)) return false;
    moved_ |= states_.size() > before + 1;
    keys_.push_back(key);
    return true;
  }
  // Erases a key that has stayed so far. From now on it need not be found, but its copies must be.
  void Erase(uint64_t index) {
    const Key key = keys_[index];
    keys_.erase(keys_.begin() + static_cast<ptrdiff_t>(index));
    std::erase_if(added_, [&](const Key& other) { return Same(key, other); });
    EraseFrom(staying_, key);
    EraseFingerprint(key);
  }
  void EraseKey(const Key& key) {
    EraseFrom(keys_, key);
    EraseFingerprint(key);
  }
  void EraseFingerprint(const Key& key) {
    erased_a_copy_ |= Writer().Copies(key.bucket, key.fingerprint) > 1;
    ASSERT_TRUE(Writer().Erase(key.bucket, key.fingerprint));
  }
  static bool Same(const Key& a, const Key& b) {
    return a.fingerprint == b.fingerprint && (a.bucket == b.bucket || a.bucket == b.other());
  }
  static void EraseFrom(std::vector<Key>& keys, const Key& key) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!Same(keys[i], key)) continue;
      keys.erase(keys.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
  }

  Random random_;
  Table table_ = {};
  std::vector<State> states_;
  std::vector<Key> keys_, staying_, added_;
  bool moved_ = false, erased_a_copy_ = false;
};

TEST(MoveLogTest, KeysThatStayAreNeverMissed) {
  size_t moves = 0, copies = 0, unsure = 0, longest = 0;
  uint64_t logged = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Trial trial(seed);
    trial.Change();
    const std::vector<State>& states = trial.states();
    if (states.size() < 3 || states.size() > 15) continue;
    moves += trial.moved();
    copies += trial.erased_a_copy();
    longest = std::max(longest, states.size());
    logged = std::max(logged, states.back().count - states.front().count);
    for (const Key& key : trial.staying()) {
      for (const auto& [first, second] :
           {std::pair(key.bucket, key.other()), std::pair(key.other(), key.bucket)}) {
        const Ends ends = LookUp(states, first, second, key.fingerprint);
        ASSERT_EQ(ends.misses, 0) << seed;
        unsure += ends.unsure;
      }
    }
  }
  EXPECT_GT(moves, 50);
  EXPECT_GT(copies, 20);
  EXPECT_GT(unsure, 100);
  EXPECT_GE(longest, 8);
  EXPECT_GE(logged, kLogEntries);
}

TEST(MoveLogTest, AbsentKeysAreMissedIfNothingMoves) {
  const Trial trial(1);
  const Ends ends = LookUp({trial.states().back()}, 0, 1, 255);
  EXPECT_EQ(ends.misses, 1);
  EXPECT_EQ(ends.unsure, 0);
}

// Entries that may have been overwritten, even while they are read, do not count.
TEST(MoveLogTest, OverwrittenEntriesAreNotRead) {
  std::vector<State> states(1);
  std::array<uint32_t, kBuckets> some = {0, 1, 2, 3};
  for (uint32_t move = 0; move < 2 * kLogEntries; ++move) {
    RecordedBuckets{nullptr, &states}.Copied(some[move % kBuckets], some[(move + 1) % kBuckets]);
  }
  Clock clock = {&states};
  g_clock = &clock;
  size_t known = 0, unknown = 0;
  do {
    const uint64_t since = ReplayedLog().Count();
    uint64_t next = since;
    bool right = true;
    const bool all = detail::ForEachMove(ReplayedLog(), since, [&](Entry move) {
      right &= move.a == detail::MoveLog::IdOf(0, some[next++ % kBuckets]);
    });
    ASSERT_TRUE(right || !all) << since;
    known += all;
    unknown += !all;
  } while (clock.Advance());
  EXPECT_GT(known, 100);
  EXPECT_GT(unknown, 100);
}

TEST(MoveLogTest, HasTheLastMoves) {
  const auto log = std::make_unique<detail::MoveLog>();
  constexpr uint64_t kAll = detail::MoveLog::kEntries;
  for (uint64_t i = 0; i < 3 * kAll; ++i) {
    log->Add({static_cast<uint16_t>(i), static_cast<uint16_t>(i + 1)});
    for (const uint64_t ago : {uint64_t{0}, uint64_t{1}, kAll - 2, kAll - 1, kAll}) {
      if (ago > i + 1) continue;
      uint64_t next = i + 1 - ago;
      const bool all = detail::ForEachMove(*log, next, [&](Entry move) {
        EXPECT_EQ(move.a, static_cast<uint16_t>(next));
        EXPECT_EQ(move.b, static_cast<uint16_t>(++next));
      });
      ASSERT_EQ(all, ago < kAll);
      if (all) {
        ASSERT_EQ(next, i + 1);
      }
    }
  }
}

}  // namespace tamis::move_log_test
