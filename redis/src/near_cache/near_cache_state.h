// What NearCache is made of: the copy, and the thread that refreshes it.
#ifndef TAMIS_REDIS_SRC_NEAR_CACHE_NEAR_CACHE_STATE_H_
#define TAMIS_REDIS_SRC_NEAR_CACHE_NEAR_CACHE_STATE_H_

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "redis/src/filter/filter_impl.h"
#include "tamis/redis/near_cache.h"

namespace tamis::redis {

// Of one thread that calls and of its own. Members of the filter are for the former alone.
class NearCache::State {
 public:
  using Time = std::chrono::steady_clock::time_point;

  State(SplitBlockFilter filter, const NearCacheOptions& options);
  // Joins the thread; of another process, leaves all as it is: the thread may have held a lock.
  static void End(std::unique_ptr<State> state) noexcept;
  void RequireThisProcess() const;

  bool accepts_staleness() const { return options_.staleness.has_value(); }
  SplitBlockFilter& filter() { return filter_; }
  const SplitBlockBloomFilter& copy() const { return copy_; }
  Time refreshed_at() const;
  NearCacheStats stats() const;

  // False, with nothing asked, unless the copy's "no" is good enough for a call that began then.
  bool AskIfFresh(const Keys& keys, std::span<uint64_t> maybe, Time call) const;
  void AskAnyhow(const Keys& keys, std::span<uint64_t> maybe) const;
  void Insert(const Keys& keys);
  uint64_t Refresh() { return RefreshBy(filter_.impl(), /*unless_fresh_at=*/{}); }
  // Or waits for the thread to do it.
  void RefreshIfOld(Time call) { RefreshBy(filter_.impl(), call); }

 private:
  // A waiting thread gets it next, even if calls and refreshes follow each other without a pause.
  class FairMutex {
   public:
    void lock();
    void unlock() { mutex_.unlock(); }

   private:
    std::mutex next_, mutex_;
  };
  using Lock = std::lock_guard<FairMutex>;

  bool IsFresh(Time call) const;
  uint64_t RefreshBy(SplitBlockFilter::Impl& impl, std::optional<Time> unless_fresh_at);
  void Run(const std::stop_token& stop);
  // How long from its beginning to that of the next.
  std::chrono::nanoseconds RefreshOfThread() noexcept;
  void Failed(const char* why) noexcept;

  const NearCacheOptions options_;
  const pid_t process_;
  SplitBlockFilter filter_;

  FairMutex refreshing_;  // held during the whole of a refresh, and before the other
  mutable FairMutex mutex_;
  // Of the refreshes: what of the filter the copy has.
  uint64_t generation_ = 0;
  std::vector<uint64_t> versions_;  // of segments; 0: not known
  // With mutex_.
  SplitBlockBloomFilter copy_;
  bool complete_ = false;  // false while it lacks a part of a new generation
  Time refreshed_at_{};
  NearCacheStats stats_;

  std::unique_ptr<SplitBlockFilter::Impl> of_thread_;
  std::mutex sleeping_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // last: joined while the members above are still there
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_NEAR_CACHE_NEAR_CACHE_STATE_H_
