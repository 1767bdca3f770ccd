// A part of the keys of a CacheGuard: the keys being loaded, and the keys missing from the
// database.
#ifndef TAMIS_LIVE_DETAIL_GUARD_SHARD_H_
#define TAMIS_LIVE_DETAIL_GUARD_SHARD_H_

#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tamis/live/detail/live_state.h"

namespace tamis::detail {

// The load of one key by one call. Other calls may wait for its result.
template <typename Value>
struct Flight {
  std::promise<std::optional<Value>> landing;
  const std::shared_future<std::optional<Value>> result = landing.get_future().share();
  bool fenced = false;  // guarded by the lock of the shard
  // Whether the calls that wait must load the key again. Must be set before the flight lands.
  bool interrupted = false;
};

// Thread-safe.
template <typename Key, typename Value, typename Hash>
class GuardShard {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using FlightPointer = std::shared_ptr<Flight<Value>>;

  struct Boarding {
    FlightPointer flight;  // nullptr if a database miss of the key is cached
    bool first = false;    // true: the caller must carry out the load and call Land
  };

  // Must be called before any other function.
  void Configure(size_t max_negatives, std::chrono::nanoseconds ttl, LiveClock clock) {
    max_negatives_ = max_negatives;
    ttl_ = ttl;
    clock_ = std::move(clock);
  }

  // Returns the flight of the key. If the key has no flight, begins one. Like all functions, reads
  // the time under the lock. Otherwise an entry that another thread has just added could have a
  // later time than `now`.
  Boarding Board(const Key& key) {
    const std::lock_guard lock(mutex_);
    const Time now = TimeOf(clock_);
    const auto negative = negatives_.find(key);
    if (negative != negatives_.end()) {
      if (IsFresh(negative->second->second, now)) return {};
      order_.erase(negative->second);
      negatives_.erase(negative);
    }
    const auto flight = flights_.find(key);
    if (flight != flights_.end()) return {flight->second, false};
    auto begun = std::make_shared<Flight<Value>>();
    flights_.emplace(key, begun);
    return {std::move(begun), true};
  }

  // Ends the flight, so the next call for the key begins another one. `lacking`: the database lacks
  // the key. Caches this for a while, unless the key was inserted after the flight began.
  void Land(const Key& key, const FlightPointer& flight, bool lacking) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(key);
    if (found != flights_.end() && found->second == flight) flights_.erase(found);
    if (lacking && !flight->fenced) Note(key, TimeOf(clock_));
  }

  // Forgets that the key was missing, because it may exist now. A flight of the key will not cache
  // a miss.
  void Fence(const Key& key) noexcept {
    const std::lock_guard lock(mutex_);
    const auto negative = negatives_.find(key);
    if (negative != negatives_.end()) {
      order_.erase(negative->second);
      negatives_.erase(negative);
    }
    const auto flight = flights_.find(key);
    if (flight != flights_.end()) {
      flight->second->fenced = true;
      flights_.erase(flight);
    }
  }

  size_t negatives() {
    const std::lock_guard lock(mutex_);
    DropStale(TimeOf(clock_));
    return negatives_.size();
  }

 private:
  // Oldest first. All entries have the same lifetime, so expired entries are at the front.
  using Order = std::list<std::pair<Key, Time>>;

  // Entries with a later time than `now` do not count. They exist if the clock went backwards.
  bool IsFresh(Time noted, Time now) const noexcept { return noted <= now && now - noted < ttl_; }

  void DropStale(Time now) {
    while (!order_.empty() && !IsFresh(order_.front().second, now)) DropOldest();
  }

  void DropOldest() {
    negatives_.erase(order_.front().first);
    order_.pop_front();
  }

  // Does nothing if memory runs out.
  void Note(const Key& key, Time now) noexcept {
    try {
      DropStale(now);
      if (max_negatives_ == 0 || negatives_.count(key) != 0) return;
      while (negatives_.size() >= max_negatives_) DropOldest();
      order_.emplace_back(key, now);
      try {
        negatives_.emplace(key, std::prev(order_.end()));
      } catch (...) {
        order_.pop_back();
      }
    } catch (...) {
    }
  }

  size_t max_negatives_ = 0;
  std::chrono::nanoseconds ttl_{};
  LiveClock clock_;

  std::mutex mutex_;
  std::unordered_map<Key, FlightPointer, Hash> flights_;
  Order order_;
  std::unordered_map<Key, typename Order::iterator, Hash> negatives_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_GUARD_SHARD_H_
