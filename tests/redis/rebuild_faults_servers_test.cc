// Rebuilds whose client stops, masters that fail during a rebuild, and damaged segments.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/client/slot.h"
#include "redis/src/rebuild/rebuild_lease.h"
#include "redis/src/rebuild/rebuild_record.h"
#include "redis/src/rebuild/rebuild_segments.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/askers.h"
#include "tests/redis/rebuild_test_util.h"
#include "tests/redis/redis_test_util.h"
#include "tests/test_util.h"

namespace tamis::redis::rebuild_faults_servers_test {

using std::chrono::milliseconds;

constexpr FilterOptions kTwoPortions = {.bytes = 1'500'000};

RebuildOptions ShortLease() { return {.lease = milliseconds(50), .grace = milliseconds(0)}; }
RebuildOptions NoGrace() { return {.grace = milliseconds(0)}; }

// Runs `act` as soon as the lease of another owner is over.
template <typename Act>
void WhenItsLeaseIsOver(const Act& act) {
  EXPECT_TRUE(WaitFor(120, [&] {
    try {
      act();
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBusy) << error.what();
      return error.code() != ErrorCode::kBusy;
    }
  }));
}

class RedisRebuildFaultTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { TAMIS_NEED(servers()); }
  Servers& servers() {
    return std::string(GetParam()) == "cluster" ? Servers::Cluster() : Servers::Single();
  }
  ServerOptions options() { return servers().options(); }
  SplitBlockFilter OpenIt(const ClientOptions& client = {}) {
    return SplitBlockFilter::Open(options(), name_, client);
  }
  void Make() {
    name_ = NewName();
    SplitBlockFilter::Create(options(), name_, {kTwoPortions}).Insert(known_);
  }
  size_t Reports() {
    size_t reports = 0;
    Make();
    SplitBlockFilter filter = OpenIt();
    RebuildOptions rebuild = NoGrace();
    rebuild.on_progress = [&](const RebuildProgress&) { ++reports; };
    Rebuild(
        filter, [](RebuildInserter& to) { to.KeepAlive(); }, rebuild);
    filter.Drop();
    return reports;
  }
  // Overwrites a field of a segment, which no client does.
  void Overwrite(uint64_t generation, uint64_t segment, size_t field, const std::string& bytes) {
    const Layout layout = DescriptorNow(servers(), name_).layout;
    const SegmentKey key = KeyOfSegment(name_, layout, generation, segment);
    const std::string at = std::to_string(layout.BytesOf(segment) + field);
    SayToOwner(servers(), key.text, {"SETRANGE", key.text, at, bytes});
  }
  // Returns the keys that are in one segment.
  std::vector<uint64_t> InSegmentOnly(const std::vector<uint64_t>& keys, uint64_t segment) {
    const Layout layout = DescriptorNow(servers(), name_).layout;
    std::vector<uint64_t> in;
    for (const uint64_t key : keys) {
      const uint64_t block = split_block::BlockIndex(HashU64(key), layout.blocks);
      if (layout.SegmentOf(block) == segment) in.push_back(key);
    }
    return in;
  }

  std::string name_;
  const std::vector<uint64_t> known_ = RandomKeys(3'000, 1);
};

// The first owner stops at each point, and continues when another owner has taken over and is done.
TEST_P(RedisRebuildFaultTest, AnotherTakesOverWhereverTheOwnerStops) {
  const size_t reports = Reports();
  ASSERT_GT(reports, 15u);
  for (size_t n = 0; n < reports; ++n) {
    SCOPED_TRACE(n);
    Make();
    Database database;
    database.Add(known_);
    SplitBlockFilter early = OpenIt();
    StoppingOwner first(options(), name_, database.Source(), AtReport(n), ShortLease());
    ASSERT_TRUE(first.AwaitStop());
    SplitBlockFilter late = OpenIt();
    const std::vector<uint64_t> fresh = RandomKeys(900, 10 + n);
    const auto part = [&](size_t i) { return std::span(fresh).subspan(300 * i, 300); };
    database.Add(part(0));
    early.Insert(part(0));
    SplitBlockFilter filter = OpenIt();
    if (n % 2 == 0) {
      WhenItsLeaseIsOver([&] {
        const RebuildResult result = Rebuild(filter, database.Source(), NoGrace());
        EXPECT_TRUE(result.ended_abandoned);
      });
    } else {
      WhenItsLeaseIsOver([&] { EXPECT_TRUE(EndAbandonedRebuild(filter, NoGrace())); });
    }
    ExpectHasJust(options(), name_, database.All());
    ExpectOneGeneration(servers(), name_);
    database.Add(part(1));
    early.Insert(part(1));
    // When the first owner continues, another rebuild is running.
    StoppingOwner second(options(), name_, database.Source(),
                         AtStep(n % 3 == 0 ? RebuildStep::kFill : RebuildStep::kClose), NoGrace());
    ASSERT_TRUE(second.AwaitStop());
    const std::optional<ErrorCode> outcome = first.Outcome();
    if (n + 1 < reports) {  // at the last report nothing was left to do
      EXPECT_EQ(outcome, ErrorCode::kBusy);
    }
    database.Add(part(2));
    late.Insert(part(2));
    EXPECT_EQ(early.Count(database.All()), database.All().size());
    EXPECT_EQ(second.Outcome(), std::nullopt);
    ExpectHasJust(options(), name_, database.All());
    ExpectOneGeneration(servers(), name_);
    early.Drop();
  }
}

// Several owners in a row, each of which stops at some point.
TEST_P(RedisRebuildFaultTest, ManyOwnersStop) {
  Make();
  Database database;
  database.Add(known_);
  SplitBlockFilter early = OpenIt();
  Random random(7);
  std::vector<std::unique_ptr<StoppingOwner>> owners;
  for (size_t i = 0; i < 12; ++i) {
    const auto some = RandomKeys(200, 100 + i);
    database.Add(some);
    early.Insert(some);
    // An owner that finds the lease of another owner tries again.
    ASSERT_TRUE(WaitFor(120, [&] {
      auto owner = std::make_unique<StoppingOwner>(options(), name_, database.Source(),
                                                   AtReport(random.Below(18)), ShortLease());
      const bool stopped = owner->AwaitStop();
      if (stopped) owners.push_back(std::move(owner));
      return stopped;
    }));
    EXPECT_EQ(early.Count(database.All()), database.All().size());
  }
  SplitBlockFilter filter = OpenIt();
  WhenItsLeaseIsOver([&] { Rebuild(filter, database.Source(), NoGrace()); });
  for (const auto& owner : owners) owner->Outcome();
  ExpectHasJust(options(), name_, database.All());
  ExpectOneGeneration(servers(), name_);
}

// Changes that a failover can undo.
TEST_P(RedisRebuildFaultTest, MarksThatServersLose) {
  Make();
  const uint64_t old = DescriptorNow(servers(), name_).generation;
  const std::vector<uint64_t> fresh = RandomKeys(2'000, 3);
  Database database;
  database.Add(known_);
  const std::string none(8, '\0');
  {
    StoppingOwner owner(options(), name_, database.Source(), AtStep(RebuildStep::kFill), NoGrace());
    ASSERT_TRUE(owner.AwaitStop());
    Overwrite(old, 1, kMarkOffset, none);
    OpenIt().Insert(fresh);
    ExpectError([&] { owner.GoOn(); }, ErrorCode::kUnavailable, "start the rebuild again");
  }
  ExpectOneGeneration(servers(), name_);
  EXPECT_EQ(DescriptorNow(servers(), name_).generation, old);
  EXPECT_EQ(OpenIt().Count(fresh), fresh.size());

  // After the switch the rebuild cannot begin again. Keys that were inserted only into the old
  // segment are copied to the new segment.
  SplitBlockFilter early = OpenIt();
  database.Add(fresh);
  const std::vector<uint64_t> more = RandomKeys(2'000, 4);
  StoppingOwner owner(options(), name_, database.Source(), AtStep(RebuildStep::kClose), NoGrace());
  ASSERT_TRUE(owner.AwaitStop());
  const uint64_t next = DescriptorNow(servers(), name_).generation;
  EXPECT_NE(next, old);
  Overwrite(old, 1, kMarkOffset, none);
  early.Insert(more);
  const std::vector<uint64_t> in_old = InSegmentOnly(more, 1);
  ASSERT_GT(in_old.size(), 20u);
  owner.GoOn();
  EXPECT_EQ(OpenIt().Count(more), more.size());
  database.Add(more);
  ExpectHasJust(options(), name_, database.All());
  ExpectOneGeneration(servers(), name_);
}

// The descriptor is the old one again, although segments are closed already.
TEST_P(RedisRebuildFaultTest, ASwitchThatAServerLoses) {
  Make();
  const std::string key = DescriptorKey(name_);
  const std::string before = SayToOwner(servers(), key, {"GET", key});
  Database database;
  database.Add(known_);
  SplitBlockFilter early = OpenIt();
  StoppingOwner owner(
      options(), name_, database.Source(),
      [](const RebuildProgress& progress) {
        return progress.step == RebuildStep::kClose && progress.done == 16;
      },
      ShortLease());
  ASSERT_TRUE(owner.AwaitStop());
  const std::vector<uint64_t> fresh = RandomKeys(2'000, 3);
  OpenIt().Insert(fresh);
  database.Add(fresh);
  SayToOwner(servers(), key, {"SET", key, before});
  // Without an answer, but never "no".
  ExpectError([&] { early.Count(fresh); }, ErrorCode::kUnavailable, "it was rebuilt");
  ExpectError([&] { OpenIt().Insert(fresh); }, ErrorCode::kUnavailable, "it was rebuilt");
  SplitBlockFilter filter = OpenIt();
  WhenItsLeaseIsOver([&] { EXPECT_TRUE(EndAbandonedRebuild(filter, NoGrace())); });
  ExpectHasJust(options(), name_, database.All());
  ExpectOneGeneration(servers(), name_);
  EXPECT_EQ(early.Count(fresh), fresh.size());
  EXPECT_EQ(owner.Outcome(), ErrorCode::kBusy);
}

// An owner finds that another owner has taken over the rebuild and continued it. The first owner
// does not remove the segments that the other owner uses, although the descriptor does not mention
// them.
TEST_P(RedisRebuildFaultTest, ALateOwnerTakesNothingBack) {
  Make();
  const std::string key = DescriptorKey(name_), rebuild = RebuildKey(name_);
  const std::string lease = LeaseKey(name_);
  const auto say = [&](const std::vector<std::string>& words) {
    return SayToOwner(servers(), key, words);
  };
  Database database;
  database.Add(known_);
  SplitBlockFilter early = OpenIt();
  const auto keys_of = [&](uint64_t generation) {
    return KeysLike(servers(), "*bits:" + HexText(generation) + "*" + name_).size();
  };
  const size_t segments = early.GetInfo().segments;
  RebuildRecord record;
  const auto take_over = [&] {
    record = ParseRecord(say({"GET", rebuild}));
    record.owner ^= 1;
    say({"SET", rebuild, RecordText(record)});
    say({"SET", lease, HexText(record.owner)});
  };
  {
    // The other owner had switched and closed one segment, and a server has lost the switch.
    StoppingOwner late(options(), name_, database.Source(), AtStep(RebuildStep::kSwitch),
                       NoGrace());
    ASSERT_TRUE(late.AwaitStop());
    take_over();
    Overwrite(record.old, 0, 0, LittleText(record.next));
    EXPECT_EQ(late.Outcome(), ErrorCode::kBusy);
    EXPECT_EQ(keys_of(record.next), segments);
    EXPECT_EQ(say({"GET", rebuild}), RecordText(record));
    EXPECT_EQ(say({"GET", lease}), HexText(record.owner));
    say({"DEL", lease});
    SplitBlockFilter filter = OpenIt();
    EXPECT_TRUE(EndAbandonedRebuild(filter, NoGrace()));
    ExpectHasJust(options(), name_, database.All());
    ExpectOneGeneration(servers(), name_);
  }
  {
    // The other owner is done, and this version cannot read the new descriptor.
    const std::string before = say({"GET", key});
    StoppingOwner late(options(), name_, database.Source(), AtStep(RebuildStep::kSwitch),
                       NoGrace());
    ASSERT_TRUE(late.AwaitStop());
    take_over();
    say({"DEL", rebuild, lease});
    say({"SET", key, "tamis-redis 2\n"});
    EXPECT_EQ(late.Outcome(), ErrorCode::kBusy);
    EXPECT_EQ(keys_of(record.next), segments);
    say({"SET", key, before});
  }
  {
    // The filter was removed, so this owner must remove the rest.
    StoppingOwner late(options(), name_, database.Source(), AtStep(RebuildStep::kSwitch),
                       NoGrace());
    ASSERT_TRUE(late.AwaitStop());
    record = ParseRecord(say({"GET", rebuild}));
    say({"DEL", rebuild, lease, key});
    EXPECT_EQ(late.Outcome(), ErrorCode::kBusy);
    EXPECT_EQ(keys_of(record.next), 0u);
  }
}

// An owner is late between the renewal of its lease and its marks. Another client has taken over
// and has begun a rebuild of its own. The late owner does not remove the segments of that rebuild.
TEST_P(RedisRebuildFaultTest, ALateOwnerLeavesTheMarksOfAnother) {
  Make();
  Database database;
  database.Add(known_);
  const Descriptor descriptor = DescriptorNow(servers(), name_);
  FilterState state(name_);
  state.Adopt(descriptor);
  Client client(options());
  SegmentCommands commands(state, client, 0);
  ReplicatedWrites writes(state, client, 0);
  RebuildLease lease(state, client, writes, std::chrono::minutes(1));
  RebuildSegments late(state, client, commands, writes, lease);
  ASSERT_TRUE(lease.Take("", {client.RandomNumber(), descriptor.generation, 7}));
  std::vector<size_t> all(descriptor.layout.segments());
  std::iota(all.begin(), all.end(), 0);
  late.MakeNext(all);

  SayToOwner(servers(), LeaseKey(name_), {"DEL", LeaseKey(name_)});
  StoppingOwner owner(options(), name_, database.Source(), AtStep(RebuildStep::kSwitch), NoGrace());
  ASSERT_TRUE(owner.AwaitStop());
  std::vector<uint64_t> marks(all.size(), 0);
  ExpectError([&] { late.MarkOld(late.MarkOld(all, marks), marks); }, ErrorCode::kBusy,
              "by another client");
  EXPECT_EQ(owner.Outcome(), std::nullopt);
  ExpectHasJust(options(), name_, database.All());
  ExpectOneGeneration(servers(), name_);
}

TEST_P(RedisRebuildFaultTest, DamagedSegmentsAreMadeAgain) {
  Make();
  const Descriptor descriptor = DescriptorNow(servers(), name_);
  const SegmentKey gone = KeyOfSegment(name_, descriptor.layout, descriptor.generation, 2);
  SayToOwner(servers(), gone.text, {"DEL", gone.text});
  Overwrite(descriptor.generation, 3, 0, "another!");
  SplitBlockFilter filter = OpenIt(), early = OpenIt();
  EXPECT_EQ(filter.GetInfo().bad_segments, 2u);
  Database database;
  database.Add(known_);
  StoppingOwner owner(options(), name_, database.Source(), AtStep(RebuildStep::kClose), NoGrace());
  ASSERT_TRUE(owner.AwaitStop());
  EXPECT_EQ(early.Count(known_), known_.size());
  const std::vector<uint64_t> fresh = RandomKeys(2'000, 3);
  early.Insert(fresh);
  database.Add(fresh);
  owner.GoOn();
  ExpectHasJust(options(), name_, database.All());
  EXPECT_EQ(filter.GetInfo().bad_segments, 0u);
  // The invalid value at the key of a segment is removed with the others.
  ExpectOneGeneration(servers(), name_);

  // Segments of the new generation are missing: the filter stays as it is.
  StoppingOwner again(options(), name_, database.Source(), AtStep(RebuildStep::kFill), NoGrace());
  ASSERT_TRUE(again.AwaitStop());
  const uint64_t generation = DescriptorNow(servers(), name_).generation;
  for (const std::string& key : KeysLike(servers(), "*bits*:5:" + name_)) {
    if (key.find(HexText(generation)) == std::string::npos)
      SayToOwner(servers(), key, {"DEL", key});
  }
  early.Insert(RandomKeys(2'000, 4));
  ExpectError([&] { again.GoOn(); }, ErrorCode::kUnavailable, "start the rebuild again");
  EXPECT_EQ(filter.Count(RandomKeys(2'000, 4)), 2'000u);
  ExpectOneGeneration(servers(), name_);
}

INSTANTIATE_TEST_SUITE_P(All, RedisRebuildFaultTest, testing::Values("single", "cluster"),
                         [](const auto& test) { return std::string(test.param); });

// While a slot moves, a script with two keys must wait until both keys are on one node.
TEST(RedisRebuildClusterTest, SlotsMoveDuringRebuilds) {
  Servers& servers = Servers::Cluster();
  TAMIS_NEED(servers);
  const std::string name = NewName();
  const std::vector<uint64_t> known = RandomKeys(5'000, 1);
  const std::vector<uint64_t> fresh = RandomKeys(400'000, 2);
  Database database;
  database.Add(known);
  SplitBlockFilter filter = SplitBlockFilter::Create(servers.options(), name, {kTwoPortions});
  filter.Insert(known);
  Askers askers(servers.options(), name, known);
  std::atomic<bool> moved = false;
  std::vector<std::jthread> writers;
  for (size_t w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      const Route route = w == 0 ? Route::kBlocks : Route::kSegments;
      SplitBlockFilter mine = SplitBlockFilter::Open(servers.options(), name, {.route = route});
      for (size_t i = 0; i + 100 <= 200'000 && !moved; i += 100) {
        const auto some = std::span<const uint64_t>(fresh).subspan(w * 200'000 + i, 100);
        database.Add(some);
        try {
          mine.Insert(some);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
          return;
        }
      }
    });
  }
  std::jthread mover([&] {
    const Layout layout = DescriptorNow(servers, name).layout;
    for (uint64_t s = 0; s < layout.segments(); ++s) {
      try {
        MoveSlot(servers, layout.SlotOf(s), milliseconds(15));
      } catch (const std::runtime_error& error) {
        ADD_FAILURE() << "slot of segment " << s << ": " << error.what();
      }
    }
    moved = true;
  });
  int rebuilds = 0;
  while (!moved) {
    Rebuild(filter, database.Source(), NoGrace());
    ++rebuilds;
  }
  mover.join();
  writers.clear();
  askers.Stop();
  EXPECT_GT(rebuilds, 0);
  EXPECT_EQ(askers.wrong(), 0u);
  EXPECT_EQ(askers.unanswered(), 0u);
  ExpectHasJust(servers.options(), name, database.All());
  ExpectOneGeneration(servers, name);
}

// ---- Tests that break their own cluster ----

// A master is killed when a step begins. Whatever happens to the rebuild, no key that was known to
// be on a replica is lost, and no query ever answers it "no".
class RedisRebuildFailoverTest : public testing::TestWithParam<RebuildStep> {};

TEST_P(RedisRebuildFailoverTest, AMasterIsKilled) {
  Servers servers("cluster", {"--cluster-node-timeout", "1500"});
  TAMIS_NEED(servers);
  const std::string name = NewName();
  const std::vector<uint64_t> known = RandomKeys(5'000, 1);
  const std::vector<uint64_t> fresh = RandomKeys(400'000, 2);
  SplitBlockFilter filter = SplitBlockFilter::Create(servers.options(), name, {kTwoPortions});
  filter.Insert(known);
  ASSERT_TRUE(Replicated(servers));
  Database database;
  database.Add(known);

  Askers askers(servers.options(), name, known);
  std::atomic<bool> stop = false;
  std::atomic<size_t> calls = 0;
  std::vector<uint64_t> durable;
  std::jthread writer([&] {
    ServerOptions options = servers.options();
    options.command_timeout = milliseconds(5'000);  // WAIT may take half of it
    SplitBlockFilter mine = SplitBlockFilter::Open(options, name, {.durable_replicas = 1});
    for (size_t i = 0; i + 100 <= fresh.size() && !stop; i += 100) {
      const auto some = std::span(fresh).subspan(i, 100);
      std::vector<uint64_t> lost;
      database.Add(some);
      try {
        mine.Insert(some);
      } catch (const UnansweredError& error) {
        lost = error.keys();
      }
      for (size_t k = 0; k < some.size(); ++k) {
        if (!std::binary_search(lost.begin(), lost.end(), k)) durable.push_back(some[k]);
      }
      ++calls;
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  EXPECT_TRUE(WaitFor(120, [&] { return calls > 5; }));
  // The master of the descriptor and of a third of the segments.
  const int port = MasterOfSlot(servers.servers()[0].port, SlotOfKey(DescriptorKey(name)));
  const auto dead = std::find_if(servers.servers().begin(), servers.servers().end(),
                                 [&](const Server& server) { return server.port == port; });
  ASSERT_NE(dead, servers.servers().end());
  RebuildOptions rebuild = NoGrace();
  rebuild.on_progress = [&, at = AtStep(GetParam())](const RebuildProgress& progress) mutable {
    if (at(progress)) kill(dead->pid, SIGKILL);
  };
  try {
    Rebuild(filter, database.Source(), rebuild);
  } catch (const Error& error) {
    RecordProperty("outcome", error.what());
  }
  const int other = servers.servers()[port == servers.servers()[0].port ? 1 : 0].port;
  EXPECT_TRUE(WaitFor(120, [&] {
    const int owner = MasterOfSlot(other, SlotOfKey(DescriptorKey(name)));
    return owner != 0 && owner != port;
  }));
  const size_t before = calls;
  EXPECT_TRUE(WaitFor(120, [&] { return calls > before + 1; }));
  stop = true;
  writer.join();
  askers.Stop();
  EXPECT_EQ(askers.wrong(), 0u);
  ServerOptions options = servers.options();
  options.url = "redis://127.0.0.1:" + std::to_string(other);
  SplitBlockFilter reader = SplitBlockFilter::Open(options, name);
  EXPECT_FALSE(durable.empty());
  EXPECT_EQ(reader.Count(durable), durable.size());
  EXPECT_EQ(reader.Count(known), known.size());
  // The next rebuild succeeds.
  EXPECT_TRUE(WaitFor(120, [&] {
    try {
      Rebuild(reader, database.Source(), NoGrace());
      return true;
    } catch (const Error&) {
      return false;
    }
  }));
  ExpectHasJust(options, name, database.All());
}

INSTANTIATE_TEST_SUITE_P(Steps, RedisRebuildFailoverTest,
                         testing::Values(RebuildStep::kFill, RebuildStep::kMerge,
                                         RebuildStep::kSwitch, RebuildStep::kClose),
                         [](const auto& test) {
                           return "Step" + std::to_string(static_cast<int>(test.param));
                         });

}  // namespace tamis::redis::rebuild_faults_servers_test
