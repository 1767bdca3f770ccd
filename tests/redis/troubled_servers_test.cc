// Servers with problems: busy with a script, unable to save, evicting keys; and clients that query
// very many keys.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "redis/src/filter/layout.h"
#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/redis_test_util.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis::troubled_servers_test {

using std::chrono::milliseconds;

ServerOptions Impatient(const Servers& servers) {
  ServerOptions options = servers.options();
  options.retry_for = milliseconds(300);
  return options;
}

// Another client's script that does not end.
TEST(RedisTroubledTest, BusyWithAScript) {
  Servers servers("single", {"--lua-time-limit", "50"});
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const std::vector<uint64_t> keys = RandomKeys(500, 1);
  SplitBlockFilter patient =
      SplitBlockFilter::Create(servers.options(), "busy", {{.bytes = 400'000}});
  SplitBlockFilter impatient = SplitBlockFilter::Open(Impatient(servers), "busy");
  std::thread script([&] { Say(port, {"EVAL", "while true do end", "0"}); });
  ASSERT_TRUE(WaitFor(120, [&] { return Say(port, {"GET", "x"}).starts_with("BUSY"); }));
  ExpectError([&] { impatient.Insert(keys); }, ErrorCode::kUnavailable, "BUSY");
  ExpectError([&] { impatient.Count(keys); }, ErrorCode::kUnavailable, "BUSY");
  std::thread end([&] {
    std::this_thread::sleep_for(milliseconds(200));
    Say(port, {"SCRIPT", "KILL"});
  });
  EXPECT_EQ(patient.Insert(keys), keys.size());
  end.join();
  script.join();
  EXPECT_EQ(impatient.Count(keys), keys.size());
}

// A server that cannot save refuses writes, but answers queries.
TEST(RedisTroubledTest, CannotSave) {
  Servers servers("single");
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const std::vector<uint64_t> keys = RandomKeys(500, 1), more = RandomKeys(500, 2);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(Impatient(servers), "unsaved", {{.bytes = 400'000}});
  filter.Insert(keys);
  const std::string dir = Say(port, {"CONFIG", "GET", "dir"}).substr(4);
  Say(port, {"CONFIG", "SET", "save", "3600 1"});
  std::filesystem::create_directory(dir + "/dump.rdb");
  std::ofstream(dir + "/dump.rdb/x").put('x');  // no file can be renamed to this name
  Say(port, {"BGSAVE"});
  ASSERT_TRUE(WaitFor(120, [&] { return Say(port, {"SET", "x", "y"}).starts_with("MISCONF"); }));
  for (const Route route : {Route::kBlocks, Route::kSegments}) {
    SplitBlockFilter writer =
        SplitBlockFilter::Open(Impatient(servers), "unsaved", {.route = route});
    try {
      writer.Insert(more);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const UnansweredError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnavailable) << error.what();
      EXPECT_NE(std::string(error.what()).find("MISCONF"), std::string::npos) << error.what();
      EXPECT_EQ(error.keys().size(), more.size());
    }
    EXPECT_EQ(writer.Count(keys), keys.size());
  }
  Say(port, {"CONFIG", "SET", "stop-writes-on-bgsave-error", "no"});
  EXPECT_EQ(filter.Insert(more), more.size());
}

// Whatever the server evicts, no inserted key gets the answer "no". The server evicts random keys,
// because the test reads all keys of the filter all the time. The test restores the descriptor.
TEST(RedisTroubledTest, EvictsKeysOfFilters) {
  Servers servers("single", {"--maxmemory", "6mb", "--maxmemory-policy", "allkeys-random"});
  TAMIS_NEED(servers);
  const int port = servers.servers()[0].port;
  const std::vector<uint64_t> keys = RandomKeys(2'000, 1);
  SplitBlockFilter filter =
      SplitBlockFilter::Create(Impatient(servers), "evicted", {{.bytes = 2'000'000}});
  filter.Insert(keys);
  SplitBlockFilter open =
      SplitBlockFilter::Open(Impatient(servers), "evicted", {.unavailable = Unavailable::kMaybe});
  const uint64_t segments = filter.GetInfo().segments;
  const std::string descriptor = Say(port, {"GET", DescriptorKey("evicted")});
  // Any command makes the server evict keys, including the commands of this test, so eviction is
  // off while they read.
  const auto evicts = [&](bool on) {
    Say(port, {"CONFIG", "SET", "maxmemory", on ? "6mb" : "0"});
    Say(port, {"SET", DescriptorKey("evicted"), descriptor, "NX"});
  };
  const auto bad_segments = [&] {
    evicts(false);
    const uint64_t bad = filter.GetInfo().bad_segments;
    evicts(true);
    return bad;
  };
  for (int i = 0; bad_segments() < segments / 2 && i < 2'000; ++i) {
    Say(port, {"SET", "junk-" + std::to_string(i), std::string(20'000, 'j')});
    if (i % 20 == 0) {
      ASSERT_EQ(open.Count(keys), keys.size()) << i;
    }
  }
  EXPECT_GE(bad_segments(), segments / 2);
  EXPECT_EQ(open.Count(keys), keys.size());
  evicts(false);
  EXPECT_THROW(filter.Count(keys), UnansweredError);
  EXPECT_THROW(filter.Insert(keys), UnansweredError);
  ExpectError([&] { filter.Pull(); }, ErrorCode::kCorrupt, "missing");
}

// Returns the peak memory of this process since the last ResetPeak, in MiB; 0 if unknown.
uint64_t PeakMiB() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) / 1024;
  }
  return 0;
}
bool ResetPeak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5); }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsItsOwn = false;  // includes the memory of the sanitizer
#else
constexpr bool kMemoryIsItsOwn = true;
#endif

// A command for each of very many keys of one segment. The commands are not all sent at once.
TEST(RedisTroubledTest, AsksForManyBlocksInPortions) {
  Servers& servers = Servers::Single();
  TAMIS_NEED(servers);
  const std::string name = NewName();
  const std::vector<uint64_t> keys = RandomKeys(600'000, 1);
  SplitBlockFilter filter = SplitBlockFilter::Create(servers.options(), name, {{.bytes = 60'000}},
                                                     {.route = Route::kBlocks});
  filter.Insert(std::span(keys).first(20'000));
  const SplitBlockBloomFilter local = filter.Pull();
  std::vector<uint64_t> bits(BitmapWords(keys.size())), wanted(bits.size());
  const bool reset = ResetPeak();
  const uint64_t before = PeakMiB();
  filter.Contains(keys, Bitmap(bits));
  const uint64_t peak = PeakMiB();
  local.Contains(keys, Bitmap(wanted));
  EXPECT_EQ(bits, wanted);
  if (kMemoryIsItsOwn && reset && before > 0) {
    EXPECT_LT(peak - before, 120u) << "MiB";
  }
  filter.Drop();
}

}  // namespace tamis::redis::troubled_servers_test
