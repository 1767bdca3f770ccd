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

struct NearCacheOptions {
  // Maximum age of a copy that answers "no" without the servers, at least 1 ms. An older copy is
  // refreshed first. If not set, the servers confirm every "no". The age is measured with
  // steady_clock, which stops on Linux while the machine is suspended. A "no" shortly after that
  // may be older by the time of the suspension.
  std::optional<std::chrono::milliseconds> staleness = {};
  // Time between the beginnings of two refreshes by a thread of this object, which has its own
  // connections: 1 ms to a day. Calls never wait for a refresh if `staleness` is longer than this
  // time and one refresh together. If not set, calls refresh the copy.
  std::optional<std::chrono::milliseconds> refresh_every = {};
  MemoryOptions memory = {};
};

struct NearCacheStats {
  uint64_t refreshes = 0;  // successful refreshes, by calls and by the thread
  uint64_t segments = 0;   // segments that all refreshes have read, including failed ones
  // Failed refreshes of the thread. It tries again after `refresh_every`. That time doubles with
  // each failure in a row, up to ServerOptions::max_backoff if that is longer.
  uint64_t failures = 0;
  uint64_t failures_in_a_row = 0;
  std::string last_error;  // of the thread; empty: no failure, or no memory for the text
};

// Answers "maybe" from memory, because keys are never removed from a filter. "No" comes from the
// servers, or from a copy that was at most `staleness` old when the call began. So every key is
// found if its insertion returned at least `staleness` before the call.
//
// A refresh reads only the segments that have changed. After a rebuild it reads all of them.
//
// One thread at a time may use an object. Functions throw what those of SplitBlockFilter throw. An
// object with `refresh_every` belongs to the process that created it. A child of fork lacks its
// thread: there, functions throw Error(kInvalidArgument), and the destructor frees nothing.
class NearCache final : public Queryable, public Changeable {
 public:
  // Reads the whole filter. Throws as SplitBlockFilter::Pull, Error(kInvalidArgument) for options
  // out of range, and Error(kOutOfMemory) if a thread cannot be started.
  explicit NearCache(SplitBlockFilter filter, const NearCacheOptions& options = {});
  NearCache(NearCache&&) noexcept;
  NearCache& operator=(NearCache&&) noexcept;
  // Stops the thread, even while it waits for a server. Waits only for the look-up of a host name.
  ~NearCache();

  // Queries are those of Queryable. If the servers cannot be reached and the copy is too old, keys
  // outside the copy are without an answer: see ClientOptions::unavailable of the filter.
  // This takes up to twice ServerOptions::retry_for, or three times if the thread is refreshing.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // servers do not store them
  uint64_t bytes() const override { return copy().bytes(); }

  // Inserts on the servers, and then into the copy. Throws as SplitBlockFilter::Insert, and then
  // leaves the copy as it was.
  using Changeable::Insert;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // Reads the segments that have changed, and returns their number. If it throws, the copy keeps
  // what was read. If that is a part of a new generation, the servers confirm every "no" until a
  // refresh succeeds.
  uint64_t Refresh();
  // The copy has all keys that were inserted before this time. Returns the epoch of the clock while
  // the copy lacks a part of a new generation.
  std::chrono::steady_clock::time_point refreshed_at() const;
  NearCacheStats stats() const;

  // Must not be queried or read with `refresh_every`, because the thread may change its blocks.
  const SplitBlockBloomFilter& copy() const;
  SplitBlockFilter& filter();

 private:
  class State;

  // Throws Error(kInvalidArgument) if the object was moved from, and in a child of fork.
  State& state() const;
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Asks the servers for the keys whose bit in `maybe` is 0, and sets the bits of keys that may be
  // in.
  void Confirm(const Keys& keys, std::span<uint64_t> maybe) const;

  std::unique_ptr<State> state_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_NEAR_CACHE_H_
