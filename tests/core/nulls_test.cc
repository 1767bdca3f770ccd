// Keys with a validity bitmap: nulls are not in any answer, and are neither inserted nor erased,
// whatever values they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/backends.h"
#include "tamis/engine/build.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/contract.h"
#include "tests/core/contract_outputs.h"
#include "tests/test_util.h"

namespace tamis::nulls_test {

constexpr size_t kSizes[] = {0, 1, 7, 65, 513, 2047, 5000};

// Random validity of n keys, with its bitmap. The bitmap ends where readable memory ends, and bits
// that do not belong to a key are random.
class Validity {
 public:
  Validity(size_t n, uint64_t first_bit, uint64_t seed)
      : valid_(n),
        first_bit_(first_bit),
        bitmap_(GuardedArray<uint8_t>::Output((first_bit + n + 7) / 8, 0)) {
    Random random(seed);
    for (size_t i = 0; i < bitmap_.size(); ++i) {
      bitmap_.data()[i] = static_cast<uint8_t>(random());
    }
    const uint64_t of = 1 + random.Below(8);  // 1 of 1: all are valid
    const bool in_runs = random.Below(2) == 0;
    for (size_t i = 0; i < n; ++i) {
      valid_[i] =
          of == 1 || (in_runs && i % 300 > 40 && i > 0 ? valid_[i - 1] : random.Below(of) != 0);
      const uint64_t bit = first_bit + i;
      uint8_t& byte = bitmap_.data()[bit / 8];
      byte = static_cast<uint8_t>((byte & ~(1 << (bit % 8))) | (valid_[i] << (bit % 8)));
    }
  }

  const std::vector<bool>& valid() const { return valid_; }
  size_t count() const {
    return static_cast<size_t>(std::count(valid_.begin(), valid_.end(), true));
  }
  Keys Of(const Keys& keys) const { return keys.WithValidity(bitmap_.data(), first_bit_); }

 private:
  std::vector<bool> valid_;
  uint64_t first_bit_;
  GuardedArray<uint8_t> bitmap_;
};

// Changes the filter by the valid keys one by one. Returns the indices of the nulls, and of keys
// whose change was not possible.
template <typename ChangeOne>
std::vector<uint64_t> ChangeOnes(const std::vector<OneKey>& keys, const std::vector<bool>& valid,
                                 const ChangeOne& change) {
  std::vector<uint64_t> rejected;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!valid[i] || !change(keys[i])) rejected.push_back(i);
  }
  return rejected;
}

std::vector<uint64_t> Rejected(size_t n, const auto& act) {
  std::vector<uint64_t> rejected(n, 12345);
  rejected.resize(n - act(std::span<uint64_t>(rejected)));
  return rejected;
}

TEST(NullsTest, KeysKnowWhichAreValid) {
  const std::vector<uint64_t> values(300);
  for (uint64_t first_bit = 0; first_bit <= 70; ++first_bit) {
    const Validity validity(values.size(), first_bit, /*seed=*/first_bit);
    const Keys keys = validity.Of(values);
    EXPECT_EQ(keys.CountValid(), validity.count());
    for (size_t begin = 0; begin < values.size(); begin += 37) {
      const Keys slice = keys.Slice(begin, values.size() - begin);
      for (size_t i = 0; i < slice.size(); ++i) {
        ASSERT_EQ(slice.IsValid(i), validity.valid()[begin + i]);
      }
      EXPECT_EQ(slice.CountValid(),
                std::count(validity.valid().begin() + begin, validity.valid().end(), true));
    }
    EXPECT_EQ(keys.WithValidity(nullptr).CountValid(), values.size());
  }
  EXPECT_EQ(Keys(values).CountValid(), values.size());
  EXPECT_TRUE(Keys(values).IsValid(299));
}

using NullsContractTest = ContractTest;

// Compares keys of every layout, half of them present, with the functions for one key.
class Asked {
 public:
  Asked(const Subject& subject, const AllLayouts::Set& set)
      : filter(subject.make({.capacity = set.ones.size() + 8})), in(set.ones.size()) {
    for (size_t i = 0; i < in.size(); i += 2) (void)subject.insert(*filter, set.ones[i]);
    for (size_t i = 0; i < in.size(); ++i) in[i] = subject.contains(*filter, set.ones[i]);
  }
  std::vector<bool> And(const std::vector<bool>& valid) const {
    std::vector<bool> both(in.size());
    for (size_t i = 0; i < in.size(); ++i) both[i] = in[i] && valid[i];
    return both;
  }

  AnyFilter filter;
  std::vector<bool> in;
};

TEST_P(NullsContractTest, AreInNoAnswer) {
  size_t nulls_in = 0;
  for (const size_t n : kSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      const Asked asked(subject(), set);
      for (const Backend& backend : Backends()) {
        asked.filter->set_backend(backend);
        for (const uint64_t first_bit : {0, 3, 69}) {
          SCOPED_TRACE(std::string(backend.name) + ", " + set.name + ", n = " + std::to_string(n) +
                       ", bit " + std::to_string(first_bit));
          const Validity validity(n, first_bit, /*seed=*/n + first_bit);
          const std::vector<bool> want = asked.And(validity.valid());
          nulls_in += std::count(asked.in.begin(), asked.in.end(), true) -
                      std::count(want.begin(), want.end(), true);
          const Keys keys = validity.Of(set.keys);
          ASSERT_NO_FATAL_FAILURE(ExpectOutputs(*asked.filter, keys, want));
          const size_t cut = n / 3;
          ASSERT_NO_FATAL_FAILURE(
              ExpectOutputs(*asked.filter, keys.Slice(cut, n - cut),
                            {want.begin() + static_cast<std::ptrdiff_t>(cut), want.end()}));
        }
      }
    }
  }
  EXPECT_GT(nulls_in, 10'000u);  // otherwise the test proves nothing
}

TEST_P(NullsContractTest, AreInNoAnswerAtAnyOffset) {
  constexpr size_t kKeys = 200;
  const AllLayouts layouts(kKeys, /*seed=*/1);
  for (const AllLayouts::Set& set : layouts.sets()) {
    const Asked asked(subject(), set);
    for (uint64_t first_bit = 0; first_bit <= 70; ++first_bit) {
      SCOPED_TRACE(std::string(set.name) + ", bit " + std::to_string(first_bit));
      const Validity validity(kKeys, first_bit, /*seed=*/first_bit);
      ASSERT_NO_FATAL_FAILURE(
          ExpectOutputs(*asked.filter, validity.Of(set.keys), asked.And(validity.valid())));
    }
  }
}

TEST_P(NullsContractTest, AreInNoAnswerOfAnEngine) {
  size_t nulls_in = 0;
  for (const size_t n : {1, 65, 1000, 10'007}) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      const Asked asked(subject(), set);
      const Validity validity(n, 5, /*seed=*/n + 2);
      const std::vector<bool> want = asked.And(validity.valid());
      nulls_in += std::count(asked.in.begin(), asked.in.end(), true) -
                  std::count(want.begin(), want.end(), true);
      for (const unsigned threads : {1, 3}) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE(std::to_string(threads) + " threads, " + set.name + ", " +
                       std::to_string(n) + (partitioned ? ", partitioned" : ""));
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          ASSERT_NO_FATAL_FAILURE(
              ExpectOutputs(ByEngine{engine, *asked.filter}, validity.Of(set.keys), want));
        }
      }
    }
  }
  EXPECT_GT(nulls_in, 1000u);  // otherwise the test proves nothing
}

TEST_P(NullsContractTest, AreNeitherInsertedNorErased) {
  for (const size_t n : kSizes) {
    const AllLayouts layouts(n, /*seed=*/n);
    for (const AllLayouts::Set& set : layouts.sets()) {
      for (uint64_t first_bit = 0; first_bit <= 70; first_bit += n == 65 ? 1 : 35) {
        SCOPED_TRACE(std::string(set.name) + ", n = " + std::to_string(n) + ", bit " +
                     std::to_string(first_bit));
        const Validity validity(n, first_bit, /*seed=*/n + first_bit);
        const Keys keys = validity.Of(set.keys);
        const AnyFilter ones = Make(n - n / 4 + 1), bulk = Make(n - n / 4 + 1),
                        unasked = Make(n - n / 4 + 1);
        const auto want = ChangeOnes(set.ones, validity.valid(), [&](const OneKey& key) {
          return subject().insert(*ones, key);
        });
        ASSERT_EQ(Rejected(n, [&](auto out) { return RequireChangeable(*bulk).Insert(keys, out); }),
                  want);
        ASSERT_EQ(Contents(*bulk), Contents(*ones));
        EXPECT_EQ(RequireChangeable(*unasked).Insert(keys), n - want.size());
        ASSERT_EQ(Contents(*unasked), Contents(*ones));
        if (!subject().can.erase) continue;

        // Erases all keys, fewer of which are valid.
        const Validity fewer(n, first_bit, /*seed=*/n + first_bit + 1000);
        auto& erasable = dynamic_cast<ErasableFilter&>(*bulk);
        const auto missing = ChangeOnes(set.ones, fewer.valid(), [&](const OneKey& key) {
          return subject().erase(*ones, key);
        });
        ASSERT_EQ(Rejected(n, [&](auto out) { return erasable.Erase(fewer.Of(set.keys), out); }),
                  missing);
        ASSERT_EQ(Contents(*bulk), Contents(*ones));
        EXPECT_EQ(dynamic_cast<ErasableFilter&>(*unasked).Erase(fewer.Of(set.keys)),
                  n - missing.size());
        ASSERT_EQ(Contents(*unasked), Contents(*ones));
      }
    }
  }
}

// Inserts by an Engine, with many slices for the threads, in both orders.
TEST_P(NullsContractTest, AreNotInsertedByAnEngine) {
  for (const size_t n : {1, 65, 40'000}) {
    const AllLayouts layouts(n, /*seed=*/n);
    // If there are few keys, some find no room.
    const uint64_t capacity = n < 100 ? n / 2 + 1 : n;
    for (const AllLayouts::Set& set : layouts.sets()) {
      const Validity validity(n, 7, /*seed=*/n);
      const AnyFilter ones = Make(capacity);
      const auto want = ChangeOnes(set.ones, validity.valid(),
                                   [&](const OneKey& key) { return subject().insert(*ones, key); });
      for (const unsigned threads : {1, 2, 5}) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE(std::to_string(threads) + " threads, " + set.name + ", " +
                       std::to_string(n) + " keys");
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          const AnyFilter filter = Make(capacity);
          const Keys keys = validity.Of(set.keys);
          ASSERT_EQ(Rejected(n,
                             [&](auto out) {
                               return engine.Insert(RequireChangeable(*filter), keys, out);
                             }),
                    want);
          ASSERT_EQ(Contents(*filter), Contents(*ones));
          if (!subject().can.erase) continue;
          auto& erasable = dynamic_cast<ErasableFilter&>(*filter);
          const size_t before = erasable.inserted_count();
          const size_t erased = engine.Erase(erasable, keys);
          EXPECT_EQ(erased, before - erasable.inserted_count());
          EXPECT_GT(erased, validity.count() / 2);
        }
      }
    }
  }
}

// Many keys, all of them null.
TEST_P(NullsContractTest, CanBeAll) {
  const std::vector<uint64_t> values = RandomKeys(200'000, /*seed=*/3);
  const std::vector<uint8_t> none(values.size() / 8 + 1);
  std::vector<uint64_t> all(values.size());
  std::iota(all.begin(), all.end(), uint64_t{0});
  const Keys keys = Keys(values).WithValidity(none.data(), 3);
  const AnyFilter filter = Make(1000);
  const auto before = Contents(*filter);
  EXPECT_EQ(
      Rejected(all.size(), [&](auto out) { return RequireChangeable(*filter).Insert(keys, out); }),
      all);
  const Engine engine = PinnedEngine(Backends().front(), 2, true);
  EXPECT_EQ(
      Rejected(all.size(),
               [&](auto out) { return engine.Insert(RequireChangeable(*filter), keys, out); }),
      all);
  EXPECT_EQ(Contents(*filter), before);
  EXPECT_EQ(filter->Count(keys), 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NullsContractTest, testing::ValuesIn(Subjects()), SubjectName());

// A null view may be anything; a null in a column may have any bytes.
TEST(NullsTest, ValuesOfNullsAreNotRead) {
  const std::string_view nowhere(reinterpret_cast<const char*>(16), size_t{1} << 40);
  std::vector<std::string_view> views;
  const std::vector<std::string> strings = RandomStrings(3000, /*seed=*/1);
  const Validity validity(strings.size(), 3, /*seed=*/5);
  ASSERT_LT(validity.count(), strings.size());
  ASSERT_GT(validity.count(), 0u);
  for (size_t i = 0; i < strings.size(); ++i) {
    views.push_back(validity.valid()[i] ? std::string_view(strings[i]) : nowhere);
  }
  const Keys keys = validity.Of(views);
  SplitBlockBloomFilter filter({.capacity = 3000});
  EXPECT_EQ(filter.Insert(keys), validity.count());
  EXPECT_EQ(filter.Count(keys), validity.count());
  ASSERT_NO_FATAL_FAILURE(ExpectOutputs(filter, keys, validity.valid()));
}

TEST(NullsTest, ZeroAndTheEmptyStringAreKeys) {
  const uint8_t valid[] = {0b0101};
  const std::vector<int64_t> numbers = {7, 0, 0, 8};
  const std::vector<std::string_view> strings = {"a", "", "", "b"};
  SplitBlockBloomFilter filter({.capacity = 100});
  EXPECT_EQ(filter.Insert(Keys(numbers).WithValidity(valid)), 2u);
  EXPECT_TRUE(filter.Contains(0));
  EXPECT_FALSE(filter.Contains(8));
  EXPECT_EQ(filter.Insert(Keys(strings).WithValidity(valid)), 2u);
  EXPECT_TRUE(filter.Contains(""));
  EXPECT_FALSE(filter.Contains("b"));
  std::vector<uint8_t> bytes(4);
  EXPECT_EQ(filter.Contains(Keys(strings).WithValidity(valid), bytes), 2u);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{1, 0, 1, 0}));

  SplitBlockBloomFilter without({.capacity = 100});
  const uint8_t invalid[] = {0b1001};
  EXPECT_EQ(without.Insert(Keys(numbers).WithValidity(invalid)), 2u);
  EXPECT_FALSE(without.Contains(0));
}

TEST(NullsTest, ViewsOfBlocksDoNotTakeThem) {
  const std::vector<uint64_t> values = RandomKeys(5000, /*seed=*/1);
  const Validity validity(values.size(), 11, /*seed=*/5);
  const Keys keys = validity.Of(values);
  std::vector<uint64_t> words(4 * 1024);
  uint64_t inserted = 0;
  const SplitBlockView view(std::as_writable_bytes(std::span(words)), {}, &inserted);
  view.Insert(keys);
  EXPECT_EQ(inserted, validity.count());
  SplitBlockBloomFilter want({.bytes = 8 * words.size()});
  for (size_t i = 0; i < values.size(); ++i) {
    if (validity.valid()[i]) want.Insert(values[i]);
  }
  EXPECT_TRUE(std::ranges::equal(view.blocks(), want.payload()));
  ASSERT_NO_FATAL_FAILURE(ExpectOutputs(view, keys, validity.valid()));
}

TEST(NullsTest, DoNotCountWhereAFilterIsSizedByItsKeys) {
  const std::vector<uint64_t> values = RandomKeys(10'000, /*seed=*/1);
  const Validity validity(values.size(), 2, /*seed=*/5);
  ASSERT_LT(validity.count(), values.size());
  const auto filter = Build<CuckooFilter<16>>(
      [&](const std::function<void(Keys)>& visit) { visit(validity.Of(values)); }, {});
  EXPECT_EQ(filter.capacity(), validity.count());
  EXPECT_EQ(filter.inserted_count(), validity.count());

  ScalableFilter<SplitBlockBloomFilter> scalable({.initial_capacity = 100});
  scalable.Insert(validity.Of(values));
  EXPECT_EQ(scalable.Compact(validity.Of(values)).capacity(), validity.count());
  EXPECT_THROW(scalable.Compact(values), Error);
}

}  // namespace tamis::nulls_test
