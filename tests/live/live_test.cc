// Publishing and reading a live filter: generations, ages, and the end of old filters.
#include "tamis/live/live.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tests/core/file_test_util.h"
#include "tests/live/live_test_util.h"
#include "tests/test_util.h"

namespace tamis::live_test {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

TEST(LiveTest, HasNothingBeforeTheFirst) {
  const Live<SplitBlockBloomFilter> live;
  const auto snapshot = live.Read();
  EXPECT_FALSE(snapshot);
  EXPECT_EQ(snapshot.generation(), 0u);
  EXPECT_EQ(snapshot.age(), nanoseconds(0));
  const LiveStatus status = live.status();
  EXPECT_EQ(status.generation, 0u);
  EXPECT_FALSE(status.rebuilding);
  EXPECT_FALSE(status.failure);
}

TEST(LiveTest, PublishesGenerations) {
  Live<SplitBlockBloomFilter> live;
  EXPECT_EQ(live.Publish(FilterOf<SplitBlockBloomFilter>({1, 2, 3})), 1u);
  const auto first = live.Read();
  EXPECT_EQ(live.Publish(FilterOf<SplitBlockBloomFilter>({4})), 2u);
  const auto second = live.Read();
  EXPECT_EQ(first.generation(), 1u);
  EXPECT_TRUE(first->Contains(uint64_t{3}));
  EXPECT_EQ(second.generation(), 2u);
  EXPECT_TRUE((*second).Contains(uint64_t{4}));
  EXPECT_EQ(second->inserted_count(), 1u);
  EXPECT_EQ(live.status().generation, 2u);
}

TEST(LiveTest, OfAnyFilterReadersAskTheFilterInIt) {
  Live<AnyFilter> live;
  live.Publish(FilterOf<CuckooFilter<8>>({7}));
  EXPECT_EQ(live.Read()->kind(), FilterKind::kCuckoo8);
  live.Publish(FilterOf<SplitBlockBloomFilter>({7, 8}));
  const Filter& filter = *live.Read();
  EXPECT_EQ(filter.Count(std::vector<uint64_t>{7, 8}), 2u);
}

TEST(LiveTest, TheOldFilterGoesWithItsLastReader) {
  ASSERT_EQ(LockedBlocks::instances, 0);
  {
    Live<LockedBlocks> live;
    live.Publish(FilterOf<LockedBlocks>({1}));
    Snapshot<LockedBlocks> reader = live.Read();
    Snapshot<LockedBlocks> copy = reader;
    live.Publish(FilterOf<LockedBlocks>({2}));
    EXPECT_EQ(LockedBlocks::instances, 2);
    EXPECT_TRUE(reader->Contains(uint64_t{1}));
    reader = {};
    EXPECT_EQ(LockedBlocks::instances, 2);
    copy = live.Read();
    EXPECT_EQ(LockedBlocks::instances, 1);
    for (int i = 0; i < 100; ++i) live.Publish(FilterOf<LockedBlocks>({3}));
    EXPECT_EQ(LockedBlocks::instances, 2) << "one that serves, one that is read";
    std::thread([&] { copy = {}; }).join();
    EXPECT_EQ(LockedBlocks::instances, 1);
  }
  EXPECT_EQ(LockedBlocks::instances, 0);
}

TEST(LiveTest, ALeaseOutlivesTheLive) {
  Snapshot<LockedBlocks> snapshot;
  {
    Live<LockedBlocks> live;
    live.Publish(FilterOf<LockedBlocks>({1}));
    snapshot = live.Read();
  }
  EXPECT_TRUE(snapshot->Contains(uint64_t{1}));
  EXPECT_GE(snapshot.age(), nanoseconds(0));
}

TEST(LiveTest, AgesCountFromTheTimeOfTheData) {
  std::atomic<steady_clock::time_point> now = steady_clock::time_point(hours(100));
  Live<SplitBlockBloomFilter> live({.clock = [&] { return now.load(); }});
  live.Publish(FilterOf<SplitBlockBloomFilter>({}));
  EXPECT_EQ(live.Read().age(), nanoseconds(0));
  now = now.load() + seconds(5);
  EXPECT_EQ(live.Read().age(), seconds(5));
  EXPECT_EQ(live.status().age, seconds(5));
  live.Publish(FilterOf<SplitBlockBloomFilter>({}), hours(2));
  EXPECT_EQ(live.Read().age(), hours(2));
  ExpectError([&] { live.Publish(FilterOf<SplitBlockBloomFilter>({}), nanoseconds(-1)); },
              ErrorCode::kInvalidArgument, "is -1 ns; allowed: at least 0");
  EXPECT_EQ(live.Read().generation(), 2u);
}

TEST(LiveTest, NoAgeIsNegativeByAClockThatGoesBackwards) {
  std::atomic<steady_clock::time_point> now = steady_clock::time_point(hours(100));
  Live<SplitBlockBloomFilter> live({.clock = [&] { return now.load(); }});
  live.Publish(FilterOf<SplitBlockBloomFilter>({1}));
  now = now.load() - hours(3);
  EXPECT_EQ(live.Read().age(), nanoseconds(0));
  EXPECT_EQ(live.status().age, nanoseconds(0));
  EXPECT_TRUE(live.Read()->Contains(uint64_t{1}));
}

TEST(LiveTest, RefusesAnUnknownHash) {
  ExpectError([] { Live<LockedBlocks> live({.hash = {static_cast<HashKind>(77)}}); },
              ErrorCode::kInvalidArgument, "hash kind 77 does not exist");
}

// A moved-from filter would answer "no" to every key.
template <typename F>
void ExpectRefused(F first, F moved_from) {
  Live<F> live;
  live.Publish(std::move(first));
  ExpectError([&] { live.Publish(std::move(moved_from)); }, ErrorCode::kInvalidArgument,
              "was moved from");
  ExpectError([&] { live.Rebuild({[&](RebuildContext&) { return std::move(moved_from); }}); },
              ErrorCode::kInvalidArgument, "publish the filter that it was moved to");
  EXPECT_EQ(live.status().failure->code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(live.Read().generation(), 1u);
  EXPECT_TRUE(live.Read()->Contains(uint64_t{1}));
}

TEST(LiveTest, RefusesAFilterThatWasMovedFrom) {
  const auto two = [](auto filter) {
    using F = decltype(filter);
    filter.Insert(std::vector<uint64_t>{1});
    F other(std::move(filter));
    ExpectRefused(std::move(other), std::move(filter));
  };
  two(SplitBlockBloomFilter({.capacity = 100}));
  two(CuckooFilter<12>({.capacity = 100}));
  two(ScalableFilter<BloomFilter>(ScalableOptions{.initial_capacity = 100}));
  two(ConcurrentSplitBlockBloomFilter({.capacity = 100}));
  two(ConcurrentBloomFilter({.capacity = 100}));
  two(ConcurrentCuckooFilter<16>({.capacity = 100}));
  AnyFilter empty = FilterOf<SplitBlockBloomFilter>({1});
  AnyFilter full(std::move(empty));
  ExpectRefused(std::move(full), std::move(empty));
  SplitBlockBloomFilter filter = FilterOf<SplitBlockBloomFilter>({1});
  AnyFilter any(std::move(filter));
  ExpectRefused(std::move(any), AnyFilter(std::move(filter)));
}

// A filter that never had a key counts as an empty filter.
TEST(LiveTest, TakesAFilterOfNothing) {
  const TemporaryFolder folder;
  SplitBlockBloomFilter({.capacity = 1}).Save(folder / "empty");
  Live<SplitBlockBloomFilter> live;
  live.Publish(SplitBlockBloomFilter({.capacity = 1}));
  EXPECT_EQ(live.Publish(SplitBlockBloomFilter::Map(folder / "empty")), 2u);
}

TEST(LiveTest, OthersMayNoteFailures) {
  Live<SplitBlockBloomFilter> live;
  live.Publish(FilterOf<SplitBlockBloomFilter>({1}));
  live.NoteFailure(std::make_exception_ptr(Error(ErrorCode::kIo, "no disk")));
  live.NoteFailure(std::make_exception_ptr(7));
  LiveStatus status = live.status();
  EXPECT_EQ(status.failures, 2u);
  EXPECT_EQ(status.failure->text, "an exception that is not a std::exception was thrown");
  EXPECT_FALSE(status.failure->code);
  EXPECT_EQ(status.generation, 1u);
  live.Publish(FilterOf<SplitBlockBloomFilter>({1}));
  status = live.status();
  EXPECT_FALSE(status.failure) << "it is over";
  EXPECT_EQ(status.failures, 2u);
}

TEST(FailureTest, RepeatsTheTextOfAnException) {
  const auto of = [](auto exception) { return FailureOf(std::make_exception_ptr(exception)); };
  EXPECT_EQ(of(Error(ErrorCode::kCorrupt, "torn")).text, "torn");
  EXPECT_EQ(of(Error(ErrorCode::kCorrupt, "torn")).code, ErrorCode::kCorrupt);
  EXPECT_EQ(of(std::bad_alloc()).code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(of(std::runtime_error("mine")).text, "mine");
  EXPECT_FALSE(of(std::runtime_error("mine")).code);
}

// A filter whose words all equal its number. If it were published before it is complete, a test
// would notice.
struct Numbered {
  explicit Numbered(uint64_t number) : words(1000, number) {}
  std::vector<uint64_t> words;
};

TEST(LiveTest, NoReaderSeesAnIncompleteFilter) {
  Live<Numbered> live;
  live.Publish(Numbered(1));
  std::atomic<uint64_t> torn = 0, went_back = 0, read = 0;
  std::vector<std::jthread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&](const std::stop_token& stop) {
      uint64_t last = 0;
      while (!stop.stop_requested()) {
        const auto snapshot = live.Read();
        for (const uint64_t word : snapshot->words) torn += word != snapshot.generation();
        went_back += snapshot.generation() < last;
        last = snapshot.generation();
        ++read;
      }
    });
  }
  uint64_t last = 1;
  while (last < 1000 || read < 1000) {
    ++last;
    EXPECT_EQ(live.Publish(Numbered(last)), last);
  }
  EXPECT_EQ(live.Read().generation(), last);
  readers.clear();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(went_back, 0u);
}

// 1,000 swaps while threads read: each filter has the keys of all generations, and old filters are
// freed.
TEST(LiveTest, AThousandSwapsUnderReaders) {
  const std::vector<uint64_t> keys = RandomKeys(500, /*seed=*/1);
  {
    Live<LockedBlocks> live;
    live.Publish(FilterOf<LockedBlocks>(keys, 1000));
    std::atomic<uint64_t> missed = 0, read = 0;
    std::vector<std::jthread> readers;
    for (int r = 0; r < 3; ++r) {
      readers.emplace_back([&](const std::stop_token& stop) {
        for (; !stop.stop_requested(); ++read) missed += keys.size() - live.Read()->Count(keys);
      });
    }
    for (int i = 0; i < 1000 || read < 1000; ++i) live.Publish(FilterOf<LockedBlocks>(keys, 1000));
    readers.clear();
    EXPECT_EQ(missed, 0u);
    EXPECT_EQ(LockedBlocks::instances, 1);
  }
  EXPECT_EQ(LockedBlocks::instances, 0);
}

}  // namespace tamis::live_test
