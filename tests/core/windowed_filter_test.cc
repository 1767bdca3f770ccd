// Compares the window with an exact model of the last keys.
#include "tamis/engine/windowed_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tamis/changes.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/core/contract.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::windowed_filter_test {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

// A rate at which false positives hardly ever occur in a test. In classic filters of a few words,
// false positives are more frequent than the formula predicts.
constexpr double kHardlyEver = 1e-9;
template <typename F>
constexpr size_t kErrors = std::is_same_v<F, BloomFilter> ? 5 : 0;

template <typename F>
class WindowedFilterTest : public testing::Test {
 protected:
  using Window = WindowedFilter<F>;
};
using Plain = testing::Types<SplitBlockBloomFilter, BloomFilter>;
TYPED_TEST_SUITE(WindowedFilterTest, Plain);

// Returns keys that repeat soon, late or never.
template <typename Make>
auto Stream(size_t n, uint64_t window, uint64_t seed, const Make& make) {
  Random random(seed);
  std::vector<decltype(make(0))> keys;
  for (uint64_t i = 0; i < n; ++i) {
    const bool again = i > 0 && random.Below(2) == 0;
    const uint64_t back = 1 + random.Below(random.Below(2) == 0 ? window + 2 : 4 * window + 2);
    keys.push_back(again ? keys[i - std::min(i, back)] : make(Mix(seed) + i));
  }
  return keys;
}

// Records when each key came last.
template <typename Key>
class Model {
 public:
  explicit Model(uint64_t window) : window_(window) {}

  bool CameBefore(const Key& key) const { return last_.contains(key); }
  // Returns whether the key is among the last `window` keys.
  bool Keeps(const Key& key) const {
    const auto found = last_.find(key);
    return found != last_.end() && now_ - found->second <= window_;
  }
  void Insert(const Key& key) { last_[key] = now_++; }
  template <typename Check>
  void ForEachKept(const Check& check) const {
    for (const auto& [key, time] : last_) {
      if (now_ - time <= window_) check(key);
    }
  }

 private:
  const uint64_t window_;
  uint64_t now_ = 0;
  std::unordered_map<Key, uint64_t> last_;
};

template <typename F, typename Key>
void ExpectKeepsTheLast(const WindowOptions& options, const std::vector<Key>& keys,
                        uint64_t max_batch, uint64_t seed, const Engine* engine = nullptr) {
  SCOPED_TRACE(std::to_string(options.window) + " keys in " + std::to_string(options.filters) +
               " filters, batches to " + std::to_string(max_batch));
  WindowedFilter<F> filter(options), one_by_one(options);
  Model<Key> model(options.window);
  Random random(seed);
  size_t errors = 0;
  for (size_t first = 0; first < keys.size();) {
    const size_t n = std::min<size_t>(1 + random.Below(max_batch), keys.size() - first);
    std::vector<uint64_t> words(BitmapWords(n) + 1, ~uint64_t{0});
    const Bitmap fresh(words);
    const size_t num_fresh = filter.InsertIfAbsent(Keys(keys).Slice(first, n), fresh, engine);
    ASSERT_EQ(words.back(), ~uint64_t{0}) << "a word too many";
    size_t ones = 0;
    for (size_t i = 0; i < n; ++i) {
      const Key& key = keys[first + i];
      ASSERT_EQ(one_by_one.InsertIfAbsent(key), fresh.Test(i)) << first + i;
      if (model.Keeps(key)) {
        ASSERT_FALSE(fresh.Test(i)) << first + i;
      }
      errors += !fresh.Test(i) && !model.CameBefore(key);
      model.Insert(key);
      ones += fresh.Test(i);
    }
    ASSERT_EQ(num_fresh, ones);
    model.ForEachKept([&](const Key& key) { ASSERT_TRUE(filter.Contains(key)) << first; });
    first += n;
  }
  EXPECT_LE(errors, kErrors<F>);
  for (size_t i = 0; i < filter.filters().size(); ++i) {
    EXPECT_TRUE(Contents(filter.filters()[i]) == Contents(one_by_one.filters()[i])) << i;
  }
  // All keys in one call, and in bulk without reporting new ones.
  std::vector<uint64_t> words(BitmapWords(keys.size())), want(words);
  filter.Contains(keys, Bitmap(want));
  WindowedFilter<F> at_once(options), told_nothing(options);
  at_once.InsertIfAbsent(keys, Bitmap(words), engine);
  EXPECT_EQ(told_nothing.Insert(keys, engine), keys.size());
  for (const auto* other : {&at_once, &told_nothing}) {
    EXPECT_EQ(other->Contains(keys, Bitmap(words), engine), filter.Contains(keys, Bitmap(want)));
    EXPECT_EQ(words, want);
  }
}

TYPED_TEST(WindowedFilterTest, KeepsTheLastKeys) {
  const Engine engine({.threads = 3});
  for (const uint64_t window : {1, 2, 3, 10, 64, 1000}) {
    for (const uint32_t filters : {2, 3, 4, 7}) {
      const WindowOptions options{.window = window, .fpr = kHardlyEver, .filters = filters};
      const uint64_t seed = window * 100 + filters;
      const auto numbers = Stream(20 * window + 50, window, seed, [](uint64_t x) { return x; });
      ExpectKeepsTheLast<TypeParam>(options, numbers, 1 + window / 3, seed);
      ExpectKeepsTheLast<TypeParam>(options, numbers, 5 * window + 5, seed, &engine);
    }
  }
}

TYPED_TEST(WindowedFilterTest, KeepsTheLastStrings) {
  const auto strings = Stream(3000, 100, 5, [](uint64_t x) { return "key " + std::to_string(x); });
  ExpectKeepsTheLast<TypeParam>(
      {.window = 100, .fpr = kHardlyEver, .hash = HashOf(HashKind::kSipHash13, 7)}, strings, 300,
      5);
}

// Batches of more keys than are hashed at a time.
TYPED_TEST(WindowedFilterTest, ABatchIsTakenInPieces) {
  constexpr uint64_t kKeys = 300'000;
  typename TestFixture::Window filter({.window = 70'000, .fpr = kHardlyEver});
  std::vector<uint64_t> keys = RandomKeys(kKeys, 1);
  for (uint64_t i = 0; i < kKeys; i += 3) keys[i] = keys[i - std::min<uint64_t>(i, 50'000)];
  std::vector<uint64_t> words(BitmapWords(kKeys));
  size_t firsts = 0;
  Model<uint64_t> model(kKeys);
  for (const uint64_t key : keys) {
    firsts += !model.CameBefore(key);
    model.Insert(key);
  }
  EXPECT_EQ(filter.InsertIfAbsent(keys, Bitmap(words)), firsts);
  const Keys last = Keys(keys).Slice(kKeys - filter.window(), filter.window());
  EXPECT_EQ(filter.Contains(last, Bitmap(words)), filter.window());
}

TYPED_TEST(WindowedFilterTest, OlderKeysAreForgotten) {
  for (const uint64_t window : {1, 7, 1000}) {
    for (const uint32_t filters : {2, 4, 5}) {
      typename TestFixture::Window filter(
          {.window = window, .fpr = kHardlyEver, .filters = filters});
      const uint64_t share = (window + filters - 2) / (filters - 1);
      EXPECT_EQ(filter.max_keys(), share * filters);
      const std::vector<uint64_t> keys = RandomKeys(20 * filter.max_keys(), window);
      size_t errors = 0;
      for (size_t i = 0; i < keys.size(); ++i) {
        errors += !filter.InsertIfAbsent(keys[i]);
        errors += i >= filter.max_keys() && filter.Contains(keys[i - filter.max_keys()]);
      }
      EXPECT_LE(errors, kErrors<TypeParam>);
    }
  }
}

// However often a key repeats, the others stay.
TYPED_TEST(WindowedFilterTest, RepeatsTakeNoRoom) {
  typename TestFixture::Window filter({.window = 30, .fpr = kHardlyEver});
  for (uint64_t key = 0; key < 20; ++key) filter.Insert(key);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(filter.InsertIfAbsent(uint64_t{19}));
  for (uint64_t key = 0; key < 20; ++key) EXPECT_TRUE(filter.Contains(key));
}

TYPED_TEST(WindowedFilterTest, TheRateIsThePromisedOne) {
  constexpr double kFpr = 0.02;
  constexpr uint64_t kAbsent = 400'000;
  for (const uint32_t filters : {2, 4, 8}) {
    typename TestFixture::Window filter({.window = 50'000, .fpr = kFpr, .filters = filters});
    const double p = 1 - std::pow(1 - kFpr, 1.0 / filters);
    EXPECT_EQ(filter.bytes(),
              filters * FilterBytes(TypeParam::kKind, filter.max_keys() / filters, p));
    EXPECT_EQ(filter.expected_fpr(), 0);
    // All filters are full except for one key.
    const std::vector<uint64_t> keys = RandomKeys(filter.max_keys() + 100, filters);
    filter.Insert(Keys(keys).Slice(0, filter.max_keys() - 1));
    EXPECT_LE(filter.expected_fpr(), kFpr * (1 + 1e-9));
    EXPECT_GT(filter.expected_fpr(), kFpr * 0.97);
    std::vector<uint64_t> words(BitmapWords(kAbsent));
    const size_t wrong = filter.Contains(RandomKeys(kAbsent, 99), Bitmap(words));
    const double sigma = std::sqrt(kFpr / kAbsent);
    EXPECT_NEAR(static_cast<double>(wrong) / kAbsent, filter.expected_fpr(),
                4 * sigma + 0.03 * kFpr);
  }
}

TYPED_TEST(WindowedFilterTest, NullsAreNotKeys) {
  typename TestFixture::Window filter({.window = 500, .fpr = kHardlyEver});
  const std::vector<uint64_t> keys = RandomKeys(200, 3);
  const std::vector<uint8_t> validity(26, 0b0110'1101);
  const Keys some = Keys(keys).WithValidity(validity.data(), 3);
  std::vector<uint64_t> words(BitmapWords(keys.size()));
  for (const bool again : {false, true}) {
    EXPECT_EQ(filter.InsertIfAbsent(some, Bitmap(words)), again ? 0 : some.CountValid());
    EXPECT_EQ(filter.Contains(keys, Bitmap(words)), some.CountValid());
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(Bitmap(words).Test(i), some.IsValid(i));
    }
  }
  EXPECT_EQ(filter.Contains(some, Bitmap(words)), some.CountValid());
}

// More keys than are hashed at a time, one in eight of them null, with and without an engine.
TYPED_TEST(WindowedFilterTest, NullsDoNotShiftReportedKeys) {
  constexpr size_t kKeys = 200'000;
  const Engine engine({.threads = 3});
  const auto keys = Stream(kKeys, 70'000, 6, [](uint64_t x) { return x; });
  std::vector<uint8_t> validity(kKeys / 8 + 1);
  Random random(7);
  for (uint8_t& byte : validity) byte = static_cast<uint8_t>(~(1u << random.Below(8)));
  const Keys some = Keys(keys).WithValidity(validity.data(), 3);
  const size_t nulls = kKeys - some.CountValid();
  typename TestFixture::Window one_by_one({.window = 70'000}), changed({.window = 70'000}),
      by_engine({.window = 70'000}), told_nothing({.window = 70'000});
  std::vector<uint64_t> fresh(BitmapWords(kKeys)), rejected(fresh), want(fresh), indices(kKeys);
  std::vector<uint64_t> null_indices;
  for (size_t i = 0; i < kKeys; ++i) {
    if (!some.IsValid(i)) {
      null_indices.push_back(i);
    } else if (one_by_one.InsertIfAbsent(keys[i])) {
      want[i / 64] |= uint64_t{1} << (i % 64);
    }
  }
  size_t ones = 0;
  for (const uint64_t word : want) ones += static_cast<size_t>(std::popcount(word));
  Changeable& changeable = changed;
  EXPECT_EQ(InsertIfAbsent(changeable, some, Bitmap(fresh), Bitmap(rejected)), ones);
  EXPECT_EQ(fresh, want);
  EXPECT_EQ(rejected, std::vector<uint64_t>(rejected.size()));
  EXPECT_EQ(by_engine.InsertIfAbsent(some, Bitmap(fresh), &engine), ones);
  EXPECT_EQ(fresh, want);
  EXPECT_EQ(told_nothing.Insert(some, indices), kKeys - nulls);
  indices.resize(nulls);
  EXPECT_EQ(indices, null_indices);
  const size_t found = one_by_one.Contains(some, Bitmap(want));
  for (const auto* window : {&changed, &by_engine, &told_nothing}) {
    EXPECT_EQ(window->Contains(some, Bitmap(fresh), &engine), found);
    EXPECT_EQ(fresh, want);
    EXPECT_EQ(window->Count(some), found);
  }
}

// A window that cannot erase reports this at run time.
TYPED_TEST(WindowedFilterTest, EraseOfAChangeableIsUnsupported) {
  typename TestFixture::Window filter({.window = 5});
  ExpectError([&] { Erase(filter, {}); }, ErrorCode::kUnsupported, "cannot be erased");
  static_assert(noexcept(std::as_const(filter).Contains(uint64_t{1})));
}

TYPED_TEST(WindowedFilterTest, AListIsOfStrings) {
  typename TestFixture::Window filter({.window = 500, .fpr = kHardlyEver});
  EXPECT_EQ(filter.Insert({"first", "second"}), 2u);
  EXPECT_TRUE(filter.Contains("first"));
  EXPECT_FALSE(filter.InsertIfAbsent("second"));
  EXPECT_TRUE(filter.InsertIfAbsent("third"));
}

// The types are those of the keys in the ring, by every way to insert.
TYPED_TEST(WindowedFilterTest, RecordsTheTypesOfItsKeys) {
  const Engine engine({.threads = 2});
  const auto expect = [](const std::string& what, KeyType type, const auto& insert) {
    typename TestFixture::Window window({.window = 6});
    EXPECT_EQ(window.key_types(), KeyTypes());
    insert(window);
    EXPECT_EQ(window.key_types(), KeyTypes(type)) << what;
    window.Insert("a string");
    KeyTypes both = type;
    both.Add(KeyType::kBytes);
    EXPECT_EQ(window.key_types(), both) << what;
    for (uint64_t key = 100; key < 100 + 2 * window.max_keys(); ++key) window.Insert(key);
    EXPECT_EQ(window.key_types(), KeyTypes(KeyType::kInteger)) << what;
    window.Clear();
    EXPECT_EQ(window.key_types(), KeyTypes());
  };
  const std::vector<uint64_t> keys = {1, 2, 3};
  std::vector<uint64_t> words(1);
  const std::string text = "text";
  expect("integer", KeyType::kInteger, [](auto& window) { window.Insert(uint64_t{7}); });
  expect("text", KeyType::kBytes, [&](auto& window) { window.Insert(std::string_view(text)); });
  expect("new integer", KeyType::kInteger,
         [](auto& window) { EXPECT_TRUE(window.InsertIfAbsent(uint64_t{7})); });
  expect("hash", KeyType::kUnknown, [](auto& window) { window.InsertHash(7); });
  expect("integers", KeyType::kInteger, [&](auto& window) { window.Insert(keys); });
  expect("integers of an engine", KeyType::kInteger,
         [&](auto& window) { window.InsertIfAbsent(keys, Bitmap(words), &engine); });
  expect("times", KeyType::kTime,
         [&](auto& window) { window.Insert(Keys(keys).WithKeyType(KeyType::kTime)); });
}

TYPED_TEST(WindowedFilterTest, ClearForgetsAll) {
  typename TestFixture::Window filter({.window = 50, .fpr = kHardlyEver});
  const std::vector<uint64_t> keys = RandomKeys(200, 4);
  filter.Insert(keys);
  filter.Clear();
  EXPECT_EQ(filter.expected_fpr(), 0);
  std::vector<uint64_t> words(BitmapWords(keys.size()));
  EXPECT_EQ(filter.Contains(keys, Bitmap(words)), 0u);
  EXPECT_EQ(filter.InsertIfAbsent(keys, Bitmap(words)), keys.size());
}

TYPED_TEST(WindowedFilterTest, AnOutputThatIsTooSmallChangesNothing) {
  typename TestFixture::Window filter({.window = 50});
  const std::vector<uint64_t> keys = RandomKeys(129, 4);
  std::vector<uint64_t> words(2, 7);
  ExpectError([&] { filter.InsertIfAbsent(keys, Bitmap(words)); }, ErrorCode::kInvalidArgument,
              "the output has 2 words, and 129 keys need 3");
  ExpectError([&] { filter.Contains(keys, Bitmap(words)); }, ErrorCode::kInvalidArgument, "need 3");
  EXPECT_EQ(words, std::vector<uint64_t>(2, 7));
  EXPECT_EQ(filter.expected_fpr(), 0);
}

// Here the formulas of large filters give too low a rate.
TYPED_TEST(WindowedFilterTest, SmallWindowsKeepTheRate) {
  constexpr double kFpr = 1e-5;
  const std::vector<uint64_t> keys = RandomKeys(1'000'000, 5);
  std::vector<uint64_t> words(BitmapWords(keys.size()));
  for (const uint64_t window : {1, 10, 100, 1000}) {
    typename TestFixture::Window filter({.window = window, .fpr = kFpr});
    const size_t lost = keys.size() - filter.InsertIfAbsent(keys, Bitmap(words));
    // At most 10 are expected; 30 have a chance of 1 in 10^7.
    EXPECT_LT(lost, 30u) << window;
  }
}

// The time at which each key came last. Time never goes back.
class TimeModel {
 public:
  void Advance(nanoseconds now) { now_ = now_ ? std::max(*now_, now) : now; }
  void Insert(uint64_t key) { last_[key] = *now_; }
  bool CameBefore(uint64_t key) const { return last_.contains(key); }
  // The time since the last insertion, as a number without sign, because it may be up to 2^64 - 1.
  uint64_t Age(uint64_t key) const {
    return static_cast<uint64_t>(now_->count()) - static_cast<uint64_t>(last_.at(key).count());
  }
  const std::unordered_map<uint64_t, nanoseconds>& last() const { return last_; }
  nanoseconds now() const { return *now_; }

 private:
  std::optional<nanoseconds> now_;
  std::unordered_map<uint64_t, nanoseconds> last_;
};

// A time after, and sometimes long after or before, `now`.
nanoseconds NextTime(nanoseconds now, nanoseconds span, Random& random) {
  const auto least = static_cast<uint64_t>(span.count());
  uint64_t step = random.Below(least / 8 + 2);
  switch (random.Below(20)) {
    case 0:
      step = random.Below(3 * least + 1);
      break;
    case 1:
      step = random.Below(100 * least + 1);
      break;
    case 2:
      step = 0 - random.Below(200 * least + 1);
      break;
    case 3:
      step = random();  // anywhere
      if (random.Below(100) != 0) step = 0;
      break;
  }
  int64_t next = 0;
  return __builtin_add_overflow(now.count(), static_cast<int64_t>(step), &next) ? now
                                                                                : nanoseconds(next);
}

template <typename F>
void ExpectKeepsTheTime(const WindowOptions& options, nanoseconds begin, uint64_t seed,
                        const Engine* engine) {
  SCOPED_TRACE(std::to_string(options.span.count()) + " ns in " + std::to_string(options.filters) +
               " filters");
  WindowedFilter<F> filter(options);
  const TemporaryFolder folder;
  TimeModel model;
  Random random(seed);
  nanoseconds now = begin;
  size_t errors = 0;
  const auto span = static_cast<uint64_t>(options.span.count());
  const auto max_age = static_cast<uint64_t>(filter.max_age().count());
  ASSERT_GE(max_age, span);
  ASSERT_LE(max_age, span + span / (options.filters - 1) + options.filters);
  uint64_t next_key = 0;
  for (int round = 0; round < 150; ++round) {
    now = NextTime(now, options.span, random);
    filter.Advance(now);
    model.Advance(now);
    ASSERT_EQ(filter.time(), model.now());
    std::vector<uint64_t> keys(random.Below(8));
    for (uint64_t& key : keys) {
      key = Mix(seed) + (random.Below(2) == 0 ? next_key++ : random.Below(next_key + 1));
    }
    std::vector<uint64_t> words(BitmapWords(keys.size()));
    const Bitmap fresh(words);
    filter.InsertIfAbsent(keys, fresh, engine);
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool came = model.CameBefore(keys[i]);
      if (came && model.Age(keys[i]) <= span) {
        ASSERT_FALSE(fresh.Test(i)) << round;
      }
      errors += !fresh.Test(i) && (!came || model.Age(keys[i]) >= max_age);
      model.Insert(keys[i]);
    }
    if (random.Below(25) == 0) {  // a stop and a start
      filter.Save(folder / "window");
      filter = WindowedFilter<F>::Load(folder / "window");
      ASSERT_EQ(filter.span(), options.span);
      ASSERT_EQ(filter.window(), options.window);
      ASSERT_EQ(filter.time(), model.now());
    }
    for (const auto& [key, time] : model.last()) {
      if (model.Age(key) <= span) {
        ASSERT_TRUE(filter.Contains(key)) << round;
      }
      if (model.Age(key) >= max_age) errors += filter.Contains(key);
    }
  }
  EXPECT_LE(errors, 100 * kErrors<F>);  // a key is queried in many rounds
}

TYPED_TEST(WindowedFilterTest, ByTime_KeepsTheKeysOfTheSpan) {
  const Engine engine({.threads = 2});
  uint64_t run = 0;
  for (const nanoseconds span : {1ns, 7ns, 1000ns, nanoseconds(5min), nanoseconds(30h)}) {
    for (const uint32_t filters : {2, 3, 4, 7, 64}) {
      const WindowOptions options{
          .window = 2'000, .span = span, .fpr = kHardlyEver, .filters = filters};
      const std::array begins = {nanoseconds(0), nanoseconds::min(),
                                 nanoseconds::max() - 50 * span};
      ++run;
      ExpectKeepsTheTime<TypeParam>(options, begins[run % 3], run,
                                    run % 2 == 0 ? &engine : nullptr);
    }
  }
}

// Exact times: a key is found up to its span, and forgotten at the end of its last generation.
TYPED_TEST(WindowedFilterTest, ByTime_GenerationsBeginAtMultiples) {
  typename TestFixture::Window filter(
      {.window = 1000, .span = 300ns, .fpr = kHardlyEver, .filters = 4});
  EXPECT_EQ(filter.max_age(), 400ns);
  for (const nanoseconds base : {0ns, -10'000ns, 123'400ns}) {
    for (const nanoseconds at : {0ns, 1ns, 99ns}) {
      filter.Clear();
      EXPECT_EQ(filter.time(), std::nullopt);
      filter.Advance(base + at);
      filter.Insert(uint64_t{7});
      filter.Advance(base + 399ns);
      EXPECT_TRUE(filter.Contains(uint64_t{7}));
      filter.Advance(base + 400ns);
      EXPECT_FALSE(filter.Contains(uint64_t{7}));
    }
  }
}

TYPED_TEST(WindowedFilterTest, ByTime_TimeThatGoesBack_KeepsKeysLonger) {
  typename TestFixture::Window filter({.window = 1000, .span = 1h, .fpr = kHardlyEver});
  filter.Insert(uint64_t{1});  // before the first time
  filter.Advance(10h);
  EXPECT_TRUE(filter.Contains(uint64_t{1}));
  filter.Advance(2h);
  EXPECT_EQ(filter.time(), nanoseconds(10h));
  filter.Insert(uint64_t{2});
  filter.Advance(11h);
  EXPECT_FALSE(filter.InsertIfAbsent(uint64_t{2}));
  filter.Advance(nanoseconds::max());
  EXPECT_FALSE(filter.Contains(uint64_t{2}));
  filter.Insert(uint64_t{3});
  filter.Advance(12h);  // time stands still
  EXPECT_TRUE(filter.Contains(uint64_t{3}));
  filter.Clear();
  filter.Advance(12h);
  EXPECT_EQ(filter.time(), nanoseconds(12h));
}

// If there are more keys than expected, the rate rises, and no key is forgotten early.
TYPED_TEST(WindowedFilterTest, ByTime_TooManyKeys_StayWithinTheSpan) {
  typename TestFixture::Window filter({.window = 100, .span = 10s, .fpr = 0.001});
  const uint64_t bytes = filter.bytes();
  const std::vector<uint64_t> keys = RandomKeys(20'000, 1);
  for (size_t i = 0; i < keys.size(); ++i) {
    filter.Advance(i * 1ms);  // 20 s in all
    filter.Insert(keys[i]);
    if (i >= 10'000) {
      ASSERT_TRUE(filter.Contains(keys[i - 10'000]));
    }
  }
  EXPECT_EQ(filter.bytes(), bytes);
  EXPECT_GT(filter.expected_fpr(), 0.1);
}

TYPED_TEST(WindowedFilterTest, ByKeys_HasNoTime) {
  typename TestFixture::Window filter({.window = 5});
  EXPECT_EQ(filter.span(), 0ns);
  EXPECT_EQ(filter.max_age(), 0ns);
  ExpectError([&] { filter.Advance(1ns); }, ErrorCode::kInvalidArgument, "by keys has no time");
}

TYPED_TEST(WindowedFilterTest, OptionsOutOfRangeAreRefused) {
  const auto refuse = [](const WindowOptions& options, const char* message) {
    ExpectError([&] { typename TestFixture::Window filter(options); }, ErrorCode::kInvalidArgument,
                message);
  };
  refuse({}, "a window of 0 keys is out of range [1, 2^64)");
  refuse({.window = 5, .span = -1ns}, "a window of -1 ns is out of range [0, 3153600000000000000]");
  refuse({.window = 5, .span = windowed::kMaxSpan + 1ns}, "out of range");
  refuse({.span = 1s}, "a window of 0 keys");
  refuse({.window = 5, .filters = 1}, "a window of 1 filters is out of range [2, 64]");
  refuse({.window = 5, .filters = 65}, "a window of 65 filters is out of range [2, 64]");
  refuse({.window = 5, .fpr = 0}, "a false-positive rate of 0 of a window of 4 filters");
  refuse({.window = 5, .fpr = 3e-12}, "range [4e-12, 0.5]");
  refuse({.window = 5, .fpr = 0.6}, "rate of 0.6 ");
  refuse({.window = 5, .fpr = std::numeric_limits<double>::quiet_NaN()}, "nan");
  EXPECT_THROW(typename TestFixture::Window({.window = ~uint64_t{0}}), Error);
}

}  // namespace tamis::windowed_filter_test
