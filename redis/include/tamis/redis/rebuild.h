// Replaces the keys of a filter on Redis servers while its clients keep using it.
#ifndef TAMIS_REDIS_REBUILD_H_
#define TAMIS_REDIS_REBUILD_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "tamis/filters/filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/keys.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

class Rebuilder;

// The steps of a rebuild, in their order.
enum class RebuildStep : uint8_t {
  kMark,    // creates the new generation, and marks the old one so that writers fill both
  kFill,    // reads the source
  kMerge,   // writes the keys of the source to the servers
  kSwitch,  // makes the new generation the current one
  kClose,   // closes the old generation, so that its readers go on with the new one
  kRemove,  // removes the old generation
};

struct RebuildProgress {
  RebuildStep step = RebuildStep::kMark;
  uint64_t done = 0;   // keys from the source during kFill, otherwise segments
  uint64_t total = 0;  // 0: unknown
};

struct RebuildOptions {
  // Duration of the lease, 1 ms to a day. Other clients treat the rebuild as abandoned when the
  // lease has expired. Each portion of the work renews it, and so does a call of RebuildInserter
  // if a third of the lease has passed.
  std::chrono::milliseconds lease{30'000};
  // How long the closed old generation stays on the servers, at most a day. Clients of this library
  // do not need that time. It is for clients that do not read the descriptor again.
  std::chrono::milliseconds grace{5'000};
  // Called by the rebuilding thread at the beginning of each step and during it. An exception ends
  // the rebuild.
  std::function<void(const RebuildProgress&)> on_progress = {};
  // Memory of the local filter that takes the keys of the source.
  MemoryOptions memory = {};
};

struct RebuildResult {
  uint64_t generation = 0;  // the new generation, as in Info
  uint64_t keys = 0;        // number of keys that the source has inserted
  // Whether this rebuild has first ended an abandoned one.
  bool ended_abandoned = false;
};

// The interface through which a source inserts keys. One thread at a time may use it.
class RebuildInserter {
 public:
  // Inserts all keys that are not null into local memory, and returns their number. Throws
  // Error(kCancelled) if the rebuild was cancelled, Error(kBusy) if another client has ended it as
  // abandoned, Error(kUnavailable) if the lease cannot be renewed, and exceptions of on_progress.
  size_t Insert(Keys keys);
  // Adds all keys of a filter with the same blocks and hash. RebuildResult::keys does not count
  // them. Throws Error(kIncompatible) if blocks or hash differ, and as Insert.
  void Add(const SplitBlockBloomFilter& filter);
  // Reports progress and renews the lease, as Insert does. For sources that pause for long.
  void KeepAlive();
  // Sets RebuildProgress::total.
  void SetTotal(uint64_t keys) { total_ = keys; }
  // For sources that check for cancellation on their own.
  const std::stop_token& stop() const noexcept { return stop_; }

 private:
  friend class Rebuilder;

  RebuildInserter(Rebuilder& rebuilder, SplitBlockBloomFilter& filter, std::stop_token stop);

  Rebuilder& rebuilder_;
  SplitBlockBloomFilter& filter_;
  const std::stop_token stop_;
  uint64_t keys_ = 0;
  uint64_t total_ = 0;
};

// Inserts all keys that the filter is to have. An exception ends the rebuild.
using RebuildSource = std::function<void(RebuildInserter&)>;

// Replaces the keys of the filter with those of `source`. Name, blocks and hash stay. Clients, also
// those that have the filter open, go on with queries and insertions. None of their keys is lost or
// answered with "no", provided that `source` reads every key whose insertion began before the call
// of `source`. So clients should first write a key where `source` finds it, and then call Insert.
// Keys that were inserted before the rebuild and that are not in `source` are removed.
//
// During the rebuild, insertions cost servers about twice the time, servers have two filters in
// memory, and this machine has one. Before clients use the new generation, it is on all replicas
// that the cluster shows, so no failure of a master loses it. The rebuild waits up to retry_for for
// replicas that are shown as loading, and does not wait for failed ones.
//
// If the client that rebuilds dies, the filter stays usable. When the lease has expired, Rebuild or
// EndAbandonedRebuild of any client ends the abandoned rebuild, and Rebuild then begins with its
// own source. Segments that servers have lost are created again.
//
// Returns when it is done. One thread at a time may use `filter`, as for its own functions. Throws
// - Error(kBusy) if another client rebuilds the filter, or took over after the lease expired,
// - Error(kCancelled) if `stop` is requested before the switch; later requests only skip the grace,
// - Error(kInvalidArgument) for options out of range, or if the filter was removed,
// - Error(kUnavailable) if servers cannot be reached or have lost a part of the new generation, or
//   if the deadline of the filter has passed,
// - Error(kNotDurable) if replicas do not get the new generation,
// - Error(kCorrupt) if servers have damaged data, and Error(kUnsupported) if another version of the
//   library has left a rebuild,
// - Error(kOutOfMemory) if servers have no memory for the new generation; std::bad_alloc, or
//   Error(kOutOfMemory), if this machine has no memory,
// - the exceptions of `source` and on_progress.
//
// After an exception the filter is as it was, with all keys that were inserted during the rebuild.
// The new generation is in place instead
// - if what() of an Error states that,
// - if on_progress throws an exception of another type during kClose or kRemove,
// - in rare cases after std::bad_alloc, if memory does not even suffice for that text.
// If servers fail as well, the next rebuild removes the rest of the other generation.
RebuildResult Rebuild(SplitBlockFilter& filter, const RebuildSource& source,
                      const RebuildOptions& options = {}, const std::stop_token& stop = {});

// Ends an abandoned rebuild: completes it if it had written all keys and begun the switch, and
// otherwise leaves the filter as it was. Returns whether there was a rebuild. Throws as Rebuild,
// and Error(kBusy) while the lease lasts.
bool EndAbandonedRebuild(SplitBlockFilter& filter, const RebuildOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REBUILD_H_
