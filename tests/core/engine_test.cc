// The Engine does what the filter's own functions do, on any number of threads.
#include "tamis/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/backend.h"
#include "tamis/keys.h"
#include "tamis/split_block_filter.h"
#include "tests/core/file_test_util.h"

namespace tamis {
namespace {

constexpr size_t kSizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1000, 4096, 10'007};
constexpr unsigned kThreads[] = {1, 2, 3, 5, 8};
constexpr uint64_t kCanary = 0xC0FFEEC0FFEEC0FF;

Engine PinnedEngine(const Backend& backend, unsigned threads, bool partitioned = false) {
  return Engine({.pin = PlanStep{&backend, threads, partitioned, 0, 0}});
}

// The same n keys in every form there is: integers up to 2^31, some of which repeat.
class AllForms {
 public:
  explicit AllForms(size_t n) {
    for (size_t i = 0; i < n; ++i) u64_.push_back((i * 0x9E3779B97F4A7C15) >> 34);
    i64_.assign(u64_.begin(), u64_.end());
    u32_.assign(u64_.begin(), u64_.end());
    for (const uint64_t key : u64_) i32_.push_back(-static_cast<int32_t>(key));
    for (const uint64_t key : u64_) strings_.push_back("key " + std::to_string(key));
    views_.assign(strings_.begin(), strings_.end());
    for (const std::string& string : strings_) {
      bytes_ += string;
      offsets_.push_back(static_cast<int32_t>(bytes_.size()));
    }
    large_offsets_.assign(offsets_.begin(), offsets_.end());
    for (const uint64_t key : u64_) hashes_.push_back(HashU64(key));
  }

  std::vector<Keys> All() const {
    return {Keys(u64_),
            Keys(i64_),
            Keys(u32_),
            Keys(i32_),
            Keys(views_),
            Keys(StringColumn{bytes_.data(), offsets_}),
            Keys(LargeStringColumn{bytes_.data(), large_offsets_}),
            Keys(Hashes{hashes_})};
  }

 private:
  std::vector<uint64_t> u64_;
  std::vector<int64_t> i64_;
  std::vector<uint32_t> u32_;
  std::vector<int32_t> i32_;
  std::vector<std::string> strings_;
  std::vector<std::string_view> views_;
  std::string bytes_;
  std::vector<int32_t> offsets_ = {0};
  std::vector<int64_t> large_offsets_;
  std::vector<uint64_t> hashes_;
};

// Two of three keys of every form.
SplitBlockBloomFilter FilterOfSome(size_t n) {
  SplitBlockBloomFilter filter({.capacity = 8 * n + 1});
  const AllForms forms(n);
  for (const Keys& keys : forms.All()) {
    for (size_t i = 0; i < n; ++i) {
      if (i % 3 != 0) filter.Insert(keys.Slice(i, 1));
    }
  }
  return filter;
}

std::vector<std::byte> Contents(const Filter& filter) {
  return {filter.payload().begin(), filter.payload().end()};
}

// An output of n elements, with more elements behind it that nobody may write to.
template <typename T>
class Output {
 public:
  explicit Output(size_t n) : n_(n), all_(n + 3, static_cast<T>(kCanary)) {}

  std::span<T> span() { return std::span(all_).first(n_); }
  std::vector<T> First(size_t count) const { return {all_.begin(), all_.begin() + count}; }
  bool CanariesLive() const {
    return std::all_of(all_.begin() + n_, all_.end(),
                       [](T t) { return t == static_cast<T>(kCanary); });
  }

 private:
  size_t n_;
  std::vector<T> all_;
};

template <typename Index>
void ExpectSameSelection(const Engine& engine, const Filter& filter, const Keys& keys) {
  std::vector<Index> want(keys.size());
  want.resize(filter.Select(keys, std::span(want)));
  Output<Index> got(keys.size());
  EXPECT_EQ(engine.Select(filter, keys, got.span()), want.size());
  EXPECT_EQ(got.First(want.size()), want);
  EXPECT_TRUE(got.CanariesLive());
}

void ExpectSameAnswers(const Engine& engine, const Filter& filter, const Keys& keys) {
  const size_t n = keys.size();
  std::vector<uint64_t> want_bits(BitmapWords(n));
  const size_t found = filter.Contains(keys, Bitmap(want_bits));
  Output<uint64_t> bits(BitmapWords(n));
  EXPECT_EQ(engine.Contains(filter, keys, Bitmap(bits.span())), found);
  EXPECT_EQ(bits.First(BitmapWords(n)), want_bits);
  EXPECT_TRUE(bits.CanariesLive());

  std::vector<uint8_t> want_bytes(n);
  EXPECT_EQ(filter.Contains(keys, std::span(want_bytes)), found);
  Output<uint8_t> bytes(n);
  EXPECT_EQ(engine.Contains(filter, keys, bytes.span()), found);
  EXPECT_EQ(bytes.First(n), want_bytes);
  EXPECT_TRUE(bytes.CanariesLive());

  ExpectSameSelection<uint32_t>(engine, filter, keys);
  ExpectSameSelection<uint64_t>(engine, filter, keys);
  EXPECT_EQ(engine.Count(filter, keys), found);
}

TEST(EngineTest, AnswersAreThoseOfTheFilter) {
  const SplitBlockBloomFilter filter = FilterOfSome(kSizes[std::size(kSizes) - 1]);
  for (const unsigned threads : kThreads) {
    const Engine engine = PinnedEngine(Backends().front(), threads);
    for (const size_t n : kSizes) {
      const AllForms forms(n);
      for (const Keys& keys : forms.All()) {
        SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(n) + " keys, form " +
                     std::to_string(static_cast<int>(keys.form())));
        ExpectSameAnswers(engine, filter, keys);
      }
    }
  }
}

TEST(EngineTest, AnswersAreThoseOfTheFilterWithEveryBackend) {
  const SplitBlockBloomFilter filter = FilterOfSome(2000);
  const AllForms forms(2000);
  for (const Backend& backend : Backends()) {
    SCOPED_TRACE(backend.name);
    const Engine engine = PinnedEngine(backend, 3);
    for (const Keys& keys : forms.All()) ExpectSameAnswers(engine, filter, keys);
  }
}

// Sizes at which slices are as large as they get, and hits only at their borders.
TEST(EngineTest, SlicesOfLargeCallsMeet) {
  constexpr uint64_t kSlice = 65536;
  constexpr size_t kKeys = 13 * kSlice + 1;
  std::vector<uint64_t> keys(kKeys);
  std::iota(keys.begin(), keys.end(), uint64_t{0});
  SplitBlockBloomFilter filter({.bytes = 1 << 16});
  for (uint64_t border = 0; border < kKeys; border += kSlice) {
    filter.Insert(border);
    if (border != 0) filter.Insert(border - 1);
  }
  const Engine engine = PinnedEngine(Backends().front(), 3);
  ASSERT_EQ(engine.PlanFor(filter, kKeys).chosen.slice_keys, kSlice);
  std::vector<uint64_t> rows(kKeys);
  ASSERT_EQ(engine.Select(filter, keys, std::span(rows)), 27u);
  for (size_t i = 0; i < 27; ++i) EXPECT_EQ(rows[i], (i + 1) / 2 * kSlice - i % 2);
  ExpectSameAnswers(engine, filter, keys);
}

TEST(EngineTest, InsertGivesTheBitsOfOneKeyAtATime) {
  for (const size_t n : kSizes) {
    const AllForms forms(n);
    for (const Keys& keys : forms.All()) {
      SplitBlockBloomFilter want({.capacity = n + 10'000});
      for (size_t i = 0; i < n; ++i) want.Insert(keys.Slice(i, 1));
      for (const unsigned threads : kThreads) {
        for (const bool partitioned : {false, true}) {
          SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(n) + " keys, form " +
                       std::to_string(static_cast<int>(keys.form())));
          SplitBlockBloomFilter filter({.capacity = n + 10'000});
          const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
          EXPECT_EQ(engine.Insert(filter, keys), n);
          EXPECT_EQ(filter.inserted_count(), n);
          EXPECT_EQ(Contents(filter), Contents(want));
        }
      }
    }
  }
}

TEST(EngineTest, InsertIntoAFilterOfManyRegions) {
  constexpr size_t kKeys = 300'000;
  std::vector<uint64_t> keys(kKeys);
  std::iota(keys.begin(), keys.end(), uint64_t{7});
  const FilterOptions options = {.bytes = (uint64_t{9} << 20) + 32 * 77};
  SplitBlockBloomFilter want(options);
  for (const uint64_t key : keys) want.Insert(key);
  for (const Backend& backend : Backends()) {
    for (const unsigned threads : {1, 4}) {
      SplitBlockBloomFilter filter(options);
      const Engine engine = PinnedEngine(backend, threads, true);
      EXPECT_EQ(engine.Insert(filter, std::span(keys).first(kKeys / 2)), kKeys / 2);
      EXPECT_EQ(engine.Insert(filter, std::span(keys).subspan(kKeys / 2)), kKeys / 2);
      EXPECT_EQ(filter.inserted_count(), kKeys);
      EXPECT_EQ(Contents(filter), Contents(want)) << backend.name << ", " << threads << " threads";
    }
  }
}

TEST(EngineTest, InsertOfASequenceAsksForEachKeyOnce) {
  for (const size_t n : {0, 1, 2047, 2048, 2049, 10'007, 200'000}) {
    SplitBlockBloomFilter want({.capacity = 200'000});
    for (size_t i = 0; i < n; ++i) want.Insert(3 * uint64_t{i} + 1);
    for (const unsigned threads : kThreads) {
      for (const bool partitioned : {false, true}) {
        SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(n) + " keys");
        std::vector<std::atomic<int>> asked(n);
        const Engine::KeySource source = [&](uint64_t first, std::span<uint64_t> keys) {
          ASSERT_LE(first + keys.size(), n);
          for (size_t i = 0; i < keys.size(); ++i) {
            ++asked[first + i];
            keys[i] = 3 * (first + i) + 1;
          }
        };
        SplitBlockBloomFilter filter({.capacity = 200'000});
        const Engine engine = PinnedEngine(Backends().front(), threads, partitioned);
        EXPECT_EQ(engine.Insert(filter, n, source), n);
        EXPECT_EQ(filter.inserted_count(), n);
        EXPECT_EQ(Contents(filter), Contents(want));
        EXPECT_TRUE(std::all_of(asked.begin(), asked.end(), [](int count) { return count == 1; }));
      }
    }
  }
}

// What the engine decides by itself, at sizes where it decides differently.
TEST(EngineTest, ItsOwnChoicesGiveTheSameResults) {
  const Engine engine({.threads = 4});
  const FilterOptions options = {.bytes = uint64_t{8} << 20};
  std::vector<uint64_t> keys(1'000'000);
  std::iota(keys.begin(), keys.end(), uint64_t{0});
  SplitBlockBloomFilter want(options), filter(options), made(options);
  for (const size_t n : {size_t{1}, size_t{1000}, keys.size()}) {
    const auto some = std::span(keys).first(n);
    for (const uint64_t key : some) want.Insert(key);
    EXPECT_EQ(engine.Insert(filter, some), n);
    EXPECT_EQ(engine.Insert(made, n,
                            [](uint64_t first, std::span<uint64_t> out) {
                              std::iota(out.begin(), out.end(), first);
                            }),
              n);
    EXPECT_EQ(Contents(filter), Contents(want)) << n;
    EXPECT_EQ(Contents(made), Contents(want)) << n;
    ExpectSameAnswers(engine, filter, some);
  }
}

TEST(EngineTest, OutputsThatAreTooSmallAreRefused) {
  const SplitBlockBloomFilter filter({.capacity = 100});
  const std::vector<uint64_t> keys(129);
  for (const unsigned threads : {1, 2}) {
    const Engine engine = PinnedEngine(Backends().front(), threads);
    std::vector<uint64_t> words(2, kCanary);
    ExpectError([&] { engine.Contains(filter, keys, Bitmap(words)); }, ErrorCode::kInvalidArgument,
                "the output has 2 words, and 129 keys need 3");
    EXPECT_EQ(words, std::vector<uint64_t>(2, kCanary));
    std::vector<uint8_t> bytes(128, 0xEE);
    ExpectError([&] { engine.Contains(filter, keys, std::span(bytes)); },
                ErrorCode::kInvalidArgument, "the output has 128 bytes, and 129 keys need 129");
    EXPECT_EQ(bytes, std::vector<uint8_t>(128, 0xEE));
    std::vector<uint32_t> rows32(128);
    ExpectError([&] { engine.Select(filter, keys, std::span(rows32)); },
                ErrorCode::kInvalidArgument, "the output has 128 elements, and 129 keys need 129");
    std::vector<uint64_t> rows64;
    ExpectError([&] { engine.Select(filter, keys, std::span(rows64)); },
                ErrorCode::kInvalidArgument, "the output has 0 elements, and 129 keys need 129");
  }
}

TEST(EngineTest, TooManyKeysForNarrowIndicesAreRefused) {
  const SplitBlockBloomFilter filter({.capacity = 100});
  const uint64_t key = 0;
  // Neither the keys nor the output are there: the call must look at their sizes alone.
  const Keys keys(std::span(&key, (size_t{1} << 32) + 1));
  uint32_t row = 0;
  ExpectError([&] { Engine().Select(filter, keys, std::span(&row, keys.size())); },
              ErrorCode::kInvalidArgument, "4294967297 keys");
}

TEST(EngineTest, MappedFiltersAreAskedAndNotChanged) {
  const TemporaryFolder folder;
  SplitBlockBloomFilter filter = FilterOfSome(1000);
  filter.Save(folder / "f.tamis");
  SplitBlockBloomFilter mapped = SplitBlockBloomFilter::Map(folder / "f.tamis");
  const AllForms forms(1000);
  const Engine engine = PinnedEngine(Backends().front(), 3, true);
  for (const Keys& keys : forms.All()) {
    EXPECT_EQ(engine.Insert(mapped, keys), 0u);
    ExpectSameAnswers(engine, mapped, keys);
  }
  EXPECT_EQ(engine.Insert(mapped, 10, [](uint64_t, std::span<uint64_t>) { FAIL(); }), 0u);
  EXPECT_EQ(mapped.inserted_count(), filter.inserted_count());
  EXPECT_EQ(Contents(mapped), Contents(filter));
}

TEST(EngineTest, SeveralThreadsShareAnEngine) {
  const SplitBlockBloomFilter filter = FilterOfSome(3000);
  const AllForms forms(3000);
  for (const unsigned threads : {1, 3}) {
    const Engine engine = PinnedEngine(Backends().front(), threads);
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        for (const Keys& keys : forms.All()) ExpectSameAnswers(engine, filter, keys);
        SplitBlockBloomFilter own({.capacity = 3000});
        EXPECT_EQ(engine.Insert(own, forms.All()[0]), 3000u);
        EXPECT_EQ(own.Count(forms.All()[0]), 3000u);
      });
    }
  }
}

TEST(EngineTest, MovedEnginesWork) {
  const SplitBlockBloomFilter filter = FilterOfSome(1000);
  const AllForms forms(1000);
  Engine first = PinnedEngine(Backends().front(), 3);
  ExpectSameAnswers(first, filter, forms.All()[0]);
  Engine second = std::move(first);
  ExpectSameAnswers(second, filter, forms.All()[0]);
  second = PinnedEngine(Backends().back(), 2);
  ExpectSameAnswers(second, filter, forms.All()[0]);
}

}  // namespace
}  // namespace tamis
