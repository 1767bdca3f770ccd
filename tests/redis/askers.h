// Clients that query all the time, for tests of events during queries.
#ifndef TAMIS_TESTS_REDIS_ASKERS_H_
#define TAMIS_TESTS_REDIS_ASKERS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tamis/redis/split_block_filter.h"
#include "tamis/unanswered_error.h"
#include "tests/redis/servers.h"
#include "tests/test_util.h"

namespace tamis::redis {

// Clients that query inserted keys, by both routes, until the object is destroyed.
class Askers {
 public:
  Askers(const ServerOptions& options, const std::string& name, std::span<const uint64_t> keys) {
    for (const Route route : {Route::kBlocks, Route::kSegments}) {
      threads_.emplace_back([=, this] {
        SplitBlockFilter filter = SplitBlockFilter::Open(options, name, {.route = route});
        Random random(static_cast<uint64_t>(route));
        while (!stop_) {
          const size_t sizes[] = {20, 60, 500};
          const auto some = keys.subspan(random.Below(keys.size() - 500), sizes[random.Below(3)]);
          try {
            wrong_ += some.size() - filter.Count(some);
            answered_ += some.size();
          } catch (const UnansweredError&) {
            ++unanswered_;
          } catch (const Error& error) {
            ADD_FAILURE() << error.what();
          }
        }
      });
    }
  }
  ~Askers() { Stop(); }

  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Number of inserted keys that were answered "no".
  uint64_t wrong() const { return wrong_; }
  uint64_t answered() const { return answered_; }
  uint64_t unanswered() const { return unanswered_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> wrong_ = 0, answered_ = 0, unanswered_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace tamis::redis

#endif  // TAMIS_TESTS_REDIS_ASKERS_H_
