// Filling a filter on Redis servers anew, while its clients go on.
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

// What a rebuild does, one after the other.
enum class RebuildStep : uint8_t {
  kMark,    // makes the new generation, and tells writers of it
  kFill,    // the source is read
  kMerge,   // what it gave is written to the servers
  kSwitch,  // clients begin with the new generation
  kClose,   // those who still read the old one are sent to the new one
  kRemove,  // the old one is removed
};

struct RebuildProgress {
  RebuildStep step = RebuildStep::kMark;
  uint64_t done = 0;   // of kFill: keys that the source has given; else segments
  uint64_t total = 0;  // 0: not known
};

struct RebuildOptions {
  // For how long after its last sign of life a rebuild is not taken for abandoned: 1 ms to a day.
  // It gives one with each portion of its work and each call of RebuildInserter.
  std::chrono::milliseconds lease{30'000};
  // How long the old generation stays, closed, after all clients can have learned of the new one.
  // Those of this library need none: it is for commands of others that are still on their way. At
  // most a day.
  std::chrono::milliseconds grace{5'000};
  // Called by the rebuilding thread at the beginning and during each step. What it throws ends the
  // rebuild.
  std::function<void(const RebuildProgress&)> on_progress = {};
  // Of the local filter into which the source is read.
  MemoryOptions memory = {};
};

struct RebuildResult {
  uint64_t generation = 0;  // the new one, as in Info
  uint64_t keys = 0;        // that the source has inserted
  // Whether there was an abandoned rebuild, which this one has ended first.
  bool ended_abandoned = false;
};

// What a source is handed. To be used by one thread.
class RebuildInserter {
 public:
  // Inserts all keys that are not null, into memory of this machine, and returns how many these
  // are. Throws Error(kCancelled) if the rebuild was cancelled, Error(kBusy) if another client has
  // taken it for abandoned, Error(kUnavailable) if the servers cannot be told of it, and what
  // on_progress throws.
  size_t Insert(Keys keys);
  // Adds all keys of a filter that was built elsewhere, of the same blocks and hash. Throws
  // Error(kIncompatible) if they are not, and as Insert does. RebuildResult::keys does not know
  // these.
  void Add(const SplitBlockBloomFilter& filter);
  // Nothing but what Insert does beside its keys: for sources that have none for long.
  void KeepAlive();
  // How many keys there will be, for RebuildProgress::total.
  void SetTotal(uint64_t keys) { total_ = keys; }
  // For sources that stop in ways of their own.
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

// Reads the keys. What it throws ends the rebuild.
using RebuildSource = std::function<void(RebuildInserter&)>;

// Fills the filter anew under its name, with the same blocks and hash, and removes what it had
// before. All clients, also those that have it open, go on asking and inserting meanwhile, and none
// of their keys is lost or answered by "no", if
// - a key that is inserted before `source` is called, or while that begins, is in what it reads. So
//   clients should first write a key where the source finds it, and then call Insert.
// Keys that were inserted before, and that the source does not give, are not in the filter any
// more.
//
// While it runs, insertions take about twice as long for servers, whose memory has two filters;
// this machine has one in memory. What it writes is on all replicas that the cluster shows before
// clients begin with it, so a master that fails loses nothing of it; also on those that it shows as
// loading, for which it waits until retry_for is over, but not on those that it shows as failed.
//
// If the client that rebuilds dies, the filter stays as it is, or as it is to be: who calls Rebuild
// or EndAbandonedRebuild when the lease is over ends it, and a Rebuild begins with its own source.
// A segment that servers have lost is made anew like the others.
//
// Throws
// - Error(kBusy) if another client rebuilds it, or has taken over since the lease was over,
// - Error(kCancelled) if `stop` is requested before the switch; after that it only ends the grace,
// - Error(kInvalidArgument) for options out of range and if there is no filter of that name any
//   more,
// - Error(kUnavailable), Error(kNotDurable), Error(kCorrupt) and Error(kOutOfMemory) for servers
//   that cannot be reached, whose replicas do not get what they write, that have lost a part of the
//   new generation, or that have no memory for it; the last also if this machine has none,
// - whatever `source` and on_progress throw.
// Then the filter is as it was, with all that was inserted meanwhile, unless what() says that the
// new generation is in place, or std::bad_alloc that there is no memory even to say so; if servers
// fail as well, what is left of it is removed by the next rebuild.
//
// Blocks until it is done. Uses `filter` as its own functions do: one thread at a time.
RebuildResult Rebuild(SplitBlockFilter& filter, const RebuildSource& source,
                      const RebuildOptions& options = {}, const std::stop_token& stop = {});

// Ends a rebuild whose client is gone: goes on from where all keys had been written, and else
// leaves the filter as it was. Returns false if there is none. Throws as Rebuild; Error(kBusy) also
// if its lease is not over yet.
bool EndAbandonedRebuild(SplitBlockFilter& filter, const RebuildOptions& options = {});

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_REBUILD_H_
