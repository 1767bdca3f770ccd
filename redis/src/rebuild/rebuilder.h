// The client that rebuilds a filter: FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_

#include <cstdint>
#include <stop_token>

#include "redis/src/filter/filter_impl.h"
#include "redis/src/rebuild/rebuild_lease.h"
#include "redis/src/rebuild/rebuild_segments.h"
#include "redis/src/rebuild/replicated_writes.h"
#include "tamis/redis/rebuild.h"

namespace tamis::redis {

// Carries out the steps of a rebuild in order, and cleans up after a failure.
class Rebuilder {
 public:
  // Throws Error(kInvalidArgument) for options out of range.
  Rebuilder(SplitBlockFilter& filter, const RebuildOptions& options, const std::stop_token& stop);

  RebuildResult Run(const RebuildSource& source);
  bool EndAbandoned();

  // Called while the source runs. Reports progress and renews the lease. Throws if the source
  // should stop.
  void GoOn(uint64_t keys, uint64_t total);

 private:
  // Ends a rebuild that another client has abandoned, and returns whether there was one. If
  // `begin_one`, then makes this client the owner of a new rebuild.
  bool Acquire(bool begin_one);
  // Ends the abandoned rebuild whose owner this client has just become.
  void EndTaken();
  // Cleans up after a failure of a step up to Switch. Restores the old generation on servers that
  // can be reached, or sets switched_ if the new generation is in place.
  void GiveUp();

  // Makes the next generation the current one.
  void Switch();
  // Removes the old generation after the switch.
  void Finish();
  void AwaitGrace();
  // Calls `part` for portions of all segments, reports progress, and renews the lease.
  void InPortions(RebuildStep step, const ReplicatedWrites::Part& part);
  // Calls on_progress. Throws Error(kCancelled) if a stop is requested before the switch.
  void Report(RebuildStep step, uint64_t done, uint64_t total);

  uint64_t segments() const { return state_.layout().segments(); }
  uint64_t NewGeneration();
  // Adds to the error that the new generation is in place.
  [[noreturn]] static void ThrowInPlace(const Error& error);

  FilterState& state_;
  Client& client_;
  const RebuildOptions& options_;
  const std::stop_token stop_;
  ReplicatedWrites writes_;
  RebuildLease lease_;
  RebuildSegments parts_;
  bool switched_ = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILDER_H_
