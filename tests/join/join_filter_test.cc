// JoinFilter against std::set, each of its forms, and the mistakes that other engines have made.
#include "tamis/join/join_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/engine/calibration.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/hash_keys.h"
#include "tamis/join/join_probe.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::join_filter_test {

using Part = JoinFilter::Part;

std::vector<uint64_t> Dense(uint64_t first, size_t n, uint64_t step = 1) {
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) keys[i] = first + i * step;
  return keys;
}

// Makes a complete filter of one part.
std::unique_ptr<JoinFilter> Built(const JoinFilterOptions& options, const Keys& keys) {
  auto filter = std::make_unique<JoinFilter>(options);
  Part part = filter->MakePart(0);
  part.Insert(keys);
  filter->Add(std::move(part));
  filter->Complete(1);
  return filter;
}

// ---- The model ----

// One run: random options, keys and calls, compared with a std::set.
class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed) {
    options_.expected_keys = 1 + random_.Below(3000);
    options_.kept_keys = 1 + random_.Below(500);
    options_.max_bytes = 4096 + random_.Below(3) * 4096;
    if (random_.Below(4) == 0) options_.hash = {HashKind::kXxh64, random_()};
    if (random_.Below(4) == 0) options_.key_type = JoinKeyType::kHashes;
    first_ = random_.Below(2) == 0 ? uint64_t{0} - 1000 : random_();
    step_ = random_.Below(3) == 0 ? random_() | 1 : 1 + random_.Below(40);
    distinct_ = random_.Below(3) == 0 ? random_.Below(60) + 1 : random_.Below(4000) + 1;
    if (options_.key_type == JoinKeyType::kIntegers && random_.Below(2) == 0) {
      const uint64_t high = first_ + step_ * distinct_;
      options_.range = JoinKeyRange(first_, high);
      leaves_range_ = random_.Below(3) == 0;
    }
    filter_ = std::make_unique<JoinFilter>(options_);
    const uint32_t parts = 1 + static_cast<uint32_t>(random_.Below(5));
    for (uint32_t i = 0; i < parts; ++i) parts_.push_back(filter_->MakePart(i));
    added_.resize(parts);
  }

  // Returns the form that the run reached.
  JoinForm Do() {
    const size_t steps = 10 + random_.Below(30);
    for (size_t i = 0; i < steps; ++i) Step();
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      if (!added_[i]) Add(i);
    }
    ExpectMaybe();
    filter_->Complete(static_cast<uint32_t>(parts_.size()));
    ExpectComplete();
    return filter_->form();
  }

 private:
  uint64_t RandomKey() {
    if (leaves_range_ && random_.Below(1000) == 0) return first_ - 1 - random_.Below(9);
    return first_ + step_ * random_.Below(distinct_);
  }

  void Step() {
    const auto i = static_cast<uint32_t>(random_.Below(parts_.size()));
    switch (random_.Below(8)) {
      case 0:
        if (!added_[i] && random_.Below(2) == 0) Add(i);
        return;
      case 1:
        if (!added_[i]) parts_[i] = Part::FromBytes(parts_[i].Serialize());
        return;
      case 2:
        return ExpectMaybe();
      case 3:
        return ExpectRefusals();
      default:
        if (!added_[i]) Insert(parts_[i]);
    }
  }

  void Insert(Part& part) {
    const size_t n = random_.Below(400);
    std::vector<uint64_t> keys(n);
    for (uint64_t& key : keys) key = RandomKey();
    std::vector<uint8_t> validity(n / 8 + 1, 0xFF);
    if (random_.Below(3) == 0) {
      for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random_());
    }
    const Keys nullable = Keys(keys).WithValidity(validity.data());
    const uint64_t before = part.inserted_count();
    part.Insert(nullable);
    EXPECT_EQ(part.inserted_count() - before, nullable.CountValid());
    for (size_t i = 0; i < n; ++i) {
      if (nullable.IsValid(i)) set_.insert(keys[i]);
    }
    EXPECT_LE(part.bytes(), options_.max_bytes);
  }

  void Add(uint32_t i) {
    filter_->Add(std::move(parts_[i]));
    added_[i] = true;
  }

  void ExpectRefusals() {
    const auto all = static_cast<uint32_t>(parts_.size());
    const auto added = static_cast<uint32_t>(std::count(added_.begin(), added_.end(), true));
    if (added < all)
      ExpectError([&] { filter_->Complete(all); }, ErrorCode::kInvalidArgument, "missing");
    if (added > 0) {
      ExpectError([&] { filter_->Complete(added - 1); }, ErrorCode::kInvalidArgument, "parts");
      const auto again =
          static_cast<uint32_t>(std::find(added_.begin(), added_.end(), true) - added_.begin());
      ExpectError([&] { filter_->Add(filter_->MakePart(again)); }, ErrorCode::kInvalidArgument,
                  "added before");
    }
    EXPECT_FALSE(filter_->complete());
  }

  void ExpectMaybe() {
    const std::vector<uint64_t> keys = RandomKeys(1 + random_.Below(200), random_());
    EXPECT_EQ(filter_->Count(keys), keys.size());
    EXPECT_EQ(filter_->form(), JoinForm::kNothing);
    const std::vector<uint8_t> nulls(keys.size() / 8 + 1, 0);
    EXPECT_EQ(filter_->Count(Keys(keys).WithValidity(nulls.data())), 0u);
  }

  void ExpectComplete() {
    std::vector<uint64_t> keys(set_.begin(), set_.end());
    EXPECT_EQ(filter_->Count(keys), keys.size()) << "a wrong no";
    const size_t members = keys.size();
    for (size_t i = 0; i < 3000; ++i) {
      keys.push_back(i % 3 == 0 ? random_() : first_ + random_.Below(2 * step_ * distinct_ + 2));
    }
    std::vector<uint64_t> hashes(keys.size());
    HashKeys(keys, filter_->hash(), hashes);
    const bool exact = filter_->form() == JoinForm::kList || filter_->form() == JoinForm::kBitmap;
    const Answers answers = filter_->Contains(keys);
    const Answers by_hash = filter_->Contains(Hashes{hashes});
    size_t positives = 0, absent = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool in = set_.contains(keys[i]);
      if (in) {
        ASSERT_TRUE(answers[i]) << keys[i];
        ASSERT_TRUE(by_hash[i]) << keys[i];
      } else if (exact) {
        ASSERT_FALSE(answers[i]) << keys[i];
        ASSERT_EQ(by_hash[i], filter_->form() == JoinForm::kBitmap) << keys[i];
      }
      absent += !in;
      positives += !in && answers[i];
    }
    if (filter_->form() == JoinForm::kList) {
      EXPECT_EQ(filter_->estimated_count(), set_.size());
    }
    if (filter_->form() == JoinForm::kBlocks && set_.size() <= options_.expected_keys) {
      const double share = static_cast<double>(positives) / static_cast<double>(absent);
      EXPECT_LE(share, 0.05) << members;
    }
    EXPECT_EQ(filter_->form() == JoinForm::kBlocks, filter_->blocks() != nullptr);
    EXPECT_FALSE(filter_->choice().reason.empty());
    EXPECT_EQ(filter_->choice().form, filter_->form());
    EXPECT_LE(filter_->blocks() != nullptr ? filter_->bytes() : 0, options_.max_bytes);
    ExpectError([&] { filter_->Complete(1); }, ErrorCode::kReadOnly, "complete");
    ExpectError([&] { filter_->Add(filter_->MakePart(77)); }, ErrorCode::kReadOnly, "complete");
  }

  Random random_;
  JoinFilterOptions options_;
  uint64_t first_, step_, distinct_;
  bool leaves_range_ = false;
  std::unique_ptr<JoinFilter> filter_;
  std::vector<Part> parts_;
  std::vector<bool> added_;
  std::set<uint64_t> set_;
};

TEST(JoinFilterModelTest, AnyInterleaving_NeverSaysNoToAKey) {
  std::map<JoinForm, int> reached;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    ++reached[RandomRun(seed).Do()];
    if (HasFatalFailure()) return;
  }
  for (const JoinForm form :
       {JoinForm::kNothing, JoinForm::kList, JoinForm::kBitmap, JoinForm::kBlocks}) {
    EXPECT_GE(reached[form], 20) << JoinFormName(form);
  }
}

// Threads fill and add parts while others query. No query sees a half-built filter.
TEST(JoinFilterModelTest, Threads_SeeMaybeUntilTheFilterIsComplete) {
  for (const uint64_t kept : {uint64_t{100}, uint64_t{1} << 16}) {
    constexpr uint32_t kParts = 4;
    constexpr size_t kKeys = 5000;
    JoinFilter filter({.expected_keys = kParts * kKeys, .kept_keys = kept});
    const std::vector<uint64_t> all = RandomKeys(kParts * kKeys, /*seed=*/1);
    const std::vector<uint64_t> others = RandomKeys(4000, /*seed=*/2);
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    for (int reader = 0; reader < 2; ++reader) {
      threads.emplace_back([&] {
        for (bool last = false; !last;) {
          last = done;
          const size_t maybe = filter.Count(others);
          if (!filter.complete()) {
            EXPECT_EQ(maybe, others.size());
          }
          EXPECT_EQ(filter.Count(all), all.size());
        }
      });
    }
    std::vector<std::thread> writers;
    for (uint32_t i = 0; i < kParts; ++i) {
      writers.emplace_back([&, i] {
        Part part = filter.MakePart(i);
        part.Insert(Keys(all).Slice(i * kKeys, kKeys));
        filter.Add(std::move(part));
      });
    }
    for (std::thread& writer : writers) writer.join();
    filter.Complete(kParts);
    done = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_LT(filter.Count(others), others.size() / 20);
  }
}

// ---- The forms ----

TEST(JoinFilterTest, FewKeys_BecomeAListInAnyLayout) {
  const std::vector<int32_t> keys = {-7, 3, 1'000'000'000, 3, -7};
  const auto filter = Built({.expected_keys = 5}, keys);
  EXPECT_EQ(filter->form(), JoinForm::kList) << filter->choice().reason;
  EXPECT_EQ(filter->estimated_count(), 3);
  EXPECT_EQ(filter->range(), JoinKeyRange(-7, 1'000'000'000));
  EXPECT_TRUE(filter->Contains(static_cast<uint64_t>(int64_t{-7})));
  EXPECT_FALSE(filter->Contains(uint64_t{4}));
  EXPECT_EQ(filter->expected_fpr(), 0);
}

// Any 64 keys have a table, also those that differ in few bits.
TEST(JoinFilterTest, SixtyFourKeys_OfAnyPattern_AreExact) {
  for (int shift = 0; shift < 64; ++shift) {
    std::vector<uint64_t> keys;
    for (uint64_t i = 0; i < kMaxJoinListKeys; ++i) keys.push_back(std::rotl(i, shift));
    const auto filter = Built({.expected_keys = 64}, keys);
    ASSERT_EQ(filter->Count(keys), keys.size()) << shift;
    const std::vector<uint64_t> others = Dense(64, 1000, uint64_t{1} << shift | 1);
    size_t in = 0;
    for (const uint64_t other : others) in += std::ranges::count(keys, other) != 0;
    EXPECT_EQ(filter->Count(others), in) << shift;
  }
}

// With 16 KiB, a list of 64 keys has 1024 slots, and 64 attempts to place the keys. They fail for
// one of about 10,000 sets of random keys. This seed gives such a set.
TEST(JoinFilterTest, ListWithoutATable_IsFollowedByBlocks) {
  const std::vector<uint64_t> keys = RandomKeys(kMaxJoinListKeys, /*seed=*/15329);
  const auto filter = Built({.expected_keys = 64, .max_bytes = 16384}, keys);
  EXPECT_EQ(filter->form(), JoinForm::kBlocks) << filter->choice().reason;
  EXPECT_EQ(filter->Count(keys), keys.size());
  EXPECT_LT(filter->Count(RandomKeys(1000, 1)), 50u);
  const JoinChoice choice = filter->choice();
  const auto list = std::ranges::find(choice.candidates, JoinForm::kList, &JoinCandidate::form);
  ASSERT_NE(list, choice.candidates.end());
  EXPECT_EQ(list->error, "no table without collisions was found");
  EXPECT_EQ(Built({.expected_keys = 64}, keys)->form(), JoinForm::kList);
}

TEST(JoinFilterTest, NoKeys_AnswerNo) {
  for (const JoinKeyType type : {JoinKeyType::kIntegers, JoinKeyType::kHashes}) {
    const auto filter = Built({.expected_keys = 5, .key_type = type}, Keys());
    EXPECT_EQ(filter->form(), JoinForm::kList);
    EXPECT_EQ(filter->Count(RandomKeys(1000, 1)), 0u);
    EXPECT_FALSE(filter->range().has_value());
  }
  const auto ranged = Built({.expected_keys = 1000, .range = JoinKeyRange(0, 10'000)}, Keys());
  EXPECT_EQ(ranged->form(), JoinForm::kBitmap);
  EXPECT_EQ(ranged->Count(Dense(0, 20'000)), 0u);
}

TEST(JoinFilterTest, DenseKeys_BecomeABitmap_WithAndWithoutAKnownRange) {
  std::vector<uint64_t> keys = Dense(uint64_t{0} - 500, 1000, 4);
  for (const bool known : {false, true}) {
    JoinFilterOptions options = {.expected_keys = 1000};
    if (known) options.range = JoinKeyRange(-500, 3500);
    const auto filter = Built(options, keys);
    EXPECT_EQ(filter->form(), JoinForm::kBitmap) << filter->choice().reason;
    EXPECT_EQ(filter->Count(Dense(uint64_t{0} - 5000, 20'000)), 1000u);
    EXPECT_EQ(filter->estimated_count(), 1000);
  }
}

TEST(JoinFilterTest, SparseKeys_BecomeBlocksOfTheRightSize) {
  const std::vector<uint64_t> keys = RandomKeys(2000, 1);
  // Expects far too many keys; the blocks still fit the keys.
  const auto filter = Built({.expected_keys = 1'000'000}, keys);
  ASSERT_EQ(filter->form(), JoinForm::kBlocks) << filter->choice().reason;
  EXPECT_EQ(filter->bytes(), SplitBlockBlocks(2000, 0.01) * 32);
  EXPECT_EQ(Engine().Count(*filter->blocks(), keys), keys.size());
}

TEST(JoinFilterTest, Strings_AndTheirHashes) {
  const std::vector<std::string> strings = {"a", "bc", "", "a"};
  const auto filter = Built({.expected_keys = 3, .key_type = JoinKeyType::kHashes}, strings);
  EXPECT_EQ(filter->form(), JoinForm::kList);
  EXPECT_EQ(filter->Count(strings), 4u);
  EXPECT_FALSE(filter->Contains(std::string_view("b")));
  EXPECT_TRUE(filter->ContainsHash(HashBytes("bc", filter->hash())));
  EXPECT_TRUE(filter->key_types().Has(KeyType::kBytes));
}

TEST(JoinFilterTest, KeysOfAnotherType_AreRefusedBeforeAnyChange) {
  JoinFilter filter({.expected_keys = 3});
  Part part = filter.MakePart(0);
  const std::vector<std::string> strings = {"a"};
  const std::vector<uint64_t> hashes = {1};
  ExpectError([&] { part.Insert(strings); }, ErrorCode::kInvalidArgument, "integers");
  ExpectError([&] { part.Insert(Hashes{hashes}); }, ErrorCode::kInvalidArgument, "integers");
  ExpectError([&] { filter.Count(strings); }, ErrorCode::kInvalidArgument, "integers");
  EXPECT_EQ(part.inserted_count(), 0u);
  EXPECT_EQ(filter.Count(Hashes{hashes}), 1u);
}

// Keys outside of the extent of all parts are never probed; keys within are.
TEST(JoinFilterTest, Blocks_CheckTheRangeFirst) {
  std::vector<uint64_t> keys = RandomKeys(5000, 1);
  for (uint64_t& key : keys) key = key % 1'000'000'000'000 + 5;
  const auto filter = Built({.expected_keys = 5000, .fpr = 0.5}, keys);
  ASSERT_EQ(filter->form(), JoinForm::kBlocks);
  EXPECT_EQ(filter->Count(Dense(2'000'000'000'000, 100'000)), 0u);
  // A run in the range, then one far out of it, then mixed rows.
  std::vector<uint64_t> rows;
  for (int i = 0; i < 20; ++i) rows.insert(rows.end(), keys.begin(), keys.end());
  const size_t members = rows.size();
  for (const uint64_t key : Dense(uint64_t{1} << 60, 50'000)) rows.push_back(key);
  for (size_t i = 0; i < 50'000; ++i) rows.push_back(i % 2 == 0 ? keys[i % 5000] : ~i);
  EXPECT_GE(filter->Count(rows), members + 25'000);
  // The answer for a key does not depend on the other keys of a call.
  const Answers answers = filter->Contains(rows);
  for (size_t i = 0; i < rows.size(); i += 97) {
    ASSERT_EQ(filter->Contains(rows[i]), answers[i]) << i;
  }
}

TEST(JoinFilterTest, Choice_TakesTheFastestCacheFirst) {
  const JoinChoice in_l2 =
      JoinFilter({.expected_keys = 1000, .range = JoinKeyRange(0, 4000)}).choice();
  EXPECT_EQ(in_l2.form, JoinForm::kBitmap);
  EXPECT_EQ(in_l2.candidates.front().place, JoinPlace::kL2);
  // A bitmap of 12.5 MB does not fit the second-level cache, but 1.3 KB of blocks do.
  const JoinChoice blocks =
      JoinFilter({.expected_keys = 1000, .range = JoinKeyRange(0, 100'000'000)}).choice();
  EXPECT_EQ(blocks.form, JoinForm::kBlocks);
  EXPECT_NE(blocks.reason.find("second-level"), std::string::npos) << blocks.reason;
  EXPECT_EQ(blocks.candidates.size(), 3u);
  EXPECT_FALSE(blocks.candidates.back().possible());
  // Calibrated costs decide among equals.
  Calibration slow;
  for (Calibration::Point& point : slow.points) point.contains_ns *= 10;
  const JoinChoice calibrated = JoinFilter({.expected_keys = 1000, .calibration = &slow}).choice();
  EXPECT_GT(calibrated.candidates.front().ns_per_row, blocks.candidates.front().ns_per_row);
}

TEST(JoinFilterTest, BadOptions_Throw) {
  const auto refuses = [](const JoinFilterOptions& options, const char* text) {
    ExpectError([&] { JoinFilter filter(options); }, ErrorCode::kInvalidArgument, text);
  };
  refuses({}, "expected_keys");
  refuses({.expected_keys = 1, .fpr = 0}, "fpr");
  refuses({.expected_keys = 1, .fpr = std::nan("")}, "fpr");
  refuses({.expected_keys = 1, .max_bytes = 4095}, "max_bytes");
  refuses({.expected_keys = 1, .kept_keys = 0}, "kept_keys");
  refuses({.expected_keys = 1, .l2_bytes = 2, .l3_bytes = 1}, "l2_bytes");
  refuses({.expected_keys = 1, .hash = HashSpec{HashKind::kSipHash13, 0, {1, 2}}}, "secret");
  refuses({.expected_keys = 1, .key_type = JoinKeyType::kHashes, .range = JoinKeyRange(0, 1)},
          "range");
}

// ---- Mistakes of other engines, which cannot happen here ----

// duckdb#22075: a filter was probed before it was complete.
TEST(JoinFilterFaultTest, ProbedBeforeComplete_AnswersMaybe) {
  JoinFilter filter({.expected_keys = 2});
  Part part = filter.MakePart(0);
  const std::vector<uint64_t> keys = {1, 2};
  part.Insert(keys);
  filter.Add(std::move(part));
  EXPECT_EQ(filter.Count(RandomKeys(1000, 1)), 1000u);
  EXPECT_EQ(filter.bytes(), 0u);
  JoinProbe probe(filter);
  EXPECT_FALSE(probe.Wanted(1000)) << "nothing to gain yet";
  filter.Complete(1);
  EXPECT_EQ(filter.Count(RandomKeys(1000, 1)), 0u);
  EXPECT_TRUE(probe.Wanted(1000));
}

// duckdb#25702: a filter was built from the first partition only.
TEST(JoinFilterFaultTest, OnlyTheFirstPart_IsRefused) {
  JoinFilter filter({.expected_keys = 8});
  for (const uint32_t i : {0, 2}) {
    Part part = filter.MakePart(i);
    const std::vector<uint64_t> keys = {i};
    part.Insert(keys);
    filter.Add(std::move(part));
  }
  ExpectError([&] { filter.Complete(4); }, ErrorCode::kInvalidArgument,
              "parts are missing: 1, 3; expected are 4, added were 2");
  ExpectError([&] { filter.Complete(2); }, ErrorCode::kInvalidArgument, "missing: 1");
  ExpectError([&] { filter.Complete(1000); }, ErrorCode::kInvalidArgument, "1, 3, 4, ...");
  // The same part twice does not make up for a missing one.
  ExpectError([&] { filter.Add(filter.MakePart(2)); }, ErrorCode::kInvalidArgument,
              "part 2 was added before");
  EXPECT_EQ(filter.Count(RandomKeys(100, 1)), 100u);
  filter.Add(filter.MakePart(3));
  filter.Add(filter.MakePart(1));
  filter.Complete(4);
  EXPECT_EQ(filter.Count(Dense(0, 8)), 2u);
}

// StarRocks#67021: partial filters of other sizes were merged.
TEST(JoinFilterFaultTest, PartsOfAnotherLayout_AreRefusedByName) {
  JoinFilter filter({.expected_keys = 1000});
  const JoinFilter larger({.expected_keys = 2000});
  const JoinFilter ranged({.expected_keys = 1000, .range = JoinKeyRange(-5, 900)});
  const JoinFilter seeded({.expected_keys = 1000, .hash = {HashKind::kXxh3, 77}});
  const std::string own =
      "than the join filter (integers, xxh3 with seed 0, 65536 keys, then 42 blocks";
  for (const auto& [other, text] :
       {std::pair(&larger, "65536 keys, then 83 blocks"), std::pair(&ranged, "from -5 to 900"),
        std::pair(&seeded, "seed 77")}) {
    Part part = other->MakePart(0);
    const std::vector<uint64_t> keys = {1};
    part.Insert(keys);
    ExpectError([&] { filter.Add(std::move(part)); }, ErrorCode::kIncompatible, text);
    ExpectError([&] { filter.Add(std::move(part)); }, ErrorCode::kIncompatible, own);
    ExpectError([&] { filter.Add(Part::FromBytes(part.Serialize())); }, ErrorCode::kIncompatible,
                "another layout");
    EXPECT_EQ(part.inserted_count(), 1u) << "a refused part is unchanged";
  }
  EXPECT_EQ(filter.parts_added(), 0u);
}

// doris#34082: a part over the limit lost keys.
TEST(JoinFilterFaultTest, PartsOverALimit_TurnTheFilterIntoNothing) {
  struct Case {
    JoinFilterOptions options;
    std::vector<uint64_t> keys;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {{.expected_keys = 1'000'000, .max_bytes = 8192}, RandomKeys(5000, 1), "8192 bytes"},
      {{.expected_keys = 1000, .range = JoinKeyRange(0, 4000)}, Dense(3990, 20), "known range"}};
  for (const Case& test : cases) {
    JoinFilter filter(test.options);
    const std::vector<uint64_t> few = {1, 2, 3};
    for (uint32_t i = 0; i < 3; ++i) {
      Part part = filter.MakePart(i);
      part.Insert(i == 1 ? Keys(test.keys) : Keys(few));
      EXPECT_EQ(part.contents() == JoinForm::kNothing, i == 1);
      filter.Add(Part::FromBytes(part.Serialize()));
    }
    filter.Complete(3);
    EXPECT_EQ(filter.form(), JoinForm::kNothing);
    EXPECT_NE(filter.choice().reason.find(test.reason), std::string::npos)
        << filter.choice().reason;
    EXPECT_EQ(filter.Count(RandomKeys(1000, 9)), 1000u);
    EXPECT_EQ(filter.expected_fpr(), 1);
  }
}

// ClickHouse#96779: a filter that filtered nothing was kept.
TEST(JoinFilterFaultTest, FilterThatRemovesNothing_IsSwitchedOff) {
  const std::vector<uint64_t> keys = RandomKeys(10'000, 1);
  const auto filter = Built({.expected_keys = 10'000}, keys);
  JoinProbe probe(*filter);
  std::vector<uint32_t> out(1000);
  uint64_t rows = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!probe.Wanted(1000)) continue;
    probe.Select(Keys(keys).Slice(0, 1000), out);
    rows += 1000;
  }
  EXPECT_NE(probe.verdict(), JoinVerdict::kKeep);
  EXPECT_LT(rows, 2000 * 1000 / 20);
  EXPECT_EQ(probe.counters().skipped, 2'000'000 - rows);
}

// datafusion#17523: lists of keys stopped at 128 KiB, and more keys filtered nothing.
TEST(JoinFilterFaultTest, ManyKeys_StillFilter) {
  for (const size_t n : {65, 16'384, 16'385, 300'000}) {
    const std::vector<uint64_t> keys = RandomKeys(n, 1);
    const auto filter = Built({.expected_keys = n}, keys);
    EXPECT_EQ(filter->form(), JoinForm::kBlocks) << n;
    EXPECT_EQ(filter->Count(keys), n);
    EXPECT_LT(filter->Count(RandomKeys(100'000, 2)), 2000u) << n;
  }
}

TEST(JoinFilterTest, Lists_StayWithinMaxBytes) {
  for (const uint64_t max_bytes : {4096, 8192, 16384, 65536}) {
    for (const uint64_t n : {1, 10, 33, 64}) {
      JoinFilter filter({.expected_keys = n, .max_bytes = max_bytes});
      JoinFilter::Part part = filter.MakePart(0);
      part.Insert(RandomKeys(n, n));
      filter.Add(std::move(part));
      filter.Complete(1);
      EXPECT_LE(filter.bytes(), max_bytes) << n;
      EXPECT_EQ(filter.Count(RandomKeys(n, n)), n) << max_bytes;
    }
  }
}

// Blocks are sized for the keys, not for their copies in several parts.
TEST(JoinFilterTest, CopiesInOtherParts_DoNotCount) {
  uint64_t bytes[2];
  for (const uint32_t parts : {1u, 16u}) {
    JoinFilter filter({.expected_keys = 4000});
    for (uint32_t i = 0; i < parts; ++i) {
      JoinFilter::Part part = filter.MakePart(i);
      part.Insert(RandomKeys(4000, 1));
      filter.Add(std::move(part));
    }
    filter.Complete(parts);
    EXPECT_EQ(filter.form(), JoinForm::kBlocks);
    bytes[parts / 16] = filter.bytes();
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(JoinFilterTest, KeyTypes_AreThoseOfTheParts) {
  JoinFilter filter({.expected_keys = 1});
  EXPECT_TRUE(filter.key_types().Admit(KeyType::kTime));
  JoinFilter::Part part = filter.MakePart(0);
  const std::vector<uint64_t> keys = {1};
  part.Insert(Keys(keys).WithKeyType(KeyType::kTime));
  filter.Add(std::move(part));
  filter.Complete(1);
  EXPECT_TRUE(filter.key_types().Admit(KeyType::kTime));
  EXPECT_FALSE(filter.key_types().Admit(KeyType::kInteger));
}

}  // namespace tamis::join_filter_test
