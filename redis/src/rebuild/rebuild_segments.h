// The changes that a rebuild makes to segments: FORMAT.md, "Rebuilding".
#ifndef TAMIS_REDIS_SRC_REBUILD_REBUILD_SEGMENTS_H_
#define TAMIS_REDIS_SRC_REBUILD_REBUILD_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redis/src/client/client.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/segment_commands.h"
#include "redis/src/rebuild/rebuild_lease.h"
#include "redis/src/rebuild/replicated_writes.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::redis {

// Functions with `which` change these segments, and return the segments for which they must be
// called again (ReplicatedWrites::Part). They throw an Error that names the segment.
class RebuildSegments {
 public:
  using Which = std::span<const size_t>;

  RebuildSegments(const FilterState& state, Client& client, SegmentCommands& commands,
                  ReplicatedWrites& writes, RebuildLease& lease)
      : state_(state), client_(client), commands_(commands), writes_(writes), lease_(lease) {}

  // Creates segments of the next generation.
  std::vector<size_t> MakeNext(Which which);
  // Marks segments of the old generation. `marks` contains the last known mark of every segment.
  std::vector<size_t> MarkOld(Which which, std::vector<uint64_t>& marks);
  // Merges the bits of `local` into the next generation.
  std::vector<size_t> Merge(const SplitBlockBloomFilter& local, Which which);
  // Closes segments of the old generation, and removes the marks of the next one.
  std::vector<size_t> Close(Which which);
  // Removes segments of the old generation.
  std::vector<size_t> Remove(Which which);

  // Returns true if a segment of the old generation is closed.
  bool SomeAreClosed();
  // Removes the marks of the old generation and all segments of the next generation.
  void RollBack();

 private:
  uint64_t old() const { return lease_.record().old; }
  uint64_t next() const { return lease_.record().next; }
  uint64_t LengthOf(uint64_t segment) const { return state_.layout().BytesOf(segment); }
  // Replaces the mark `from` of a segment by `to`. The same script removes the segment of the
  // generation `removed`; 0: none.
  Command MarkCommand(uint64_t segment, uint64_t generation, uint64_t from, uint64_t to,
                      uint64_t removed) const;
  [[noreturn]] void ThrowIn(uint64_t segment, const Problem& problem) const;

  const FilterState& state_;
  Client& client_;
  SegmentCommands& commands_;
  ReplicatedWrites& writes_;
  RebuildLease& lease_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REBUILD_SEGMENTS_H_
