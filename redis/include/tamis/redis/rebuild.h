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
  kClose,   // closes the old generation, so that readers switch to the new one
  kRemove,  // removes the old generation
};

// The progress of a rebuild.
struct RebuildProgress {
  RebuildStep step = RebuildStep::kMark;  // the current step
  uint64_t done = 0;                      // keys from the source during kFill, otherwise segments
  uint64_t total = 0;                     // 0: unknown
};

// Options of Rebuild.
struct RebuildOptions {
  // Duration of the lease, 1 ms to a day. If the lease expires, other clients treat the rebuild as
  // abandoned. The rebuild renews the lease with each portion of its work. While the source runs,
  // functions of RebuildInserter renew it if a third of the duration has passed.
  std::chrono::milliseconds lease{30'000};
  // How long the closed old generation stays on the servers, at most a day. Clients of this library
  // do not need this time. Other clients need it if they do not read the descriptor again when a
  // segment is missing.
  std::chrono::milliseconds grace{5'000};
  // Called by the rebuilding thread at the beginning of each step and during the step. An exception
  // from it ends the rebuild.
  std::function<void(const RebuildProgress&)> on_progress = {};
  // Memory of the local filter into which the source inserts its keys.
  MemoryOptions memory = {};
};

// The result of Rebuild.
struct RebuildResult {
  uint64_t generation = 0;  // the new generation, as in Info
  uint64_t keys = 0;        // number of keys that the source has inserted
  // Whether this rebuild first ended a rebuild that another client had abandoned.
  bool ended_abandoned = false;
};

// The interface through which a source inserts keys. One thread at a time may use it.
class RebuildInserter {
 public:
  // Inserts all keys that are not null into local memory, and returns their number. Throws
  // Error(kCancelled) if the rebuild was cancelled, Error(kBusy) if another client has ended the
  // rebuild as abandoned, Error(kUnavailable) if the lease cannot be renewed, and exceptions of
  // on_progress.
  size_t Insert(Keys keys);
  // Adds all keys of a filter with the same blocks and hash. RebuildResult::keys does not count
  // these keys. Throws as Insert, and Error(kIncompatible) if blocks or hash differ.
  void Add(const SplitBlockBloomFilter& filter);
  // Reports progress and renews the lease, as Insert does. For sources that pause for long.
  void KeepAlive();
  // Sets RebuildProgress::total.
  void SetTotal(uint64_t keys) { total_ = keys; }
  // Returns the stop token, for sources that check for cancellation themselves.
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

// Inserts all keys for the new generation. An exception ends the rebuild.
using RebuildSource = std::function<void(RebuildInserter&)>;

// Replaces the keys of the filter with the keys that `source` inserts. Name, blocks and hash stay
// the same. All clients, including those that have the filter open, can query and insert during the
// rebuild. No key is lost or answered with "no" if `source` reads every key whose insertion began
// before `source` was called. To ensure this, clients first write a key to the data that `source`
// reads, and then call Insert. Keys that were inserted before the rebuild and are not in `source`
// are removed.
//
// During the rebuild, servers spend about twice the time on an insertion, and need memory for two
// filters. This machine needs memory for one filter. Clients use the new generation only after it
// is on all replicas that the cluster shows, so no failure of a master loses it. The rebuild waits
// up to retry_for for replicas that the cluster shows as loading, and does not wait for failed
// replicas.
//
// If the client that rebuilds dies, the filter stays usable. After the lease has expired, Rebuild
// or EndAbandonedRebuild of any client ends the abandoned rebuild. Rebuild then begins its own
// rebuild. Segments that servers had lost exist again in the new generation.
//
// Blocks until the rebuild has ended. During this time, no other thread may use `filter`. Throws
// - Error(kBusy) if another client is rebuilding the filter, or took over after the lease expired,
// - Error(kCancelled) if `stop` is requested before the switch; later requests only end the grace
//   time early,
// - Error(kInvalidArgument) for options out of range, or if the filter was removed,
// - Error(kUnavailable) if servers cannot be reached or have lost a part of the new generation, or
//   if the deadline of the filter has passed,
// - Error(kNotDurable) if replicas do not get the new generation,
// - Error(kCorrupt) if servers have damaged data, and Error(kUnsupported) if another version of the
//   library has left an unfinished rebuild,
// - Error(kOutOfMemory) if servers have no memory for the new generation; std::bad_alloc, or
//   Error(kOutOfMemory), if this machine has no memory,
// - the exceptions of `source` and on_progress.
//
// After most exceptions, the filter still has the old generation, with all keys that were inserted
// during the rebuild. In these cases, the filter has the new generation:
// - if what() of an Error states this,
// - if on_progress throws an exception of another type during kClose or kRemove,
// - rarely, after std::bad_alloc, if there is not enough memory for that text.
//
// If servers could not be reached, a part of the other generation may stay on them. The next
// rebuild removes it.
RebuildResult Rebuild(SplitBlockFilter& filter, const RebuildSource& source,
                      const RebuildOptions& options = {}, const std::stop_token& stop = {});

// Ends an abandoned rebuild. If that rebuild had already switched to the new generation, completes
// the rebuild. Otherwise the filter keeps the old generation. Returns whether there was a rebuild.
// Throws as Rebuild; in particular, Error(kBusy) while the lease lasts.
bool EndAbandonedRebuild(SplitBlockFilter& filter, const RebuildOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REBUILD_H_
