// Filters with a deadline: no query is answered after it, and an hour later the keys are gone.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/redis/near_cache.h"
#include "tamis/redis/rebuild.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::deadline_servers_test {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::chrono::hours kKept(1);

class RedisDeadlineTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { TAMIS_NEED(servers()); }
  Servers& servers() {
    return std::string(GetParam()) == "cluster" ? Servers::Cluster() : Servers::Single();
  }
  SplitBlockFilter Create(system_clock::time_point deadline, const ClientOptions& client = {}) {
    return SplitBlockFilter::Create(servers().options(), name_, {{.bytes = 400'000}, deadline},
                                    client);
  }
  SplitBlockFilter Open(const ClientOptions& client = {}) {
    return SplitBlockFilter::Open(servers().options(), name_, client);
  }
  std::vector<std::string> Keys() { return KeysLike(servers(), "tamis:*" + name_ + "*"); }
  // Expects that each key of the filter expires at that time, except the lease, which ends before.
  void ExpectExpiry(const std::string& expected) {
    for (const std::string& key : Keys()) {
      if (key.ends_with(":lease")) continue;
      EXPECT_EQ(SayToOwner(servers(), key, {"PEXPIRETIME", key}), expected) << key;
    }
  }

  const std::string name_ = NewName();
};

TEST_P(RedisDeadlineTest, KeysExpireAnHourLaterWhateverIsWritten) {
  const system_clock::time_point deadline = system_clock::from_time_t(4'102'444'800);
  const std::string expected = "4102448400000";
  SplitBlockFilter filter = Create(deadline);
  const uint64_t segments = filter.GetInfo().segments;
  ASSERT_GE(segments, 2u);
  EXPECT_EQ(filter.GetInfo().deadline, deadline);
  EXPECT_EQ(Keys().size(), segments + 1);
  ExpectExpiry(expected);
  const std::vector<uint64_t> keys = RandomKeys(2'000, 1);
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    Open({.route = route}).Insert(keys);
    ExpectExpiry(expected);
  }
  filter.Push(filter.Pull());
  NearCache near(Open());
  near.Refresh();
  ExpectExpiry(expected);

  // Both generations, the record of the rebuild, and the keys that writers write to both.
  Database database;
  database.Add(keys);
  for (const RebuildStep step : {RebuildStep::kFill, RebuildStep::kClose}) {
    const uint64_t generation = DescriptorNow(servers(), name_).generation;
    StoppingOwner owner(servers().options(), name_, database.Source(), AtStep(step),
                        {.grace = milliseconds(0)});
    ASSERT_TRUE(owner.AwaitStop());
    for (const Route route : {Route::kBlocks, Route::kSegments}) {
      Open({.route = route}).Insert(keys);
      filter.Insert(keys);
    }
    EXPECT_EQ(Keys().size(), 2 * segments + 3);
    ExpectExpiry(expected);
    if (step == RebuildStep::kClose) {
      // A server has lost a mark: bits are merged when the old segment is closed.
      const Layout layout = DescriptorNow(servers(), name_).layout;
      const SegmentKey old = KeyOfSegment(name_, layout, generation, 0);
      const std::string at = std::to_string(layout.BytesOf(0) + kMarkOffset);
      SayToOwner(servers(), old.text, {"SETRANGE", old.text, at, std::string(8, '\0')});
    }
    owner.GoOn();
    EXPECT_EQ(Keys().size(), segments + 1);
    ExpectExpiry(expected);
  }
  filter.Drop();

  SplitBlockFilter forever =
      SplitBlockFilter::Create(servers().options(), name_, {{.bytes = 400'000}});
  forever.Push(forever.Pull());
  forever.Insert(keys);
  EXPECT_FALSE(forever.GetInfo().deadline);
  ExpectExpiry("-1");
  forever.Drop();
}

// The client's clock is correct and decides. The keys still exist.
TEST_P(RedisDeadlineTest, NoQueryIsAnsweredAfterIt) {
  ExpectError([&] { Create(system_clock::now() - milliseconds(1)); }, ErrorCode::kInvalidArgument,
              "the deadline of the filter has passed");
  EXPECT_TRUE(Keys().empty());
  const auto deadline = system_clock::now() + milliseconds(8'000);
  SplitBlockFilter filter = Create(deadline);
  const std::vector<uint64_t> keys = RandomKeys(200, 1);
  filter.Insert(keys);
  NearCache near(Open(), {.staleness = std::chrono::hours(1)});
  SplitBlockFilter fails_open = Open({.unavailable = Unavailable::kMaybe});
  const SplitBlockBloomFilter local = filter.Pull();
  ASSERT_TRUE(WaitFor(120, [&] { return system_clock::now() > deadline; }));
  SplitBlockFilter late = Open();
  std::vector<uint8_t> answers(keys.size());
  for (SplitBlockFilter* const one : {&filter, &late}) {
    for (const Operation operation : {Operation::kContains, Operation::kInsert}) {
      ExpectError(
          [&] {
            if (operation == Operation::kInsert) {
              one->Insert(keys);
            } else {
              one->Contains(keys, std::span(answers));
            }
          },
          ErrorCode::kUnavailable, "deadline");
    }
    ExpectError([&] { one->Pull(); }, ErrorCode::kUnavailable, "deadline");
    ExpectError([&] { one->Push(local); }, ErrorCode::kUnavailable, "deadline");
    ExpectError([&] { Rebuild(*one, [](RebuildInserter&) {}); }, ErrorCode::kUnavailable,
                "deadline");
  }
  ExpectError([&] { near.Count(keys); }, ErrorCode::kUnavailable, "deadline");
  ExpectError([&] { near.Insert(keys); }, ErrorCode::kUnavailable, "deadline");
  ExpectError([&] { near.Refresh(); }, ErrorCode::kUnavailable, "deadline");
  EXPECT_EQ(fails_open.Count(RandomKeys(200, 2)), 200u);
  EXPECT_EQ(late.GetInfo().bad_segments, 0u);
  late.Drop();
  EXPECT_TRUE(Keys().empty());
}

// For a client whose clock is slow, keys expire before the deadline.
TEST_P(RedisDeadlineTest, ExpiredKeysAreNotANo) {
  SplitBlockFilter filter = Create(system_clock::now() + kKept);
  const std::vector<uint64_t> keys = RandomKeys(2'000, 1), strangers = RandomKeys(2'000, 2);
  filter.Insert(keys);
  SplitBlockFilter fails_open = Open({.unavailable = Unavailable::kMaybe});
  NearCache near(Open());
  for (const std::string& key : Keys()) SayToOwner(servers(), key, {"PEXPIRE", key, "1"});
  ASSERT_TRUE(WaitFor(120, [&] { return Keys().empty(); }));
  ExpectError([&] { filter.Count(keys); }, ErrorCode::kCorrupt, "2000 of 2000 keys");
  ExpectError([&] { filter.Insert(keys); }, ErrorCode::kCorrupt, "2000 of 2000 keys");
  ExpectError([&] { filter.Push(filter.Pull()); }, ErrorCode::kCorrupt, "it is missing");
  EXPECT_EQ(fails_open.Count(strangers), strangers.size());
  EXPECT_THROW(near.Count(strangers), UnansweredError);
  ExpectError([&] { Open(); }, ErrorCode::kInvalidArgument, "does not exist");
  EXPECT_TRUE(Keys().empty()) << "nothing of it was made again";
  SplitBlockFilter next = Create(system_clock::now() + kKept);
  EXPECT_EQ(next.Count(keys), 0u);
  EXPECT_THROW(filter.Count(keys), UnansweredError) << "that is another filter";
  next.Drop();
}

INSTANTIATE_TEST_SUITE_P(All, RedisDeadlineTest, testing::Values("single", "cluster"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace tamis::redis::deadline_servers_test
