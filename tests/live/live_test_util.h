// Filters for the tests of live filters. They can be changed while threads read them, and they are
// counted.
#ifndef TAMIS_TESTS_LIVE_LIVE_TEST_UTIL_H_
#define TAMIS_TESTS_LIVE_LIVE_TEST_UTIL_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tamis/error.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// Saves the filter over a file that a watch may be reading, which wine refuses.
template <typename F>
void SaveWatched(const F& filter, const std::filesystem::path& path) {
#ifdef _WIN32
  constexpr int kTries = 100;
#else
  constexpr int kTries = 1;
#endif
  for (int tries = 1;; ++tries) {
    try {
      return filter.Save(path);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBusy || tries == kTries) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

// A filter behind a lock that counts its instances.
template <typename F>
class Locked {
 public:
  static constexpr bool kConcurrentChanges = true;
  static inline std::atomic<int> instances = 0;

  explicit Locked(F filter) : filter_(std::move(filter)), mutex_(std::make_unique<std::mutex>()) {
    ++instances;
  }
  explicit Locked(const FilterOptions& options) : Locked(F(options)) {}
  Locked(Locked&& other) noexcept
      : before_insert(std::move(other.before_insert)),
        filter_(std::move(other.filter_)),
        mutex_(std::move(other.mutex_)) {
    ++instances;
  }
  ~Locked() { --instances; }

  HashSpec hash() const { return filter_.hash(); }
  KeyTypes key_types() const {
    return With([&] { return filter_.key_types(); });
  }
  void set_key_types(KeyTypes types) { filter_.set_key_types(types); }
  uint64_t size() const {
    return With([&] { return filter_.inserted_count(); });
  }

  bool Contains(uint64_t key) const {
    return With([&] { return filter_.Contains(key); });
  }
  bool Contains(std::string_view key) const {
    return With([&] { return filter_.Contains(key); });
  }
  size_t Count(const Keys& keys) const {
    return With([&] { return filter_.Count(keys); });
  }
  size_t Contains(const Keys& keys, Bitmap out) const {
    return With([&] { return filter_.Contains(keys, out); });
  }
  size_t Insert(const Keys& keys) {
    if (before_insert) before_insert();
    return With([&] { return filter_.Insert(keys); });
  }
  bool InsertHash(uint64_t hash) {
    return With([&] { return filter_.InsertHash(hash); });
  }
  size_t Erase(const Keys& keys) requires requires(F& filter) { filter.Erase(Keys()); }
  {
    return With([&] { return filter_.Erase(keys); });
  }
  bool EraseHash(uint64_t hash) requires requires(F& filter) { filter.Erase(Keys()); }
  {
    return With([&] { return filter_.EraseHash(hash); });
  }

  // Called by Insert(keys), without the lock.
  std::function<void()> before_insert;

 private:
  template <typename Act>
  auto With(const Act& act) const {
    const std::lock_guard lock(*mutex_);
    return act();
  }

  F filter_;
  std::unique_ptr<std::mutex> mutex_;
};

using LockedBlocks = Locked<SplitBlockBloomFilter>;
using LockedCuckoo = Locked<CuckooFilter<16>>;

template <typename F>
F FilterOf(const std::vector<uint64_t>& keys, uint64_t capacity = 20'000, HashSpec hash = {}) {
  F filter(FilterOptions{.capacity = capacity, .fpr = 0, .hash = hash});
  filter.Insert(Keys(keys));
  return filter;
}

// An event that one thread waits for and another thread sets.
class Event {
 public:
  void Set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return set_; });
  }
  bool IsSet() {
    const std::lock_guard lock(mutex_);
    return set_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_LIVE_LIVE_TEST_UTIL_H_
