// A filter on Redis servers with a copy in the memory of this machine.
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
  // How old a copy may be whose "no" is given without a question to the servers; an older one is
  // refreshed first. Without it every "no" is confirmed by the servers. The age is that of
  // steady_clock, which stands still on Linux while the machine is suspended: so long older may a
  // "no" be that is given shortly after.
  std::optional<std::chrono::milliseconds> staleness = {};
  // A thread of the object's own refreshes the copy so often, on connections of its own: 1 ms to a
  // day, from one beginning to the next. With a staleness that is longer than this and a refresh
  // together no call waits for one. Without it calls refresh, and there is no thread.
  std::optional<std::chrono::milliseconds> refresh_every = {};
  MemoryOptions memory = {};
};

struct NearCacheStats {
  uint64_t refreshes = 0;  // that succeeded, of calls and of the thread
  uint64_t segments = 0;   // that were read by these, and by those that failed
  // Of the thread, which goes on: at first after refresh_every, then twice as long each time, up to
  // ServerOptions::max_backoff where that is longer.
  uint64_t failures = 0;
  uint64_t failures_in_a_row = 0;
  std::string last_error;  // of the last failure; empty: there was none
};

// Answers "maybe" at the speed of memory, as keys are never taken out of a filter. A "no" is the
// servers' or, where that is accepted, one of a copy that was not older than `staleness` when the
// call began: a key whose insertion was over so long before the call is found.
//
// A copy is refreshed by segment: those that have not changed since are not read again. When the
// filter has been rebuilt it is read anew.
//
// One thread at a time may use an object. Functions throw what those of SplitBlockFilter do. With
// `refresh_every` it is of the process that made it: in a child of fork, which has no such thread,
// its functions throw Error(kInvalidArgument), and the destructor gives nothing back.
class NearCache final : public Queryable, public Changeable {
 public:
  // Reads all of it. Throws as SplitBlockFilter::Pull, and Error(kInvalidArgument) for a staleness
  // below 1 ms and a refresh_every out of range, Error(kOutOfMemory) if no thread can be had.
  explicit NearCache(SplitBlockFilter filter, const NearCacheOptions& options = {});
  NearCache(NearCache&&) noexcept;
  NearCache& operator=(NearCache&&) noexcept;
  // Ends the thread, whatever it is waiting for but the look-up of a name.
  ~NearCache();

  // Lookups are those of Queryable. If the servers cannot be reached and the copy is too old, keys
  // that it does not have are without an answer, which is dealt with as the filter's
  // ClientOptions::unavailable says, after up to twice ServerOptions::retry_for, or three times if
  // a thread is refreshing it just then.
  QueryTraits traits() const noexcept override;
  KeyTypes key_types() const override { return KeyType::kUnknown; }  // which servers do not know
  uint64_t bytes() const override { return copy().bytes(); }

  // Inserts on the servers, and then here. Throws as SplitBlockFilter::Insert; then nothing is
  // inserted here.
  using Changeable::Insert;
  ChangeTraits change_traits() const noexcept override { return {.whole_calls = true}; }

  // Reads what has changed. Gives how many segments were read. If it throws, what was read is kept,
  // and, if it was of a new generation, "no" is confirmed by the servers until a refresh succeeds.
  uint64_t Refresh();
  // The copy has all that was inserted before; the clock's epoch while it lacks a part of a new
  // generation.
  std::chrono::steady_clock::time_point refreshed_at() const;
  NearCacheStats stats() const;

  // With `refresh_every` its blocks change at any time, and are not to be read.
  const SplitBlockBloomFilter& copy() const;
  SplitBlockFilter& filter();

 private:
  class State;

  // Throws Error(kInvalidArgument) if it was moved from, and in a child of fork.
  State& state() const;
  void Query(const Keys& keys, uint64_t* bits) const override;
  size_t Apply(Change change, const Keys& keys, const ChangeOutputs& outputs) override;
  // Of the keys that are not in `maybe`, those that the servers have.
  void Confirm(const Keys& keys, std::span<uint64_t> maybe) const;

  std::unique_ptr<State> state_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_NEAR_CACHE_H_
