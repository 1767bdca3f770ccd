// Children of fork, which have a copy of every live filter, but not its threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "tamis/live/live.h"
#include "tamis/live/watch.h"
#include "tests/core/file_test_util.h"
#include "tests/fork_util.h"
#include "tests/live/live_test_util.h"
#include "tests/test_util.h"

namespace tamis::fork_test {

using Blocks = SplitBlockBloomFilter;

// The child can use a snapshot even if other threads of the parent held locks during the fork.
TEST(ForkTest, AChildAsksALeaseThatWasTakenBefore) {
  const std::vector<uint64_t> keys = RandomKeys(500, /*seed=*/1);
  auto live = std::make_unique<Live<Blocks>>();
  live->Publish(FilterOf<Blocks>(keys));
  std::vector<std::jthread> threads;
  threads.emplace_back([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) live->Publish(FilterOf<Blocks>(keys));
  });
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) EXPECT_EQ(live->Read()->Count(keys), keys.size());
    });
  }
  for (int i = 0; i < 100; ++i) {
    Snapshot<Blocks> snapshot = live->Read();
    ASSERT_EQ(InChild([&] {
                if (snapshot->Count(keys) != keys.size()) return 1;
                if constexpr (kChildrenMayFree) {
                  snapshot = {};
                  live.reset();
                }
                return 0;
              }),
              0)
        << i;
  }
}

// When a child exits, it destroys static objects like this. At the time of the fork, a rebuild
// waits for the end of a change, and another change waits for the rebuild.
TEST(ForkTest, AChildDestroysObjectsThatItsParentUses) {
  const TemporaryFolder folder;
  auto live = std::make_unique<Live<LockedBlocks>>();
  live->Publish(FilterOf<LockedBlocks>({1}));
  auto watched = std::make_unique<Live<Blocks>>();
  auto watch = std::make_unique<Watch<Blocks>>(*watched, folder / "none");
  using Scope = Live<LockedBlocks>::ChangeScope;
  std::unique_ptr<Scope> change(new Scope(live->BeginChange()));
  std::optional<RebuildJob> job = live->StartRebuild({[](RebuildContext&) {
    return FilterOf<LockedBlocks>({1, 2});
  }});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it waits for the scope
  EXPECT_EQ(InChild([&] {
              try {
                job->Wait();
                return 1;
              } catch (const Error& error) {
                if (error.code() != ErrorCode::kInvalidArgument) return 2;
              }
              job.reset();
              watch.reset();
              watched.reset();
              live.reset();
              return 0;
            }),
            0);
  change.reset();
  EXPECT_EQ(job->Wait(), 2u);
}

// A rebuild forks, for example to start a program that reads the keys.
TEST(ForkTest, OnTheThreadOfARebuild) {
  Live<Blocks> live;
  std::optional<RebuildJob> job;
  Event there;
  int child = -1;
  job.emplace(live.StartRebuild({[&](RebuildContext&) {
    there.Wait();
    child = InChild([&] {
      job.reset();
      return 0;
    });
    return FilterOf<Blocks>({1});
  }}));
  there.Set();
  EXPECT_EQ(job->Wait(), 1u);
  EXPECT_EQ(child, 0);
}

}  // namespace tamis::fork_test
