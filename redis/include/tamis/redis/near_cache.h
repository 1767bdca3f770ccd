// A filter on Redis servers with a local copy in memory.
#ifndef TAMIS_REDIS_NEAR_CACHE_H_
#define TAMIS_REDIS_NEAR_CACHE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/keys.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

// Options of a NearCache.
struct NearCacheOptions {
  // Maximum age at which the copy may answer "no" without a query of the servers, at least 1 ms. A
  // query first refreshes an older copy. If not set, the servers confirm every "no". The age is
  // measured with steady_clock. On Linux, this clock stops while the machine is suspended, so the
  // age does not include that time.
  std::optional<std::chrono::milliseconds> staleness = {};
  // Time from the beginning of one refresh to the beginning of the next, 1 ms to a day. A thread of
  // this object, with its own connections, refreshes the copy. If `staleness` is longer than this
  // time plus the duration of a refresh, queries wait for a refresh only after failures. If not
  // set, the copy is refreshed only by Refresh, and by queries that find it older than `staleness`.
  std::optional<std::chrono::milliseconds> refresh_every = {};
  MemoryOptions memory = {};  // memory of the copy
};

// The counters of a NearCache.
struct NearCacheStats {
  uint64_t refreshes = 0;  // successful refreshes, by calls and by the thread
  uint64_t segments = 0;   // segments read by all refreshes, including failed ones
  // Failed refreshes of the thread. After a failure, the thread waits for `refresh_every`. After
  // each further failure in a row, it waits twice as long, up to ServerOptions::max_backoff. If
  // `refresh_every` is longer than max_backoff, every wait is `refresh_every`.
  uint64_t failures = 0;
  uint64_t failures_in_a_row = 0;  // failures since the last success
  std::string last_error;  // last failure of the thread; empty: none, or no memory for its text
};

// Answers "maybe" from the local copy: if such an answer is out of date, it is a false positive.
// "No" comes from the servers, or from a copy that was at most `staleness` old when the call began.
// So every key is found if its insertion returned at least `staleness` before the call.
//
// A refresh reads the segments that have changed since the last refresh. After a rebuild of the
// filter, it reads all segments.
//
// One thread at a time may use an object. Functions throw the same errors as the functions of
// SplitBlockFilter. An object with `refresh_every` works only in the process that created it,
// because a child of fork lacks its thread. In a child, functions throw Error(kInvalidArgument),
// and the destructor frees nothing.
class NearCache final : public Queryable, public Changeable {
 public:
  // Reads the whole filter. Throws as SplitBlockFilter::Pull, Error(kInvalidArgument) for options
  // out of range, and Error(kOutOfMemory) if a thread cannot be started.
  explicit NearCache(SplitBlockFilter filter, const NearCacheOptions& options = {});
  NearCache(NearCache&&) noexcept;
  NearCache& operator=(NearCache&&) noexcept;
  // Stops the thread, even while the thread waits for a server. Only the look-up of a host name
  // delays this.
  ~NearCache();

  // To query, call the functions of Queryable. If the copy is too old and the servers cannot be
  // reached, keys that the copy lacks are unanswered, and ClientOptions::unavailable of the filter
  // applies. Such a query takes up to twice ServerOptions::retry_for, or three times if the thread
  // is refreshing.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // servers do not store them
  uint64_t bytes() const override { return copy().bytes(); }

  // Inserts on the servers, and then into the copy. Throws as SplitBlockFilter::Insert. After an
  // exception, the copy is unchanged.
  using Changeable::Insert;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // Reads the segments that have changed, and returns their number. After an exception, the copy
  // contains the segments that were read. If the copy then has only a part of a new generation, the
  // servers confirm every "no" until a refresh succeeds.
  uint64_t Refresh();
  // Returns the time when the last successful refresh began. The copy has all keys whose insertion
  // returned before this time. While the copy lacks a part of a new generation, returns the epoch
  // of the clock.
  std::chrono::steady_clock::time_point refreshed_at() const;
  // Returns the counters.
  NearCacheStats stats() const;

  // Returns the local copy. If `refresh_every` is set, the caller must not query or read the copy,
  // because the thread may change its blocks at the same time.
  const SplitBlockBloomFilter& copy() const;
  // Returns the filter on the servers.
  SplitBlockFilter& filter();

 private:
  class State;

  // Throws Error(kInvalidArgument) if the object was moved from, or if it has a thread and this
  // process is a child of fork.
  State& state() const;
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Queries the servers for the keys whose bit in `maybe` is 0, and sets the bits of keys that may
  // be in the filter.
  void Confirm(const Keys& keys, std::span<uint64_t> maybe) const;

  std::unique_ptr<State> state_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_NEAR_CACHE_H_
