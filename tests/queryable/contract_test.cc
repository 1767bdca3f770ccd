// Tests the contract of Queryable over all Holders().
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/filters/split_block_view.h"
#include "tamis/unanswered_error.h"
#include "tests/core/file_test_util.h"
#include "tests/queryable/holders.h"
#include "tests/test_util.h"

namespace tamis::queryable_contract_test {

// All outputs of a call, made directly and by an Engine.
struct Answers {
  std::vector<uint64_t> bits;
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> rows32;
  std::vector<uint64_t> rows64;
  size_t count = 0;

  friend bool operator==(const Answers&, const Answers&) = default;
};

// call(ask) must return ask(), or expect that it throws.
template <typename Asked, typename Call>
Answers Ask(const Asked& asked, const Keys& keys, const Call& call) {
  Answers answers;
  const size_t n = keys.size();
  answers.bits.assign(BitmapWords(n) + 1, ~uint64_t{0});
  answers.bytes.assign(n + 1, 7);
  answers.rows32.assign(n, 0);
  answers.rows64.assign(n, 0);
  size_t in_bits = 0, in_bytes = 0, rows32 = 0, rows64 = 0;
  call([&] { return in_bits = asked.Contains(keys, Bitmap(answers.bits)); });
  call([&] { return in_bytes = asked.Contains(keys, std::span(answers.bytes)); });
  call([&] { return rows32 = asked.Select(keys, std::span(answers.rows32)); });
  call([&] { return rows64 = asked.Select(keys, std::span(answers.rows64)); });
  call([&] { return answers.count = asked.Count(keys); });
  EXPECT_EQ(answers.bits.back(), ~uint64_t{0}) << "no more words than needed are written";
  EXPECT_EQ(answers.bytes.back(), 7);
  answers.bits.pop_back();
  answers.bytes.pop_back();
  EXPECT_EQ(in_bits, answers.count);
  EXPECT_EQ(in_bytes, answers.count);
  call([&] {
    const tamis::Answers owned = asked.Contains(keys);
    EXPECT_EQ(owned.size(), n);
    EXPECT_EQ(owned.count(), answers.count);
    EXPECT_TRUE(std::ranges::equal(owned.words(), answers.bits));
    for (size_t i = 0; i < n; i += 61) EXPECT_EQ(owned[i], Bitmap(answers.bits).Test(i));
    return owned.count();
  });
  call([&] {
    const std::vector<uint64_t> owned = asked.Select(keys);
    EXPECT_TRUE(std::ranges::equal(owned, std::span(answers.rows64).first(answers.count)));
    return owned.size();
  });
  EXPECT_EQ(rows32, answers.count);
  EXPECT_EQ(rows64, answers.count);
  answers.rows32.resize(std::min(n, rows32));
  answers.rows64.resize(std::min(n, rows64));
  return answers;
}

template <typename Asked>
Answers Ask(const Asked& asked, const Keys& keys) {
  return Ask(asked, keys, [](const auto& ask) { ask(); });
}

// An engine together with the Queryable that it queries.
struct ByEngine {
  template <typename Out>
  size_t Contains(const Keys& keys, Out out) const {
    return engine.Contains(queryable, keys, out);
  }
  template <typename Out>
  size_t Select(const Keys& keys, Out out) const {
    return engine.Select(queryable, keys, out);
  }
  size_t Count(const Keys& keys) const { return engine.Count(queryable, keys); }
  tamis::Answers Contains(const Keys& keys) const { return engine.Contains(queryable, keys); }
  std::vector<uint64_t> Select(const Keys& keys) const { return engine.Select(queryable, keys); }

  const Engine& engine;
  const Queryable& queryable;
};

// Answers by one-key calls.
Answers OneByOne(const Queryable& queryable, const std::vector<uint64_t>& keys,
                 const Keys& with_nulls) {
  Answers answers;
  answers.bits.resize(BitmapWords(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool in = with_nulls.IsValid(i) && queryable.Contains(keys[i]);
    answers.bytes.push_back(in);
    answers.bits[i / 64] |= uint64_t{in} << (i % 64);
    if (!in) continue;
    ++answers.count;
    answers.rows32.push_back(static_cast<uint32_t>(i));
    answers.rows64.push_back(i);
  }
  return answers;
}

class QueryableContractTest : public testing::TestWithParam<Holder> {};

TEST_P(QueryableContractTest, EveryOutputEqualsOneKeyAfterTheOther) {
  const std::vector<uint64_t> in = GetParam().RandomIntegers(20'000, /*seed=*/1);
  const std::unique_ptr<Queryable> queryable = GetParam().make(in);
  for (const size_t n : {1, 63, 64, 65, 2047, 2048, 2049, 10'000}) {
    std::vector<uint64_t> keys = GetParam().RandomIntegers(n, /*seed=*/n);
    for (size_t i = 0; i < n; i += 3) keys[i] = in[i];
    std::vector<uint8_t> validity(n / 8 + 2);
    Random random(n);
    for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random() | random());
    for (const Keys& asked : {Keys(keys), Keys(keys).WithValidity(validity.data(), 5)}) {
      const Answers want = OneByOne(*queryable, keys, asked);
      EXPECT_EQ(Ask(*queryable, asked), want) << n;
      EXPECT_EQ(Ask(ByEngine{Engine({.threads = 2}), *queryable}, asked), want) << n;
    }
  }
}

TEST_P(QueryableContractTest, ManyKeysOnThreads) {
  const std::vector<uint64_t> in = GetParam().RandomIntegers(20'000, /*seed=*/2);
  const std::unique_ptr<Queryable> queryable = GetParam().make(in);
  std::vector<uint64_t> keys = GetParam().RandomIntegers(300'001, /*seed=*/3);
  for (size_t i = 0; i < keys.size(); i += 7) keys[i] = in[i % in.size()];
  const Answers want = Ask(*queryable, keys);
  for (const unsigned threads : {1, 2, 8}) {
    EXPECT_EQ(Ask(ByEngine{Engine({.threads = threads}), *queryable}, keys), want) << threads;
  }
}

// Returns the indices of `selection` whose bit is set.
template <typename Index>
std::vector<Index> SetAmong(const std::vector<uint64_t>& bits,
                            const std::vector<Index>& selection) {
  std::vector<Index> set;
  for (const Index i : selection) {
    if (((bits[i / 64] >> (i % 64)) & 1) != 0) set.push_back(i);
  }
  return set;
}

template <typename Index>
void ExpectSelectsFrom(const Queryable& queryable, const Keys& keys,
                       const std::vector<uint64_t>& bits, const std::vector<Index>& selection) {
  const std::vector<Index> want = SetAmong(bits, selection);
  std::vector<Index> out(selection.size());
  out.resize(queryable.SelectFrom(keys, std::span(selection), std::span(out)));
  EXPECT_EQ(out, want);
  std::vector<Index> in_place = selection;
  in_place.resize(
      queryable.SelectFrom(keys, std::span<const Index>(in_place), std::span(in_place)));
  EXPECT_EQ(in_place, want);
}

TEST_P(QueryableContractTest, SelectFrom_AnySelection_KeepsItsOrder) {
  const std::vector<uint64_t> in = GetParam().RandomIntegers(5000, /*seed=*/1);
  const std::unique_ptr<Queryable> queryable = GetParam().make(in);
  std::vector<uint64_t> keys = GetParam().RandomIntegers(9000, /*seed=*/2);
  for (size_t i = 0; i < keys.size(); i += 2) keys[i] = in[i / 2 % in.size()];
  std::vector<uint8_t> validity(keys.size() / 8 + 2);
  Random random(3);
  for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random() | random());
  for (const Keys& asked : {Keys(keys), Keys(keys).WithValidity(validity.data(), 3)}) {
    std::vector<uint64_t> bits(BitmapWords(keys.size()));
    queryable->Contains(asked, Bitmap(bits));
    for (const size_t n : {0, 1, 64, 2047, 2048, 2049, 7000}) {
      std::vector<uint32_t> run(n), ascending, any(n);
      for (size_t i = 0; i < n; ++i) run[i] = static_cast<uint32_t>(i + 17);
      for (uint32_t& index : any) index = static_cast<uint32_t>(random.Below(keys.size()));
      for (uint32_t i = 0; ascending.size() < n && i < keys.size(); i += 1 + i % 3) {
        ascending.push_back(i);
      }
      for (const std::vector<uint32_t>& selection : {run, ascending, any}) {
        ExpectSelectsFrom(*queryable, asked, bits, selection);
        ExpectSelectsFrom(*queryable, asked, bits,
                          std::vector<uint64_t>(selection.begin(), selection.end()));
      }
    }
  }
}

TEST_P(QueryableContractTest, SelectFrom_WrongSelectionOrShortOutput_Throws) {
  const std::unique_ptr<Queryable> queryable = GetParam().make({1, 2, 3});
  const std::vector<uint64_t> keys = {1, 2, 3};
  const std::vector<uint32_t> selection = {0, 3, 1};
  std::vector<uint32_t> out(3, 77);
  ExpectError([&] { queryable->SelectFrom(keys, std::span(selection), std::span(out)); },
              ErrorCode::kInvalidArgument, "index 3 of the selection must be below 3");
  ExpectError(
      [&] { queryable->SelectFrom(keys, std::span(selection).first(1), std::span(out).first(0)); },
      ErrorCode::kInvalidArgument, "elements");
  EXPECT_EQ(out, std::vector<uint32_t>(3, 77));
}

TEST_P(QueryableContractTest, NoKeysAndShortOutputs) {
  const std::unique_ptr<Queryable> queryable = GetParam().make({1, 2, 3});
  const Engine engine({.threads = 2});
  EXPECT_EQ(Ask(*queryable, {}), Answers());
  EXPECT_EQ(Ask(ByEngine{engine, *queryable}, {}), Answers());
  const std::vector<uint64_t> keys(65);
  std::vector<uint64_t> words(1);
  std::vector<uint8_t> bytes(64);
  std::vector<uint32_t> rows32(64);
  std::vector<uint64_t> rows64(64);
  const auto refuses = [&](const auto& asked) {
    ExpectError([&] { asked.Contains(keys, Bitmap(words)); }, ErrorCode::kInvalidArgument, "words");
    ExpectError([&] { asked.Contains(keys, std::span(bytes)); }, ErrorCode::kInvalidArgument,
                "bytes");
    ExpectError([&] { asked.Select(keys, std::span(rows32)); }, ErrorCode::kInvalidArgument,
                "elements");
    ExpectError([&] { asked.Select(keys, std::span(rows64)); }, ErrorCode::kInvalidArgument,
                "elements");
  };
  refuses(*queryable);
  refuses(ByEngine{engine, *queryable});
  if (const auto* const numbers = dynamic_cast<const EvenNumbers*>(queryable.get())) {
    EXPECT_EQ(numbers->queries(), 0) << "a call that fails, or has no keys, needs no query";
  }
}

INSTANTIATE_TEST_SUITE_P(All, QueryableContractTest, testing::ValuesIn(Holders()),
                         [](const auto& test) { return test.param.name; });

// Every layout of keys, in a filter and out of it, gives the answers that Contains gives.
TEST(QueryableTest, SelectFrom_EveryLayout_EqualsContains) {
  constexpr size_t kKeys = 3000;
  std::vector<uint64_t> u64(kKeys);
  std::vector<uint32_t> u32(kKeys);
  std::vector<int32_t> i32(kKeys);
  std::vector<std::string> strings(kKeys);
  std::string text, fixed;
  std::vector<int32_t> offsets = {0};
  std::vector<int64_t> large_offsets = {0};
  for (size_t i = 0; i < kKeys; ++i) {
    u64[i] = i * 3;
    u32[i] = static_cast<uint32_t>(i * 3);
    i32[i] = static_cast<int32_t>(i) - 1500;
    strings[i] = std::string(i % 9, 'a') + std::to_string(i);
    text += strings[i];
    offsets.push_back(static_cast<int32_t>(text.size()));
    large_offsets.push_back(static_cast<int64_t>(text.size()));
    fixed += std::string(3, static_cast<char>(i)) + static_cast<char>(i / 256) + "x";
  }
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  SplitBlockBloomFilter filter({.capacity = 8 * kKeys});
  const std::vector<Keys> layouts = {u64,
                                     u32,
                                     i32,
                                     Hashes{u64},
                                     strings,
                                     views,
                                     StringColumn{text.data(), offsets},
                                     LargeStringColumn{text.data(), large_offsets},
                                     FixedColumn{fixed.data(), 5, kKeys}};
  for (const Keys& keys : layouts) filter.Insert(keys.Slice(0, kKeys / 2));
  Random random(1);
  std::vector<uint8_t> validity(kKeys / 8 + 2);
  for (uint8_t& byte : validity) byte = static_cast<uint8_t>(random() | random());
  for (const Keys& layout : layouts) {
    for (const Keys& keys : {layout, layout.WithValidity(validity.data(), 1)}) {
      std::vector<uint64_t> bits(BitmapWords(kKeys));
      filter.Contains(keys, Bitmap(bits));
      std::vector<uint32_t> selection(2500);
      for (uint32_t& index : selection) index = static_cast<uint32_t>(random.Below(kKeys));
      ExpectSelectsFrom(filter, keys, bits, selection);
    }
  }
}

TEST(QueryableTest, SelectFrom_KeysWithoutAnAnswer_AreKept) {
  for (const size_t slice : {size_t{64}, QueryTraits::kAllKeys}) {
    EvenNumbers numbers({.slice_keys = slice});
    numbers.unanswered = [](uint64_t key) { return key == 31; };
    const std::vector<uint64_t> keys = {31, 4, 5};
    std::vector<uint32_t> selection(200, 2);
    selection[100] = 0;
    selection[150] = 1;
    try {
      numbers.SelectFrom(keys, std::span<const uint32_t>(selection), std::span(selection));
      ADD_FAILURE() << "no error";
    } catch (const UnansweredError& error) {
      EXPECT_EQ(error.keys(), std::vector<uint64_t>{100});
      EXPECT_EQ(error.done(), 2u);
      EXPECT_EQ(selection[0], 0u);
      EXPECT_EQ(selection[1], 1u);
    }
  }
}

std::vector<uint64_t> Numbers(size_t n) {
  std::vector<uint64_t> numbers(n);
  for (size_t i = 0; i < n; ++i) numbers[i] = i;
  return numbers;
}

constexpr size_t kMany = 400'000;  // more than an Engine leaves to one thread

TEST(QueryableTest, KeysWithoutAnAnswerAreMaybe) {
  for (const size_t slice : {QueryTraits::kSlice, size_t{64}, QueryTraits::kAllKeys}) {
    EvenNumbers numbers({.slice_keys = slice});
    numbers.unanswered = [](uint64_t key) { return key % 1001 == 1; };
    for (const size_t n : {size_t{2}, size_t{5000}, kMany}) {
      const std::vector<uint64_t> keys = Numbers(n);
      std::vector<uint64_t> unanswered, maybe;
      for (const uint64_t key : keys) {
        if (numbers.unanswered(key)) unanswered.push_back(key);
        if (numbers.unanswered(key) || key % 2 == 0) maybe.push_back(key);
      }
      const auto partly = [&](const auto& ask) {
        try {
          ask();
          ADD_FAILURE() << "no error";
        } catch (const UnansweredError& error) {
          EXPECT_EQ(error.keys(), unanswered);
          EXPECT_EQ(error.done(), maybe.size());
          EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
        }
      };
      const auto expect = [&](const auto& asked) {
        std::vector<uint64_t> rows(n);
        std::vector<uint8_t> bytes(n);
        std::vector<uint64_t> words(BitmapWords(n));
        partly([&] { asked.Select(keys, std::span(rows)); });
        rows.resize(maybe.size());
        EXPECT_EQ(rows, maybe);
        partly([&] { asked.Contains(keys, std::span(bytes)); });
        partly([&] { asked.Contains(keys, Bitmap(words)); });
        for (size_t i = 0; i < n; ++i) {
          const bool want = std::binary_search(maybe.begin(), maybe.end(), i);
          ASSERT_EQ(bytes[i], want) << i;
          ASSERT_EQ(Bitmap(words).Test(i), want) << i;
        }
        partly([&] { asked.Count(keys); });
      };
      expect(static_cast<const Queryable&>(numbers));
      for (const unsigned threads : {1, 3}) {
        expect(ByEngine{Engine({.threads = threads}), numbers});
      }
    }
  }
}

TEST(QueryableTest, AnExceptionOfAPoolThreadReachesTheCaller) {
  const std::vector<uint64_t> keys = Numbers(kMany);
  for (const uint64_t bad : {uint64_t{0}, uint64_t{70'000}, uint64_t{kMany - 1}}) {
    EvenNumbers numbers;
    numbers.fails = [bad](uint64_t key) { return key >= bad && key % 65'536 == bad % 65'536; };
    for (const unsigned threads : {1, 2, 8}) {
      const Engine engine({.threads = threads});
      for (int i = 0; i < 3; ++i) {
        try {
          engine.Count(numbers, keys);
          ADD_FAILURE() << "no error";
        } catch (const std::runtime_error& error) {
          EXPECT_EQ(std::string(error.what()), "failed at " + std::to_string(bad));
        }
      }
      numbers.fails = [](uint64_t) { return false; };
      EXPECT_EQ(engine.Count(numbers, keys), kMany / 2) << "the engine goes on";
      numbers.fails = [bad](uint64_t key) { return key >= bad && key % 65'536 == bad % 65'536; };
    }
  }
}

TEST(QueryableTest, TraitsDecideHowAnEngineAsks) {
  const std::vector<uint64_t> keys = Numbers(kMany);
  const Engine engine({.threads = 4});
  const EvenNumbers one({.thread_safety = QueryTraits::ThreadSafety::kOneThread});
  EXPECT_EQ(engine.Count(one, keys), kMany / 2);
  EXPECT_TRUE(one.in_one_thread_only());
  const EvenNumbers whole({.slice_keys = QueryTraits::kAllKeys});
  std::vector<uint32_t> rows(kMany);
  EXPECT_EQ(engine.Select(whole, keys, rows), kMany / 2);
  EXPECT_EQ(whole.queries(), 1) << "each query is a round trip";
  const EvenNumbers few;
  std::vector<uint8_t> bytes(3 * QueryTraits::kSlice);
  engine.Contains(few, std::span(keys).first(bytes.size()), bytes);
  EXPECT_EQ(few.queries(), 3);
}

TEST(QueryableTest, RefusesKeysThatItDoesNotTake) {
  const EvenNumbers numbers;
  const std::vector<std::string> strings = {"a"};
  ExpectError([&] { numbers.Count(strings); }, ErrorCode::kInvalidArgument, "are integers");
  ExpectError([&] { Engine().Count(numbers, strings); }, ErrorCode::kInvalidArgument,
              "are integers");
  EXPECT_TRUE(std::isnan(numbers.estimated_count()));
  EXPECT_TRUE(std::isnan(numbers.expected_fpr()));
}

// If the class is known, a query for one key makes no virtual call and never throws.
static_assert(noexcept(std::declval<const SplitBlockBloomFilter&>().Contains(uint64_t{1})));
static_assert(noexcept(std::declval<const Filter&>().Contains(uint64_t{1})));
static_assert(!noexcept(std::declval<const Queryable&>().Contains(uint64_t{1})));
static_assert(std::is_trivially_copyable_v<ConstSplitBlockView>);

}  // namespace tamis::queryable_contract_test
