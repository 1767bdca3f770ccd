// A client that writes whole segments leaves time for other clients: it has at most the allowed
// number of bytes in flight to a server, and pauses between segments.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "redis/src/filter/descriptor.h"
#include "redis/src/filter/layout.h"
#include "tamis/redis/split_block_filter.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/redis_test_util.h"

namespace tamis::redis::pacing_test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Words = FakeServer::Words;
using Answer = std::optional<std::string>;

struct Span {
  steady_clock::time_point begin, end;
};

// A server whose merges take some time.
class Merging {
 public:
  Merging()
      : server([this](const Words& words) -> Answer {
          if (const Answer answer = AnswerOfSingle(words)) return answer;
          if (words[0] == "GET") return Bulk(DescriptorText(descriptor));
          if (words[0] == "SET") return "+OK\r\n";
          Span span{steady_clock::now(), {}};
          std::this_thread::sleep_for(milliseconds(15));
          span.end = steady_clock::now();
          const std::lock_guard lock(mutex);
          merges.push_back(span);
          return ":1\r\n";
        }) {}

  void Push(uint64_t max_bytes_in_flight, double idle_share) {
    ServerOptions options;
    options.url = server.url();
    options.command_timeout = options.retry_for = std::chrono::minutes(2);
    options.max_bytes_in_flight = max_bytes_in_flight;
    options.idle_share = idle_share;
    SplitBlockFilter filter = SplitBlockFilter::Open(options, "x");
    SplitBlockBloomFilter local({.bytes = descriptor.layout.bytes()});
    for (uint64_t key = 0; key < 1'000; ++key) local.Insert(key);
    filter.Push(local);
  }
  // Whether each pause before the next merge is at least as long as the previous merge, or as the
  // client's longest pause.
  bool HasRested() const {
    for (size_t i = 1; i < merges.size(); ++i) {
      const auto pause = merges[i].begin - merges[i - 1].end;
      const auto took = merges[i - 1].end - merges[i - 1].begin;
      if (pause < std::min<steady_clock::duration>(took, milliseconds(200))) return false;
    }
    return true;
  }

  const Descriptor descriptor = [] {
    Descriptor four;
    four.layout = LayoutFor(4 * 65'472 / split_block::kBlockBytes);
    four.generation = four.origin = 7;
    return four;
  }();
  std::mutex mutex;
  std::vector<Span> merges;
  FakeServer server;
};

TEST(RedisPacingTest, SegmentsGoOneByOneIfNoMoreMayBeOnTheirWay) {
  Merging one, all;
  ASSERT_EQ(one.descriptor.layout.segments(), 4u);
  one.Push(65'472, 0);
  EXPECT_EQ(one.server.early(), 0);
  EXPECT_EQ(one.merges.size(), 4u);
  all.Push(uint64_t{8} << 20, 0);
  EXPECT_GT(all.server.early(), 2);
  EXPECT_EQ(all.merges.size(), 4u);
}

TEST(RedisPacingTest, AServerRestsAfterEach) {
  Merging rested, hurried;
  rested.Push(65'472, 0.5);
  EXPECT_EQ(rested.merges.size(), 4u);
  EXPECT_TRUE(rested.HasRested());
  hurried.Push(uint64_t{8} << 20, 0);
  EXPECT_FALSE(hurried.HasRested());
}

TEST(RedisPacingTest, AShareOutOfRangeIsAnError) {
  FakeServer server(AnswerOfSingle);
  for (const double bad : {-0.1, 0.91, std::numeric_limits<double>::quiet_NaN()}) {
    ServerOptions options;
    options.url = server.url();
    options.idle_share = bad;
    ExpectError([&] { SplitBlockFilter::Open(options, "x"); }, ErrorCode::kInvalidArgument,
                "idle_share");
  }
}

}  // namespace tamis::redis::pacing_test
