// Freeing a large replaced filter takes long. No thread waits for it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/live/live.h"
#include "tests/live/live_test_util.h"

namespace tamis::old_filter_test {

// Calls a function when it is freed.
class Noticed : public LockedBlocks {
 public:
  explicit Noticed(std::function<void()> at_end = {})
      : LockedBlocks(FilterOptions{.capacity = 100}),
        at_end_(std::make_unique<std::function<void()>>(std::move(at_end))) {}
  Noticed(Noticed&&) = default;
  ~Noticed() {
    if (at_end_ && *at_end_) (*at_end_)();
  }

 private:
  std::unique_ptr<std::function<void()>> at_end_;
};

class OldFilterTest : public testing::Test {
 protected:
  // Publishes a filter. When it is freed, `meanwhile` is called on another thread.
  void PublishFirst(std::function<void()> meanwhile) {
    live_.Publish(Noticed([this, meanwhile = std::move(meanwhile)] {
      std::promise<void> done;
      const std::future<void> is_done = done.get_future();
      other_ = std::thread([done = std::move(done), meanwhile]() mutable {
        meanwhile();
        done.set_value();
      });
      freed_ = true;
      waited_ = is_done.wait_for(std::chrono::seconds(10)) != std::future_status::ready;
    }));
  }
  void ExpectNobodyWaited() {
    EXPECT_TRUE(freed_);
    EXPECT_FALSE(waited_);
    if (other_.joinable()) other_.join();
    EXPECT_TRUE(live_.Read()->Contains(uint64_t{7})) << "in the new one";
  }

  bool freed_ = false, waited_ = false;
  std::thread other_;
  Live<Noticed> live_;
};

TEST_F(OldFilterTest, NobodyWaitsForAPublication) {
  PublishFirst([&] {
    EXPECT_EQ(live_.Insert(std::vector<uint64_t>{7}), 1u);
    Noticed next;
    next.Insert(std::vector<uint64_t>{7});
    EXPECT_EQ(live_.Publish(std::move(next)), 3u);
  });
  live_.Publish(Noticed());
  ExpectNobodyWaited();
}

TEST_F(OldFilterTest, NobodyWaitsForARebuild) {
  PublishFirst([&] {
    EXPECT_EQ(live_.Insert(std::vector<uint64_t>{7}), 1u);
    EXPECT_EQ(live_.status().recorded, 0u) << "nor is it recorded any more";
  });
  live_.Rebuild({[](RebuildContext&) { return Noticed(); }});
  ExpectNobodyWaited();
}

}  // namespace tamis::old_filter_test
