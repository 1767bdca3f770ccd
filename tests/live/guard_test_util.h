// A cache and a database for tests of guards. They count their calls and fail on demand.
#ifndef TAMIS_TESTS_LIVE_GUARD_TEST_UTIL_H_
#define TAMIS_TESTS_LIVE_GUARD_TEST_UTIL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tamis/live/guard.h"
#include "tests/live/live_test_util.h"

namespace tamis {

// The value of a key is ten times the key.
class TestStore {
 public:
  using Found = std::optional<uint64_t>;

  Found Get(uint64_t key) {
    ++asked;
    if (broken) throw std::runtime_error("the store is broken");
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(key);
    return found == values_.end() ? Found() : found->second;
  }
  void Put(uint64_t key, uint64_t value) {
    if (broken) throw std::runtime_error("the store is broken");
    const std::lock_guard lock(mutex_);
    values_[key] = value;
  }
  std::vector<Found> Get(std::span<const uint64_t> keys) {
    batches.push_back({keys.begin(), keys.end()});
    std::vector<Found> found;
    for (const uint64_t key : keys) found.push_back(Get(key));
    return found;
  }
  void Put(std::span<const std::pair<uint64_t, uint64_t>> values) {
    for (const auto& [key, value] : values) Put(key, value);
  }
  void Insert(uint64_t key) { Put(key, key * 10); }
  bool Has(uint64_t key) {
    const std::lock_guard lock(mutex_);
    return values_.count(key) != 0;
  }

  std::atomic<uint64_t> asked = 0;
  std::atomic<bool> broken = false;
  std::vector<std::vector<uint64_t>> batches;  // not thread-safe

 private:
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> values_;
};

using Guard = CacheGuard<uint64_t, uint64_t, LockedBlocks>;

}  // namespace tamis

#endif  // TAMIS_TESTS_LIVE_GUARD_TEST_UTIL_H_
