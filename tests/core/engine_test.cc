// The Engine's own choices, slices and threads. contract_bulk_test.cc tests that it gives the same
// results as the functions of every filter kind.
#include "tamis/engine/engine.h"

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
#include "tamis/backends.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/keys.h"
#include "tests/core/contract.h"
#include "tests/core/reference_filter.h"
#include "tests/test_util.h"

namespace tamis::engine_test {

constexpr unsigned kThreads[] = {1, 2, 3, 5, 8};

// Returns a filter with two of three keys of every layout.
SplitBlockBloomFilter FilterOfSome(const AllLayouts& layouts) {
  SplitBlockBloomFilter filter({.capacity = 8 * layouts.u64().size()});
  for (const AllLayouts::Set& set : layouts.sets()) {
    for (size_t i = 0; i < set.keys.size(); ++i) {
      if (i % 3 != 0) filter.Insert(set.keys.Slice(i, 1));
    }
  }
  return filter;
}

void ExpectSameAnswers(const Engine& engine, const Filter& filter, const Keys& keys) {
  const size_t n = keys.size();
  std::vector<uint64_t> want(BitmapWords(n)), got(BitmapWords(n));
  const size_t found = filter.Contains(keys, Bitmap(want));
  EXPECT_EQ(engine.Contains(filter, keys, Bitmap(got)), found);
  EXPECT_EQ(got, want);
  std::vector<uint8_t> want_bytes(n), got_bytes(n);
  filter.Contains(keys, std::span(want_bytes));
  EXPECT_EQ(engine.Contains(filter, keys, std::span(got_bytes)), found);
  EXPECT_EQ(got_bytes, want_bytes);
  std::vector<uint32_t> want_rows(n), got_rows(n);
  filter.Select(keys, std::span(want_rows));
  EXPECT_EQ(engine.Select(filter, keys, std::span(got_rows)), found);
  want_rows.resize(found);
  got_rows.resize(found);
  EXPECT_EQ(got_rows, want_rows);
  EXPECT_EQ(engine.Count(filter, keys), found);
}

// Sizes at which slices reach their maximum, with hits only at their borders.
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
  ASSERT_EQ(engine.PlanCall(filter, kKeys).chosen.slice_keys, kSlice);
  std::vector<uint64_t> rows(kKeys);
  ASSERT_EQ(engine.Select(filter, keys, std::span(rows)), 27u);
  for (size_t i = 0; i < 27; ++i) EXPECT_EQ(rows[i], (i + 1) / 2 * kSlice - i % 2);
  ExpectSameAnswers(engine, filter, keys);
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
      EXPECT_TRUE(SameBytes(filter.payload(), want.payload()))
          << backend.name << ", " << threads << " threads";
    }
  }
}

// Lookups ordered by region, where threads have their own lists and several callers share an
// engine.
TEST(EngineTest, OrderedLookupsInAFilterOfManyRegions) {
  constexpr size_t kKeys = 50'001;
  const AllLayouts layouts(kKeys, /*seed=*/1);
  SplitBlockBloomFilter filter({.bytes = (uint64_t{9} << 20) + 32 * 77});
  for (const AllLayouts::Set& set : layouts.sets()) filter.Insert(set.keys.Slice(0, kKeys / 2));
  std::vector<uint8_t> valid(kKeys / 8 + 2);
  for (size_t i = 0; i < valid.size(); ++i) valid[i] = static_cast<uint8_t>(Mix(i));
  for (const unsigned threads : kThreads) {
    const Engine engine = PinnedEngine(Backends().front(), threads, true);
    std::vector<std::jthread> callers;
    for (int c = 0; c < 2; ++c) {
      callers.emplace_back([&, c] {
        for (const AllLayouts::Set& set : layouts.sets()) {
          const Keys keys = c == 0 ? set.keys : set.keys.WithValidity(valid.data(), 3);
          SCOPED_TRACE(std::string(set.name) + ", " + std::to_string(threads) + " threads");
          ExpectSameAnswers(engine, filter, keys);
          ExpectSameAnswers(engine, filter, keys.Slice(1, kKeys / 3));
        }
      });
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
        EXPECT_TRUE(SameBytes(filter.payload(), want.payload()));
        EXPECT_TRUE(std::all_of(asked.begin(), asked.end(), [](int count) { return count == 1; }));
      }
    }
  }
}

// The choices that the engine makes by itself, at sizes where they differ.
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
    EXPECT_TRUE(SameBytes(filter.payload(), want.payload())) << n;
    EXPECT_TRUE(SameBytes(made.payload(), want.payload())) << n;
    ExpectSameAnswers(engine, filter, some);
  }
}

TEST(EngineTest, SeveralThreadsShareAnEngine) {
  const AllLayouts layouts(3000, /*seed=*/1);
  const SplitBlockBloomFilter filter = FilterOfSome(layouts);
  for (const unsigned threads : {1, 3}) {
    const Engine engine = PinnedEngine(Backends().front(), threads);
    std::vector<std::jthread> callers;
    for (int c = 0; c < 4; ++c) {
      callers.emplace_back([&] {
        for (const AllLayouts::Set& set : layouts.sets())
          ExpectSameAnswers(engine, filter, set.keys);
        SplitBlockBloomFilter own({.capacity = 3000});
        EXPECT_EQ(engine.Insert(own, layouts.u64()), 3000u);
        EXPECT_EQ(own.Count(layouts.u64()), 3000u);
      });
    }
  }
}

TEST(EngineTest, MovedEnginesWork) {
  const AllLayouts layouts(1000, /*seed=*/1);
  const SplitBlockBloomFilter filter = FilterOfSome(layouts);
  Engine first = PinnedEngine(Backends().front(), 3);
  ExpectSameAnswers(first, filter, layouts.u64());
  Engine second = std::move(first);
  ExpectSameAnswers(second, filter, layouts.u64());
  second = PinnedEngine(Backends().back(), 2);
  ExpectSameAnswers(second, filter, layouts.u64());
}

}  // namespace tamis::engine_test
