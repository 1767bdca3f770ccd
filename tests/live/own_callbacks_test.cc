// Rebuilds and watches whose own callbacks end them or wait for them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "tamis/live/live.h"
#include "tamis/live/watch.h"
#include "tests/core/file_test_util.h"
#include "tests/live/live_test_util.h"

namespace tamis::own_callbacks_test {

using std::chrono::milliseconds;
using Blocks = SplitBlockBloomFilter;

// Returns whether the condition becomes true within some seconds.
bool Becomes(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(5));
  return condition();
}

class OwnJobTest : public testing::Test {
 protected:
  OwnJobTest() { live_->Publish(FilterOf<Blocks>({1})); }

  // Starts job_, which calls `act` once job_ is set.
  void Start(const std::function<void(RebuildContext&)>& act) {
    job_.emplace(live_->StartRebuild({[this, act](RebuildContext& context) {
      started_.Wait();
      act(context);
      return FilterOf<Blocks>({1, 2});
    }}));
    started_.Set();
  }
  void ExpectCancelled() {
    EXPECT_TRUE(Becomes([&] { return !live_->status().rebuilding; }));
    EXPECT_EQ(live_->Read().generation(), 1u);
    EXPECT_EQ(live_->status().failure->code, ErrorCode::kCancelled);
    EXPECT_EQ(live_->Rebuild({[](RebuildContext&) { return FilterOf<Blocks>({3}); }}), 2u);
  }

  Event started_;
  std::unique_ptr<Live<Blocks>> live_ = std::make_unique<Live<Blocks>>();
  std::optional<RebuildJob> job_;
};

TEST_F(OwnJobTest, CannotWaitForItself) {
  Start([&](RebuildContext&) {
    ExpectError([&] { job_->Wait(); }, ErrorCode::kInvalidArgument, "cannot wait for its own end");
  });
  EXPECT_EQ(job_->Wait(), 2u);
  ExpectError([&] { job_->Wait(); }, ErrorCode::kInvalidArgument, "can be called once");
}

TEST_F(OwnJobTest, IsCancelledWhereItsSourceDestroysIt) {
  Start([&](RebuildContext&) { job_.reset(); });
  ExpectCancelled();
}

TEST_F(OwnJobTest, IsCancelledWhereItsSourceAssignsAnotherToIt) {
  Live<Blocks> other;
  Start([&](RebuildContext& context) {
    *job_ = other.StartRebuild({[](RebuildContext&) { return FilterOf<Blocks>({9}); }});
    ExpectError([&] { context.Advance(1); }, ErrorCode::kCancelled, "cancelled");
  });
  ExpectCancelled();
  EXPECT_EQ(job_->Wait(), 1u);
  EXPECT_TRUE(other.Read()->Contains(uint64_t{9}));
}

TEST_F(OwnJobTest, TheLiveOutlivesIt) {
  Event gone;
  std::atomic<bool> ended = false;
  Start([&](RebuildContext&) {
    job_.reset();
    gone.Set();
    std::this_thread::sleep_for(milliseconds(30));
    ended = true;
  });
  gone.Wait();
  live_.reset();
  EXPECT_TRUE(ended);
}

class OwnWatchTest : public testing::Test {
 protected:
  OwnWatchTest() { Save(2); }

  void Save(uint64_t key) const { SaveWatched(FilterOf<Blocks>({1, key}), path_); }

  // Watches the file. `act` is called when the file is loaded again, once watch_ is set.
  void Watched(std::chrono::nanoseconds interval, const std::function<void()>& act) {
    auto token = std::make_shared<int>();
    loader_ = token;
    watch_ = std::make_unique<Watch<Blocks>>(
        live_, path_,
        WatchOptions<Blocks>{.interval = interval,
                             .load = [this, act, token](const std::filesystem::path& path) {
                               if (++loads_ > 1) {
                                 there_.Wait();
                                 act();
                               }
                               return Blocks::Load(path);
                             }});
    Save(3);
    there_.Set();
  }
  void ExpectEnded() {
    EXPECT_TRUE(Becomes([&] { return loader_.expired(); })) << "its thread has ended";
    EXPECT_EQ(loads_, 2);
    EXPECT_EQ(live_.Read().generation(), 1u) << "what was loaded meanwhile is not published";
    EXPECT_EQ(live_.status().failures, 0u);
  }

  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "watched.tamis";
  Live<Blocks> live_;
  Event there_;
  std::atomic<int> loads_ = 0;
  std::weak_ptr<int> loader_;
  std::unique_ptr<Watch<Blocks>> watch_;
};

TEST_F(OwnWatchTest, EndsWhereItsLoaderDestroysIt) {
  Event gone;
  Watched(milliseconds(1), [&] {
    watch_.reset();
    gone.Set();
  });
  gone.Wait();
  ExpectEnded();
}

// At the same time, the watch's own thread begins a check, which must not wait for this check.
TEST_F(OwnWatchTest, EndsWhereALoaderThatWasCalledByHandDestroysIt) {
  Watched(milliseconds(400), [&] {
    std::this_thread::sleep_for(milliseconds(600));
    watch_.reset();
  });
  EXPECT_FALSE(watch_->CheckNow());
  ExpectEnded();
}

TEST_F(OwnWatchTest, ALoaderCannotHaveTheFileChecked) {
  Watched(milliseconds(3'600'000), [&] { watch_->CheckNow(); });
  EXPECT_FALSE(watch_->CheckNow());
  EXPECT_EQ(watch_->status().file, WatchedFile::kRefused);
  EXPECT_EQ(watch_->status().failure->code, ErrorCode::kInvalidArgument);
  EXPECT_NE(watch_->status().failure->text.find("must not check the file"), std::string::npos);
  EXPECT_EQ(live_.Read().generation(), 1u);
}

}  // namespace tamis::own_callbacks_test
