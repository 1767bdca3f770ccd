// Calls in a process that runs out of memory at any point of the call. The call throws, and the
// same object works again as soon as memory is available.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "tamis/redis/near_cache.h"
#include "tamis/redis/rebuild.h"
#include "tests/core/no_memory/failing_new.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::calls_test {

using std::chrono::milliseconds;

class RedisWithoutMemoryTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    TAMIS_NEED(Servers::Single());
    name_ = NewName();
    SplitBlockFilter::Create(options(), name_, {{.capacity = 2000}}).Insert(known_);
  }
  static ServerOptions options() { return Servers::Single().options(); }
  SplitBlockFilter Open() const { return SplitBlockFilter::Open(options(), name_); }

  // Calls act(filter) once for each of its allocations, on a new and on a used filter, and makes
  // this allocation fail. If the test parameter is true, all later allocations fail, too.
  void ForEachAllocation(const std::function<void(SplitBlockFilter&)>& act) {
    for (const bool connected : {false, true}) {
      for (int n = 0;; ++n) {
        SCOPED_TRACE("allocation " + std::to_string(n));
        ASSERT_LT(n, 5000);
        SplitBlockFilter filter = Open();
        if (connected) filter.Count(known_);
        bool threw = false;
        failures = 0;
        later_ones_fail = GetParam();
        allocations_left = n;
        try {
          act(filter);
        } catch (const std::exception& error) {
          allocations_left = -1;
          threw = true;
          const std::string what = error.what();
          const bool says = what.find("memory") != std::string::npos ||
                            dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
          EXPECT_TRUE(says) << what;
        }
        allocations_left = -1;
        ASSERT_EQ(filter.Count(known_), known_.size());
        if (failures > 0) continue;
        EXPECT_FALSE(threw);
        EXPECT_GT(n, 3);
        break;
      }
    }
  }

  std::string name_;
  const std::vector<uint64_t> known_ = RandomKeys(300, 1), more_ = RandomKeys(300, 2);
};

TEST_P(RedisWithoutMemoryTest, Opening) {
  ForEachAllocation([&](SplitBlockFilter&) { Open(); });
}

TEST_P(RedisWithoutMemoryTest, Questions) {
  ForEachAllocation([&](SplitBlockFilter& filter) { filter.Count(more_); });
}

TEST_P(RedisWithoutMemoryTest, Insertions) {
  ForEachAllocation([&](SplitBlockFilter& filter) { filter.Insert(more_); });
  EXPECT_EQ(Open().Count(more_), more_.size());
}

TEST_P(RedisWithoutMemoryTest, Copies) {
  ForEachAllocation([&](SplitBlockFilter& filter) { filter.Pull(); });
}

TEST_P(RedisWithoutMemoryTest, Looks) {
  ForEachAllocation([&](SplitBlockFilter& filter) { filter.GetInfo(); });
}

// Another client inserts keys. A near cache that lacks them does not answer them "no".
TEST_P(RedisWithoutMemoryTest, NearCopies) {
  for (int n = 0;; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    ASSERT_LT(n, 5000);
    NearCache copy(Open(), {.staleness = milliseconds(3'600'000)});
    const std::vector<uint64_t> fresh = RandomKeys(20, 100 + static_cast<uint64_t>(n));
    Open().Insert(fresh);
    failures = 0;
    later_ones_fail = GetParam();
    allocations_left = n;
    bool threw = false;
    try {
      copy.Refresh();
    } catch (const std::exception&) {
      allocations_left = -1;
      threw = true;
    }
    allocations_left = -1;
    if (threw) copy.Refresh();
    ASSERT_EQ(copy.Count(fresh), fresh.size());
    ASSERT_EQ(copy.Count(known_), known_.size());
    if (failures == 0) break;
  }
}

// The filter is the old or the new one, and the next rebuild removes the rest.
TEST_P(RedisWithoutMemoryTest, Rebuilds) {
  const RebuildOptions rebuild = {.lease = milliseconds(1), .grace = milliseconds(0)};
  const auto source = [&](RebuildInserter& to) {
    to.Insert(known_);
    to.Insert(more_);
  };
  const auto run = [&](SplitBlockFilter& filter) {
    for (;;) {
      try {
        Rebuild(filter, source, rebuild);
        return;
      } catch (const Error& error) {  // retry until the lease of the previous rebuild is over
        if (error.code() != ErrorCode::kBusy) throw;
      }
    }
  };
  ForEachAllocation(run);
  SplitBlockFilter filter = Open();
  run(filter);
  EXPECT_EQ(filter.Count(more_), more_.size());
  const Info info = filter.GetInfo();
  EXPECT_EQ(info.rebuild, RebuildState::kNone);
  EXPECT_EQ(info.bad_segments, 0u);
}

INSTANTIATE_TEST_SUITE_P(OneAndAllAfterIt, RedisWithoutMemoryTest, testing::Bool(),
                         [](const auto& each) {
                           return std::string(each.param ? "AllAfterIt" : "One");
                         });

}  // namespace tamis::redis::calls_test
