// The state of a NearCache: the copy, and the thread that refreshes it.
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

// The calling thread and the refreshing thread share this state. Only the calling thread uses
// filter_.
class NearCache::State {
 public:
  using Time = std::chrono::steady_clock::time_point;

  State(SplitBlockFilter filter, const NearCacheOptions& options);
  // Joins the thread and deletes the state. In a child of fork, leaks the state instead, because
  // the thread may have held a lock.
  static void End(std::unique_ptr<State> state) noexcept;
  void RequireThisProcess() const;

  bool accepts_staleness() const { return options_.staleness.has_value(); }
  SplitBlockFilter& filter() { return filter_; }
  const SplitBlockBloomFilter& copy() const { return copy_; }
  Time refreshed_at() const;
  NearCacheStats stats() const;

  // Queries the copy if it is fresh enough for a call that began at `call`. Otherwise returns
  // false.
  bool AskIfFresh(const Keys& keys, std::span<uint64_t> maybe, Time call) const;
  // Queries the copy, however old it is.
  void AskAnyhow(const Keys& keys, std::span<uint64_t> maybe) const;
  void Insert(const Keys& keys);
  uint64_t Refresh() { return RefreshBy(filter_.impl(), /*unless_fresh_at=*/{}); }
  // Refreshes the copy unless it is fresh. If the thread is refreshing the copy, first waits for
  // the end of that refresh.
  void RefreshIfOld(Time call) { RefreshBy(filter_.impl(), call); }

 private:
  // A mutex for two threads: if one waits for it, that thread gets it next. With a std::mutex, the
  // other thread could lock it again and again in the meantime.
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
  // Refreshes the copy. Returns the time between the beginnings of this refresh and the next.
  std::chrono::nanoseconds RefreshOfThread() noexcept;
  void Failed(const char* why) noexcept;

  const NearCacheOptions options_;
  const pid_t process_;
  SplitBlockFilter filter_;

  FairMutex refreshing_;  // held during a whole refresh; locked before mutex_
  mutable FairMutex mutex_;
  // Guarded by refreshing_: the generation and the versions of the copy.
  uint64_t generation_ = 0;
  std::vector<uint64_t> versions_;  // one for each segment; 0: unknown
  // Guarded by mutex_.
  SplitBlockBloomFilter copy_;
  bool complete_ = false;  // false while the copy lacks a part of a new generation
  Time refreshed_at_{};
  NearCacheStats stats_;

  std::unique_ptr<SplitBlockFilter::Impl> of_thread_;
  std::mutex sleeping_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // the last member, so that its destructor joins the thread first
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_NEAR_CACHE_NEAR_CACHE_STATE_H_
