// InsertIfAbsent of every filter kind reports and inserts the same as querying each key and then
// inserting it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "tamis/backends.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::contract_absent_test {

using AbsentContractTest = ContractTest;

constexpr size_t kSizes[] = {0, 1, 63, 64, 65, 1000, 2047, 5000};
constexpr unsigned kThreads[] = {1, 2, 4};

// The result for each key.
struct Told {
  std::vector<bool> fresh, rejected;

  size_t num_fresh() const {
    return static_cast<size_t>(std::count(fresh.begin(), fresh.end(), true));
  }
  size_t num_rejected() const {
    return static_cast<size_t>(std::count(rejected.begin(), rejected.end(), true));
  }
  bool operator==(const Told&) const = default;
};

Told OneByOne(const Subject& subject, Filter& filter, const Keys& keys,
              const std::vector<OneKey>& ones) {
  Told told{std::vector<bool>(ones.size()), std::vector<bool>(ones.size())};
  for (size_t i = 0; i < ones.size(); ++i) {
    if (!keys.IsValid(i) || subject.contains(filter, ones[i])) continue;
    const bool inserted = subject.insert(filter, ones[i]);
    (inserted ? told.fresh : told.rejected)[i] = true;
  }
  return told;
}

// Calls insert(fresh, rejected) with outputs that detect writes past their ends.
template <typename Insert>
Told InBulk(size_t n, const Insert& insert) {
  const auto fresh = GuardedArray<uint64_t>::Output(BitmapWords(n), 9);
  const auto rejected = GuardedArray<uint64_t>::Output(BitmapWords(n), 8);
  const size_t num_fresh = insert(Bitmap(fresh.span()), Bitmap(rejected.span()));
  EXPECT_TRUE(fresh.Intact() && rejected.Intact());
  Told told{std::vector<bool>(n), std::vector<bool>(n)};
  for (size_t i = 0; i < n; ++i) {
    told.fresh[i] = Bitmap(fresh.span()).Test(i);
    told.rejected[i] = Bitmap(rejected.span()).Test(i);
  }
  EXPECT_EQ(num_fresh, told.num_fresh());
  for (const auto* bits : {&fresh, &rejected}) {
    if (n % 64 != 0) {
      EXPECT_EQ(bits->span().back() >> (n % 64), 0u) << "bits past the last key";
    }
  }
  return told;
}

Told InBulk(Filter& filter, const Keys& keys) {
  return InBulk(keys.size(), [&](Bitmap fresh, Bitmap rejected) {
    return RequireChangeable(filter).InsertIfAbsent(keys, fresh, rejected);
  });
}

Told InBulk(const Engine& engine, Filter& filter, const Keys& keys) {
  return InBulk(keys.size(), [&](Bitmap fresh, Bitmap rejected) {
    return engine.InsertIfAbsent(RequireChangeable(filter), keys, fresh, rejected);
  });
}

// Returns n keys, about half of which are repeated earlier ones.
std::vector<uint64_t> HalfRepeats(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) {
    keys[i] = i > 0 && random.Below(2) == 0 ? keys[random.Below(i)] : random();
  }
  return keys;
}

std::vector<OneKey> Ones(const std::vector<uint64_t>& keys) { return {keys.begin(), keys.end()}; }

std::vector<uint8_t> RandomValidity(size_t bits, uint64_t seed) {
  Random random(seed);
  std::vector<uint8_t> bytes(bits / 8 + 1);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() | random());
  return bytes;
}

// Inserts in three calls, so that keys repeat in a call and from one call to the next.
TEST_P(AbsentContractTest, EveryFormOfKeysWithAndWithoutNulls) {
  for (const size_t n : kSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    const std::vector<uint8_t> validity = RandomValidity(n + 13, n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      for (const bool nulls : {false, true}) {
        const Keys all = nulls ? set.keys.WithValidity(validity.data(), 13) : set.keys;
        // Smaller than the number of keys, so that some keys are false positives or are refused.
        const AnyFilter want = Make(n - n / 4 + 1), got = Make(n - n / 4 + 1);
        for (const auto& [begin, end] : {std::pair{n / 3, n / 2}, {size_t{0}, n}, {n / 5, n}}) {
          SCOPED_TRACE(std::string(set.name) + (nulls ? " with nulls, " : ", ") +
                       std::to_string(begin) + " to " + std::to_string(end));
          const Keys keys = all.Slice(begin, end - begin);
          const auto first = set.ones.begin();
          const std::vector<OneKey> ones(first + static_cast<ptrdiff_t>(begin),
                                         first + static_cast<ptrdiff_t>(end));
          const Told told = OneByOne(subject(), *want, keys, ones);
          ASSERT_EQ(InBulk(*got, keys), told);
          ASSERT_EQ(Contents(*got), Contents(*want));
          ASSERT_EQ(got->key_types(), want->key_types());
        }
      }
    }
  }
}

TEST_P(AbsentContractTest, EveryBackend) {
  for (const Backend& backend : Backends()) {
    for (const size_t n : kSizes) {
      SCOPED_TRACE(std::string(backend.name) + ", " + std::to_string(n) + " keys");
      const std::vector<uint64_t> keys = HalfRepeats(n, /*seed=*/n);
      const AnyFilter want = Make(n + 1), got = Make(n + 1, &backend);
      ASSERT_EQ(InBulk(*got, keys), OneByOne(subject(), *want, keys, Ones(keys)));
      ASSERT_EQ(Contents(*got), Contents(*want));
      std::vector<uint64_t> none(BitmapWords(n));
      ASSERT_EQ(RequireChangeable(*got).InsertIfAbsent(keys, Bitmap(none)), 0u);
      ASSERT_EQ(none, std::vector<uint64_t>(BitmapWords(n)));
      ASSERT_EQ(Contents(*got), Contents(*want));
    }
  }
}

// A filter of several regions or chunks.
TEST_P(AbsentContractTest, EngineTellsTheSame) {
  constexpr size_t kKeys = 60'000;
  const std::vector<uint64_t> keys = HalfRepeats(kKeys, /*seed=*/1);
  const std::vector<uint8_t> validity = RandomValidity(kKeys + 5, /*seed=*/2);
  const auto make = [&] {
    return subject().make(
        {.capacity = subject().layered ? kKeys : 4'000'000, .memory = {.huge_pages = false}});
  };
  for (const Keys& all : {Keys(keys), Keys(keys).WithValidity(validity.data(), 5)}) {
    const AnyFilter want = make();
    const Told told = OneByOne(subject(), *want, all, Ones(keys));
    EXPECT_GT(told.num_fresh(), kKeys / 4);
    const auto contents = Contents(*want);
    for (const unsigned threads : kThreads) {
      for (const bool partitioned : {false, true}) {
        SCOPED_TRACE(std::to_string(threads) + (partitioned ? " threads, by region" : " threads"));
        const AnyFilter got = make();
        const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
        ASSERT_TRUE(InBulk(engine, *got, all) == told);
        ASSERT_TRUE(Contents(*got) == contents);
      }
    }
  }
}

// Exactly the new keys are reported as new, except for false positives.
TEST_P(AbsentContractTest, AgainstAnExactSet) {
  constexpr size_t kKeys = 40'000;
  constexpr size_t kBatch = 1111;
  const std::vector<uint64_t> keys = HalfRepeats(kKeys, /*seed=*/3);
  const AnyFilter filter = Make(kKeys);
  std::unordered_set<uint64_t> seen;
  size_t truly_new = 0, told_new = 0;
  for (size_t begin = 0; begin < kKeys; begin += kBatch) {
    const auto batch = std::span(keys).subspan(begin, std::min(kBatch, kKeys - begin));
    const Told told = InBulk(*filter, batch);
    EXPECT_EQ(told.num_rejected(), 0u);
    for (size_t i = 0; i < batch.size(); ++i) {
      const bool is_new = seen.insert(batch[i]).second;
      ASSERT_TRUE(is_new || !told.fresh[i]) << "a key that came before is told new";
      truly_new += is_new;
      told_new += told.fresh[i];
    }
    ASSERT_EQ(filter->inserted_count(), told_new);
  }
  EXPECT_EQ(filter->Count(keys), kKeys) << "false negatives";
  // The rate only grows, up to the current rate of the filter; within five standard deviations.
  const double most = filter->expected_fpr() * static_cast<double>(truly_new);
  EXPECT_LT(static_cast<double>(truly_new - told_new), most + 5 * std::sqrt(most) + 1);
}

TEST_P(AbsentContractTest, OneKey) {
  const AllLayouts layouts(300, /*seed=*/4);
  for (const AllLayouts::Set& set : layouts.sets()) {
    const AnyFilter want = Make(150), got = Make(150);
    const Told told = OneByOne(subject(), *want, set.keys, set.ones);
    for (size_t i = 0; i < set.ones.size(); ++i) {
      const bool inserted = contract::WithKey(set.ones[i], [&](auto key) {
        if constexpr (std::is_same_v<decltype(key), OneHash>) {
          return RequireChangeable(*got).InsertHashIfAbsent(key.value);
        } else {
          return RequireChangeable(*got).InsertIfAbsent(key);
        }
      });
      ASSERT_EQ(inserted, told.fresh[i]) << set.name << ", key " << i;
      ASSERT_EQ(subject().contains(*got, set.ones[i]), !told.rejected[i]);
    }
    EXPECT_EQ(Contents(*got), Contents(*want)) << set.name;
    EXPECT_EQ(got->key_types(), want->key_types()) << set.name;
  }
}

TEST_P(AbsentContractTest, AKeyThatIsInIsNotInsertedAgain) {
  const std::vector<uint64_t> keys = RandomKeys(1000, /*seed=*/5);
  const AnyFilter filter = Make(1000);
  RequireChangeable(*filter).Insert(keys);
  const auto before = Contents(*filter);
  for (int i = 0; i < 20; ++i) {
    const Told told = InBulk(*filter, keys);
    EXPECT_EQ(told.num_fresh() + told.num_rejected(), 0u);
  }
  EXPECT_EQ(Contents(*filter), before);
}

TEST_P(AbsentContractTest, OutputsThatAreTooSmallAreRefused) {
  const std::vector<uint64_t> keys = RandomKeys(129, /*seed=*/6);
  const AnyFilter filter = Make(200);
  const auto before = Contents(*filter);
  const Engine engine = PinnedEngine(Backends().front(), 2, true);
  const std::vector<uint64_t> untouched = {1, 2, 3};
  std::vector<uint64_t> whole = untouched, small = {4, 5};
  const auto refused = [&](const auto& act) {
    ExpectError(act, ErrorCode::kInvalidArgument, "the output has 2 words, and 129 keys need 3");
  };
  refused([&] { RequireChangeable(*filter).InsertIfAbsent(keys, Bitmap(small)); });
  refused([&] { RequireChangeable(*filter).InsertIfAbsent(keys, Bitmap(small), Bitmap(whole)); });
  refused([&] { RequireChangeable(*filter).InsertIfAbsent(keys, Bitmap(whole), Bitmap(small)); });
  refused([&] { engine.InsertIfAbsent(RequireChangeable(*filter), keys, Bitmap(small)); });
  refused([&] {
    engine.InsertIfAbsent(RequireChangeable(*filter), keys, Bitmap(small), Bitmap(whole));
  });
  refused([&] {
    engine.InsertIfAbsent(RequireChangeable(*filter), keys, Bitmap(whole), Bitmap(small));
  });
  EXPECT_EQ(whole, untouched);
  EXPECT_EQ(small, (std::vector<uint64_t>{4, 5}));
  EXPECT_EQ(Contents(*filter), before);
}

TEST_P(AbsentContractTest, AFilterThatIsReadOnlyIsAnError) {
  const std::vector<uint64_t> keys = RandomKeys(5000, /*seed=*/7);
  const AnyFilter filter = Make(5000);
  RequireChangeable(*filter).Insert(std::span(keys).first(2000));
  filter->Save(path_);
  const AnyFilter mapped = subject().map(path_, {});
  const AnyFilter moved = subject().moved(*filter);
  const Engine engine = PinnedEngine(Backends().front(), 2, true);
  for (Filter* const read_only : {&*mapped, &*filter}) {
    ExpectError([&] { InBulk(*read_only, keys); }, ErrorCode::kReadOnly, "cannot be changed");
    ExpectError([&] { InBulk(engine, *read_only, keys); }, ErrorCode::kReadOnly,
                "cannot be changed");
    EXPECT_FALSE(RequireChangeable(*read_only).InsertIfAbsent(keys[0]));
    EXPECT_FALSE(RequireChangeable(*read_only).InsertIfAbsent(keys[4999]));
  }
  EXPECT_EQ(mapped->inserted_count(), 2000u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AbsentContractTest, testing::ValuesIn(Subjects()), SubjectName());

// Filters that refuse keys.
class FullFiltersTest : public ContractTest {};

TEST_P(FullFiltersTest, RejectKeysWithoutRoom) {
  const std::vector<uint64_t> keys = HalfRepeats(20'000, /*seed=*/9);
  const auto make = [&](const Backend* backend) {
    return subject().make({.bytes = 8000, .backend = backend});
  };
  const AnyFilter want = make(nullptr);
  const Told told = OneByOne(subject(), *want, keys, Ones(keys));
  EXPECT_GT(told.num_fresh(), 3000u);
  EXPECT_GT(told.num_rejected(), 1000u);
  std::vector<uint64_t> fresh(BitmapWords(keys.size()));
  for (const Backend& backend : Backends()) {
    const AnyFilter got = make(&backend);
    ASSERT_EQ(InBulk(*got, keys), told) << backend.name;
    ASSERT_EQ(Contents(*got), Contents(*want)) << backend.name;
    const AnyFilter untold = make(&backend);
    EXPECT_EQ(RequireChangeable(*untold).InsertIfAbsent(keys, Bitmap(fresh)), told.num_fresh());
    EXPECT_EQ(Contents(*untold), Contents(*want)) << backend.name;
  }
  for (const unsigned threads : kThreads) {
    const AnyFilter got = make(nullptr);
    const Engine engine = PinnedEngine(Backends().front(), threads, true);
    ASSERT_EQ(InBulk(engine, *got, keys), told) << threads << " threads";
    ASSERT_EQ(Contents(*got), Contents(*want)) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FullFiltersTest,
                         testing::ValuesIn(SubjectsThat([](const Subject& s) {
                           return s.can.erase && s.kind != FilterKind::kCounting && !s.layered;
                         })),
                         SubjectName());

class ErasableAbsentTest : public ContractTest {};

TEST_P(ErasableAbsentTest, AKeyTakesOneErasure) {
  const AnyFilter any = Make(100);
  auto& filter = dynamic_cast<ErasableFilter&>(*any);
  EXPECT_TRUE(filter.InsertIfAbsent(uint64_t{1}));
  EXPECT_FALSE(filter.InsertIfAbsent(uint64_t{1}));
  EXPECT_EQ(filter.inserted_count(), 1u);
  EXPECT_TRUE(filter.Erase(uint64_t{1}));
  EXPECT_FALSE(filter.Contains(uint64_t{1}));
  EXPECT_TRUE(filter.InsertIfAbsent(uint64_t{1}));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ErasableAbsentTest,
    testing::ValuesIn(SubjectsThat([](const Subject& s) { return s.can.erase; })), SubjectName());

}  // namespace tamis::contract_absent_test
