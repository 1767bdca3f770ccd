// Rebuilds: their results, their progress, and all the ways in which they fail.
#include "tamis/live/rebuild.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/engine/build.h"
#include "tamis/live/live.h"
#include "tests/core/file_test_util.h"
#include "tests/live/live_test_util.h"
#include "tests/system_faults.h"

namespace tamis::rebuild_test {

using Source = RebuildSource<LockedBlocks>;

class RebuildTest : public testing::Test {
 protected:
  RebuildTest() { live_.Publish(FilterOf<LockedBlocks>({1})); }
  ~RebuildTest() override { EXPECT_LE(LockedBlocks::instances, 1); }

  // The old filter serves, the error is visible, and the next rebuild works as without the failure.
  void ExpectFailed(const std::string& text, std::optional<ErrorCode> code) {
    EXPECT_EQ(live_.Read().generation(), 1u);
    EXPECT_TRUE(live_.Read()->Contains(uint64_t{1}));
    EXPECT_EQ(LockedBlocks::instances, 1);
    LiveStatus status = live_.status();
    EXPECT_FALSE(status.rebuilding);
    EXPECT_EQ(status.failures, 1u);
    ASSERT_TRUE(status.failure);
    EXPECT_NE(status.failure->text.find(text), std::string::npos) << status.failure->text;
    EXPECT_EQ(status.failure->code, code);
    EXPECT_EQ(live_.Rebuild(Plain()), 2u);
    EXPECT_TRUE(live_.Read()->Contains(uint64_t{2}));
    status = live_.status();
    EXPECT_FALSE(status.failure);
    EXPECT_EQ(status.failures, 1u);
    EXPECT_EQ(LockedBlocks::instances, 1);
  }

  static Source Plain() {
    return {[](RebuildContext&) { return FilterOf<LockedBlocks>({1, 2}); }};
  }

  Live<LockedBlocks> live_;
};

TEST_F(RebuildTest, PublishesTheFilterOfTheSource) {
  const Snapshot<LockedBlocks> before = live_.Read();
  EXPECT_EQ(live_.Rebuild(Plain()), 2u);
  EXPECT_TRUE(live_.Read()->Contains(uint64_t{2}));
  EXPECT_EQ(before.generation(), 1u);
  EXPECT_EQ(LockedBlocks::instances, 2);
}

TEST_F(RebuildTest, TellsHowFarItIs) {
  std::vector<uint64_t> told;
  const Source source = {[&](RebuildContext& context) {
    context.SetTotal(100);
    for (int i = 0; i < 4; ++i) {
      context.Advance(25);
      const LiveStatus status = live_.status();
      EXPECT_TRUE(status.rebuilding);
      EXPECT_EQ(status.progress.done, 25u * static_cast<uint64_t>(i + 1));
      EXPECT_EQ(status.progress.total, 100u);
    }
    return FilterOf<LockedBlocks>({1});
  }};
  live_.Rebuild(source, {.on_progress = [&](const RebuildProgress& progress) {
                  told.push_back(progress.done);
                }});
  EXPECT_EQ(told, (std::vector<uint64_t>{25, 50, 75, 100}));
  EXPECT_FALSE(live_.status().rebuilding);
}

// The shortest source, for keys that can be read twice.
TEST_F(RebuildTest, BuildsFromKeys) {
  Live<SplitBlockBloomFilter> live;
  const std::vector<uint64_t> keys = {3, 4, 5};
  live.Rebuild({[&](RebuildContext& context) {
    return Build<SplitBlockBloomFilter>(
        [&](const auto& visit) {
          context.Advance(keys.size());
          visit(keys);
        },
        {.fpr = 0.001});
  }});
  EXPECT_EQ(live.Read()->Count(keys), 3u);
}

TEST_F(RebuildTest, AgeCountsFromItsBeginning) {
  using std::chrono::steady_clock;
  std::atomic<steady_clock::time_point> now = steady_clock::time_point(std::chrono::hours(1));
  Live<LockedBlocks> live({.clock = [&] { return now.load(); }});
  live.Rebuild({[&](RebuildContext&) {
    now = now.load() + std::chrono::minutes(10);
    return FilterOf<LockedBlocks>({1});
  }});
  EXPECT_EQ(live.Read().age(), std::chrono::minutes(10));
}

TEST_F(RebuildTest, RunsOnAThreadOfItsOwn) {
  Event go;
  std::thread::id thread;
  RebuildJob job = live_.StartRebuild({[&](RebuildContext&) {
    go.Wait();
    thread = std::this_thread::get_id();
    return FilterOf<LockedBlocks>({1, 2});
  }});
  EXPECT_FALSE(job.done());
  EXPECT_TRUE(live_.status().rebuilding);
  EXPECT_EQ(live_.Read().generation(), 1u);
  go.Set();
  EXPECT_EQ(job.Wait(), 2u);
  EXPECT_TRUE(job.done());
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_FALSE(live_.status().rebuilding);
}

TEST_F(RebuildTest, OneAtATime) {
  Event go;
  RebuildJob job = live_.StartRebuild({[&](RebuildContext&) {
    go.Wait();
    return FilterOf<LockedBlocks>({1, 2});
  }});
  ExpectError([&] { live_.Rebuild(Plain()); }, ErrorCode::kBusy, "a rebuild is already running");
  ExpectError([&] { (void)live_.StartRebuild(Plain()); }, ErrorCode::kBusy, "already running");
  ExpectError([&] { live_.Publish(FilterOf<LockedBlocks>({9})); }, ErrorCode::kBusy,
              "cannot be published while a rebuild is running");
  go.Set();
  EXPECT_EQ(job.Wait(), 2u);
  EXPECT_EQ(live_.Publish(FilterOf<LockedBlocks>({9})), 3u);
  EXPECT_EQ(live_.Rebuild(Plain()), 4u);
}

TEST_F(RebuildTest, FailsWithTheErrorOfTheSource) {
  ExpectError(
      [&] {
        live_.Rebuild({[](RebuildContext&) -> LockedBlocks {
          throw Error(ErrorCode::kIo, "the table cannot be read");
        }});
      },
      ErrorCode::kIo, "the table cannot be read");
  ExpectFailed("the table cannot be read", ErrorCode::kIo);
}

TEST_F(RebuildTest, FailsWithWhateverTheSourceThrows) {
  EXPECT_THROW(live_.Rebuild({[](RebuildContext&) -> LockedBlocks { throw 7; }}), int);
  ExpectFailed("not a std::exception", {});
}

TEST_F(RebuildTest, FailsWithoutMemory) {
  EXPECT_THROW(live_.Rebuild({[](RebuildContext&) -> LockedBlocks { throw std::bad_alloc(); }}),
               std::bad_alloc);
  ExpectFailed("out of memory", ErrorCode::kOutOfMemory);
}

TEST_F(RebuildTest, FailsWhenTheSnapshotCannotBeOpened) {
  Source source = Plain();
  source.open_snapshot = [] { throw std::runtime_error("no snapshot"); };
  EXPECT_THROW(live_.Rebuild(source), std::runtime_error);
  ExpectFailed("no snapshot", {});
}

TEST_F(RebuildTest, FailsWithTheExceptionOfItsCallback) {
  const Source source = {[](RebuildContext& context) {
    context.Advance(1);
    return FilterOf<LockedBlocks>({9});
  }};
  const RebuildOptions options = {
      .on_progress = [](const RebuildProgress&) { throw std::runtime_error("no terminal"); }};
  EXPECT_THROW(live_.Rebuild(source, options), std::runtime_error);
  ExpectFailed("no terminal", {});
}

TEST_F(RebuildTest, FailsOnItsThreadAsOnTheCallers) {
  RebuildJob job = live_.StartRebuild(
      {[](RebuildContext&) -> LockedBlocks { throw Error(ErrorCode::kIo, "no table"); }});
  ExpectError([&] { job.Wait(); }, ErrorCode::kIo, "no table");
  ExpectFailed("no table", ErrorCode::kIo);
}

// The source saves the filter while the disk is full.
TEST_F(RebuildTest, FailsWhenItsFilterCannotBeSaved) {
  const TemporaryFolder folder;
  const auto path = folder / "new.tamis";
  SystemFaults faults;
  faults.write = [] {
    errno = ENOSPC;
    return ssize_t{-1};
  };
  ExpectError(
      [&] {
        live_.Rebuild({[&](RebuildContext&) {
          SplitBlockBloomFilter filter = FilterOf<SplitBlockBloomFilter>({1, 2});
          filter.Save(path);
          return LockedBlocks(std::move(filter));
        }});
      },
      ErrorCode::kIo, "No space left");
  faults.write = {};
  EXPECT_FALSE(std::filesystem::exists(path));
  ExpectFailed("No space left", ErrorCode::kIo);
}

TEST_F(RebuildTest, IsCancelledWhereItsSourceAdvances) {
  Event started;
  RebuildJob job = live_.StartRebuild({[&](RebuildContext& context) -> LockedBlocks {
    for (;;) {
      context.Advance(1);
      started.Set();
    }
  }});
  started.Wait();
  job.Cancel();
  ExpectError([&] { job.Wait(); }, ErrorCode::kCancelled, "the rebuild was cancelled");
  ExpectFailed("the rebuild was cancelled", ErrorCode::kCancelled);
}

TEST_F(RebuildTest, ACancelledOneIsNotPublishedWhateverItsSourceDoes) {
  Event started, go;
  RebuildJob job = live_.StartRebuild({[&](RebuildContext& context) {
    started.Set();
    go.Wait();
    EXPECT_TRUE(context.stop().stop_requested());
    return FilterOf<LockedBlocks>({9});
  }});
  started.Wait();
  job.Cancel();
  go.Set();
  ExpectError([&] { job.Wait(); }, ErrorCode::kCancelled, "cancelled");
  ExpectFailed("cancelled", ErrorCode::kCancelled);
}

TEST_F(RebuildTest, IsCancelledBeforeItBegins) {
  std::stop_source stop;
  stop.request_stop();
  ExpectError([&] { live_.Rebuild(Plain(), {}, stop.get_token()); }, ErrorCode::kCancelled,
              "cancelled");
  ExpectFailed("cancelled", ErrorCode::kCancelled);
}

TEST_F(RebuildTest, AJobThatIsLetGoIsCancelledAndAwaited) {
  std::atomic<bool> running = false;
  {
    Event started;
    const RebuildJob job = live_.StartRebuild({[&](RebuildContext& context) -> LockedBlocks {
      running = true;
      started.Set();
      try {
        for (;;) context.Advance(1);
      } catch (...) {
        running = false;
        throw;
      }
    }});
    started.Wait();
  }
  EXPECT_FALSE(running);
  ExpectFailed("cancelled", ErrorCode::kCancelled);
}

TEST_F(RebuildTest, RefusesOptionsOutOfRange) {
  ExpectError([&] { live_.Rebuild(Plain(), {.max_recorded = 0}); }, ErrorCode::kInvalidArgument,
              "max_recorded is 0; allowed: at least 1");
  ExpectFailed("max_recorded", ErrorCode::kInvalidArgument);
  ExpectError([&] { live_.Rebuild({}); }, ErrorCode::kInvalidArgument, "no function `build`");
}

}  // namespace tamis::rebuild_test
