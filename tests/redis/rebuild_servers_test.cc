// A filter is rebuilt while its clients continue, on a single server and on a cluster.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tamis/redis/near_cache.h"
#include "tests/redis/askers.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/test_util.h"

namespace tamis::redis::rebuild_servers_test {

using std::chrono::milliseconds;

class RedisRebuildTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    TAMIS_NEED(servers());
    // Enough segments for two portions.
    SplitBlockFilter filter = SplitBlockFilter::Create(options(), name_, {{.bytes = 1'500'000}});
    filter.Insert(known_);
    filter.Insert(gone_);
    database_.Add(known_);
  }
  Servers& servers() {
    return std::string(GetParam()) == "cluster" ? Servers::Cluster() : Servers::Single();
  }
  ServerOptions options() { return servers().options(); }
  SplitBlockFilter OpenIt(const ClientOptions& client = {}) {
    return SplitBlockFilter::Open(options(), name_, client);
  }
  // Expects the filter as it was before a rebuild that failed.
  void ExpectAsBefore(std::vector<uint64_t> more = {}) {
    more.insert(more.end(), known_.begin(), known_.end());
    more.insert(more.end(), gone_.begin(), gone_.end());
    ExpectHasJust(options(), name_, more);
    ExpectOneGeneration(servers(), name_);
    EXPECT_EQ(OpenIt().GetInfo().rebuild, RebuildState::kNone);
  }
  static RebuildOptions NoGrace() { return {.grace = milliseconds(0)}; }

  const std::string name_ = NewName();
  const std::vector<uint64_t> known_ = RandomKeys(20'000, 1);
  const std::vector<uint64_t> gone_ = RandomKeys(5'000, 2);  // not in the database
  Database database_;
};

TEST_P(RedisRebuildTest, ContainsTheKeysOfTheSource) {
  SplitBlockFilter filter = OpenIt();
  const uint64_t before = filter.GetInfo().generation;
  std::vector<RebuildStep> steps;
  RebuildOptions rebuild = NoGrace();
  rebuild.on_progress = [&](const RebuildProgress& progress) {
    EXPECT_LE(progress.done, progress.total == 0 ? known_.size() : progress.total);
    if (steps.empty() || steps.back() != progress.step) steps.push_back(progress.step);
  };
  const RebuildResult result = Rebuild(filter, database_.Source(), rebuild);
  EXPECT_EQ(result.keys, known_.size());
  EXPECT_FALSE(result.ended_abandoned);
  EXPECT_EQ(steps, (std::vector<RebuildStep>{RebuildStep::kMark, RebuildStep::kFill,
                                             RebuildStep::kMerge, RebuildStep::kSwitch,
                                             RebuildStep::kClose, RebuildStep::kRemove}));
  EXPECT_NE(result.generation, before);
  EXPECT_EQ(filter.GetInfo().generation, result.generation);
  EXPECT_EQ(filter.GetInfo().bad_segments, 0u);
  ExpectHasJust(options(), name_, known_);
  ExpectOneGeneration(servers(), name_);
  filter.Drop();
  EXPECT_TRUE(KeysLike(servers(), "*:" + name_).empty());
  EXPECT_TRUE(KeysLike(servers(), "tamis:{" + name_ + "}*").empty());
}

// All functions of clients that were opened before the rebuild.
TEST_P(RedisRebuildTest, ClientsOfTheOldGenerationGoOnWithTheNewOne) {
  const std::vector<uint64_t> fresh = RandomKeys(4'000, 3);
  const auto part = [&](size_t i) { return std::span(fresh).subspan(1'000 * i, 1'000); };
  SplitBlockFilter blocks = OpenIt({.route = Route::kBlocks});
  SplitBlockFilter segments = OpenIt({.route = Route::kSegments});
  SplitBlockFilter block_reader = OpenIt({.route = Route::kBlocks});
  SplitBlockFilter segment_reader = OpenIt({.route = Route::kSegments});
  SplitBlockFilter puller = OpenIt(), pusher = OpenIt(), inspector = OpenIt(), dropper = OpenIt();
  NearCache strict(OpenIt()), lax(OpenIt(), {.staleness = std::chrono::hours(1)});
  SplitBlockFilter filter = OpenIt();
  Rebuild(filter, database_.Source(), NoGrace());

  EXPECT_EQ(block_reader.Count(known_), known_.size());
  EXPECT_EQ(segment_reader.Count(known_), known_.size());
  blocks.Insert(part(0));
  segments.Insert(part(1));
  SplitBlockBloomFilter local({.bytes = 32 * pusher.num_blocks()});
  local.Insert(part(2));
  pusher.Push(local);
  EXPECT_EQ(inspector.GetInfo().bad_segments, 0u);
  EXPECT_EQ(strict.Count(known_), known_.size());
  EXPECT_EQ(strict.Count(part(0)), 1'000u);
  EXPECT_EQ(lax.Count(known_), known_.size());
  lax.Insert(part(3));
  EXPECT_GT(lax.Refresh(), 0u);
  EXPECT_EQ(lax.Count(fresh), fresh.size());

  local.Insert(known_);
  local.Insert(fresh);
  EXPECT_TRUE(SameBlocks(puller.Pull(), local));
  EXPECT_TRUE(SameBlocks(lax.copy(), local)) << "nothing of the old one";
  ExpectOneGeneration(servers(), name_);
  dropper.Drop();
  EXPECT_TRUE(KeysLike(servers(), "*:" + name_).empty());
}

// No key of any client is lost, whenever the client was opened.
TEST_P(RedisRebuildTest, NoKeyOfAnyClientIsLost) {
  constexpr size_t kWriters = 5;
  const std::vector<uint64_t> fresh = RandomKeys(kWriters * 200'000, 4);
  std::atomic<bool> stop = false;
  std::vector<std::atomic<size_t>> calls(kWriters);
  Askers askers(options(), name_, known_);
  std::vector<std::jthread> writers;
  for (size_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const Route route = w % 2 == 0 ? Route::kBlocks : Route::kSegments;
      SplitBlockFilter mine = OpenIt({.route = route});
      const size_t batch = w % 2 == 0 ? 40 : 400;
      for (size_t i = 0; i + batch <= 200'000 && !stop; i += batch) {
        const auto some = std::span<const uint64_t>(fresh).subspan(w * 200'000 + i, batch);
        try {
          if (w == 4) mine = OpenIt();  // a client that is always new
          database_.Add(some);
          mine.Insert(some);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
          return;
        }
        ++calls[w];
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  const auto all_go_on = [&] {
    std::vector<size_t> before;
    for (const auto& count : calls) before.push_back(count);
    EXPECT_TRUE(WaitFor(120, [&] {
      for (size_t w = 0; w < kWriters; ++w) {
        if (calls[w] < before[w] + 3) return false;
      }
      return true;
    }));
  };
  SplitBlockFilter filter = OpenIt();
  for (int round = 0; round < 3; ++round) {
    all_go_on();
    Rebuild(filter,
            [&](RebuildInserter& to) {
              to.Insert(database_.All());
              all_go_on();
            },
            {.grace = milliseconds(round == 0 ? 50 : 0),
             .on_progress = [&](const RebuildProgress& progress) {
               if (progress.step == RebuildStep::kClose && progress.done == 0) all_go_on();
             }});
  }
  all_go_on();
  stop = true;
  writers.clear();
  const uint64_t answered = askers.answered();
  EXPECT_TRUE(WaitFor(120, [&] { return askers.answered() > answered; }));
  askers.Stop();
  EXPECT_EQ(askers.wrong(), 0u);
  EXPECT_EQ(askers.unanswered(), 0u);
  ExpectHasJust(options(), name_, database_.All());
  ExpectOneGeneration(servers(), name_);
}

TEST_P(RedisRebuildTest, EndingBeforeTheSwitchLeavesTheFilterUnchanged) {
  size_t reports = 0, before_switch = 0;
  {
    SplitBlockFilter filter =
        SplitBlockFilter::Create(options(), NewName(), {{.bytes = 1'500'000}});
    RebuildOptions rebuild = NoGrace();
    rebuild.on_progress = [&](const RebuildProgress& progress) {
      ++reports;
      if (progress.step <= RebuildStep::kSwitch) ++before_switch;
    };
    Rebuild(filter, database_.Source(), rebuild);
    filter.Drop();
  }
  ASSERT_GT(before_switch, 10u);
  SplitBlockFilter filter = OpenIt(), other = OpenIt();
  std::vector<uint64_t> fresh;
  for (size_t n = 0; n < before_switch; ++n) {
    SCOPED_TRACE(n);
    RebuildOptions rebuild = NoGrace();
    rebuild.on_progress = [&, at = AtReport(n)](const RebuildProgress& progress) mutable {
      if (!at(progress)) return;
      fresh.push_back(1'000 + n);  // written to one or both generations
      other.Insert(fresh.back());
      throw std::runtime_error("enough");
    };
    EXPECT_THROW(Rebuild(filter, database_.Source(), rebuild), std::runtime_error);
    EXPECT_EQ(other.Count(known_), known_.size());
  }
  ExpectAsBefore(fresh);
  EXPECT_THROW(
      Rebuild(
          filter, [](RebuildInserter&) { throw std::logic_error("no database"); }, NoGrace()),
      std::logic_error);
  std::stop_source stop;
  ExpectError(
      [&] {
        Rebuild(
            filter,
            [&](RebuildInserter& to) {
              stop.request_stop();
              EXPECT_TRUE(to.stop().stop_requested());
              to.Insert(known_);
            },
            NoGrace(), stop.get_token());
      },
      ErrorCode::kCancelled, "cancelled");
  ExpectError([&] { Rebuild(filter, database_.Source(), NoGrace(), stop.get_token()); },
              ErrorCode::kCancelled, "cancelled");
  ExpectAsBefore(fresh);

  // After the switch the new generation is in use, and the next rebuild removes the remains of the
  // old generation.
  for (size_t n = before_switch; n < reports; ++n) {
    SCOPED_TRACE(n);
    RebuildOptions rebuild = NoGrace();
    rebuild.on_progress = [&, at = AtReport(n)](const RebuildProgress& progress) mutable {
      if (at(progress)) throw std::runtime_error("enough");
    };
    EXPECT_THROW(Rebuild(filter, database_.Source(), rebuild), std::runtime_error);
    EXPECT_EQ(OpenIt().GetInfo().rebuild, RebuildState::kAbandoned);
    ExpectHasJust(options(), name_, known_);
    EXPECT_TRUE(EndAbandonedRebuild(other, NoGrace()));
    EXPECT_FALSE(EndAbandonedRebuild(other));
    ExpectHasJust(options(), name_, known_);
    ExpectOneGeneration(servers(), name_);
  }
}

TEST_P(RedisRebuildTest, TwoAtATimeAreAnErrorOfOne) {
  StoppingOwner owner(options(), name_, database_.Source(), AtStep(RebuildStep::kFill), NoGrace());
  ASSERT_TRUE(owner.AwaitStop());
  SplitBlockFilter filter = OpenIt();
  EXPECT_EQ(filter.GetInfo().rebuild, RebuildState::kRunning);
  const auto refused = [&](auto act) {
    ExpectError(act, ErrorCode::kBusy, "is being rebuilt by another client");
  };
  refused([&] { Rebuild(filter, database_.Source()); });
  refused([&] { EndAbandonedRebuild(filter); });
  owner.GoOn();
  EXPECT_FALSE(EndAbandonedRebuild(filter));
  ExpectHasJust(options(), name_, known_);
  ExpectOneGeneration(servers(), name_);

  std::atomic<int> done = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      SplitBlockFilter mine = OpenIt();
      for (int i = 0; i < 5; ++i) {
        try {
          Rebuild(mine, database_.Source(), NoGrace());
          ++done;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kBusy) << error.what();
        }
      }
    });
  }
  clients.clear();
  EXPECT_GT(done, 0);
  ExpectHasJust(options(), name_, known_);
  ExpectOneGeneration(servers(), name_);
}

TEST_P(RedisRebuildTest, OtherClientsDuringARebuild) {
  const std::vector<uint64_t> fresh = RandomKeys(3'000, 5);
  NearCache near(OpenIt(), {.staleness = milliseconds(1)});
  SplitBlockFilter before = OpenIt({.route = Route::kSegments});
  for (const RebuildStep step : {RebuildStep::kFill, RebuildStep::kClose}) {
    SCOPED_TRACE(static_cast<int>(step));
    StoppingOwner owner(options(), name_, database_.Source(), AtStep(step), NoGrace());
    ASSERT_TRUE(owner.AwaitStop());
    SplitBlockFilter after = OpenIt();
    SplitBlockBloomFilter local({.bytes = 32 * after.num_blocks()});
    const size_t first = step == RebuildStep::kFill ? 0 : 1'500;
    local.Insert(std::span(fresh).subspan(first, 500));
    after.Push(local);
    before.Insert(std::span(fresh).subspan(first + 500, 500));
    near.Insert(std::span(fresh).subspan(first + 1'000, 500));
    const auto inserted = std::span(fresh).first(first + 1'500);
    for (SplitBlockFilter* const filter : {&before, &after}) {
      EXPECT_EQ(filter->Count(inserted), inserted.size());
      EXPECT_EQ(filter->Count(known_), known_.size());
      const SplitBlockBloomFilter pulled = filter->Pull();
      EXPECT_EQ(pulled.Count(inserted), inserted.size());
      EXPECT_EQ(pulled.Count(known_), known_.size());
      EXPECT_EQ(filter->GetInfo().bad_segments, 0u);
      EXPECT_EQ(filter->GetInfo().rebuild, RebuildState::kRunning);
    }
    std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(near.Count(inserted), inserted.size());
    EXPECT_EQ(near.Count(known_), known_.size());
    database_.Add(std::span(fresh).subspan(first, 1'500));
    owner.GoOn();
    ExpectHasJust(options(), name_, database_.All());
  }
  // Drop removes both generations.
  StoppingOwner owner(options(), name_, database_.Source(), AtStep(RebuildStep::kMerge), NoGrace());
  ASSERT_TRUE(owner.AwaitStop());
  before.Drop();
  EXPECT_TRUE(KeysLike(servers(), "*:" + name_).empty());
  EXPECT_EQ(owner.Outcome(), ErrorCode::kBusy);
  EXPECT_TRUE(KeysLike(servers(), "*:" + name_).empty());
  EXPECT_TRUE(KeysLike(servers(), "tamis:{" + name_ + "}*").empty());
}

TEST_P(RedisRebuildTest, WrongUse) {
  SplitBlockFilter filter = OpenIt();
  const auto refused = [&](auto act, const char* words) {
    ExpectError(act, ErrorCode::kInvalidArgument, words);
  };
  refused([&] { Rebuild(filter, {}); }, "source");
  refused([&] { Rebuild(filter, database_.Source(), {.lease = milliseconds(0)}); }, "lease");
  refused([&] { Rebuild(filter, database_.Source(), {.grace = milliseconds(-1)}); }, "grace");
  ExpectError(
      [&] {
        Rebuild(
            filter,
            [](RebuildInserter& to) {
              to.SetTotal(3);
              to.Add(SplitBlockBloomFilter({.capacity = 10}));
            },
            NoGrace());
      },
      ErrorCode::kIncompatible, "");
  ExpectAsBefore();
  SplitBlockFilter other = OpenIt();
  other.Drop();
  refused([&] { Rebuild(filter, database_.Source()); }, "does not exist");
  SplitBlockFilter::Create(options(), name_, {{.bytes = 1'500'000}});
  refused([&] { Rebuild(filter, database_.Source()); }, "was removed");
  ExpectOneGeneration(servers(), name_);
  SplitBlockFilter moved = std::move(other);
  refused([&] { Rebuild(other, database_.Source()); }, "moved from");
}

// A client of a filter that was removed neither removes the newer filter of that name, nor the
// record of its rebuild.
TEST_P(RedisRebuildTest, ANewerFilterOfTheNameStays) {
  SplitBlockFilter former = OpenIt();
  OpenIt().Drop();
  const std::vector<uint64_t> keys = RandomKeys(3'000, 5);
  SplitBlockFilter newer =
      SplitBlockFilter::Create(options(), name_, {{.bytes = 32 * former.num_blocks()}});
  newer.Insert(keys);
  Rebuild(
      newer,
      [&](RebuildInserter& to) {
        to.Insert(keys);
        former.Drop();
      },
      NoGrace());
  ExpectHasJust(options(), name_, keys);
  ExpectOneGeneration(servers(), name_);

  const size_t segments = newer.GetInfo().segments;
  StoppingOwner owner(
      options(), name_, [](RebuildInserter&) {}, AtStep(RebuildStep::kFill));
  ASSERT_TRUE(owner.AwaitStop());
  const std::string lease = LeaseKey(name_);
  SayToOwner(servers(), lease, {"DEL", lease});
  ExpectError([&] { Rebuild(former, database_.Source()); }, ErrorCode::kInvalidArgument,
              "was removed");
  EXPECT_EQ(newer.GetInfo().rebuild, RebuildState::kAbandoned);
  EXPECT_EQ(KeysLike(servers(), "*:" + name_).size(), 2 * segments);
  EXPECT_TRUE(EndAbandonedRebuild(newer, NoGrace()));
  EXPECT_EQ(owner.Outcome(), ErrorCode::kBusy);
  ExpectHasJust(options(), name_, keys);
  ExpectOneGeneration(servers(), name_);
}

INSTANTIATE_TEST_SUITE_P(All, RedisRebuildTest, testing::Values("single", "cluster"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace tamis::redis::rebuild_servers_test
