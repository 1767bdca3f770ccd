// Moves whole segments between the servers and this machine.
#ifndef TAMIS_REDIS_SRC_FILTER_SEGMENT_TRANSFER_H_
#define TAMIS_REDIS_SRC_FILTER_SEGMENT_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redis/src/client/problem.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/retry_across_rebuilds.h"
#include "redis/src/filter/segment_commands.h"
#include "tamis/filters/split_block_filter.h"

namespace tamis::redis {

// The bits of one segment that were read or are to be merged, or the problem if that failed.
struct SegmentBits {
  uint64_t segment = 0;
  std::string bits;
  std::optional<Problem> problem;
};

// A local copy of the filter that Refresh keeps up to date. Other threads may use it at the same
// time.
struct LocalCopy {
  SplitBlockBloomFilter& blocks;
  uint64_t& generation;             // the generation of the copy
  std::vector<uint64_t>& versions;  // one for each segment; 0: unknown
  uint64_t& read;                   // number of segments that were read
  // Is called within `change`, before the copy is emptied for a new generation.
  std::function<void()> begin_generation;
  // Calls its argument, a function that changes the blocks, while no other thread uses them.
  std::function<void(const std::function<void()>&)> change;
};

class SegmentTransfer {
 public:
  SegmentTransfer(FilterState& state, SegmentCommands& commands, RetryAcrossRebuilds& retry)
      : state_(state), commands_(commands), retry_(retry) {}

  // Read the bits of segments, or merge bits into segments. Set `problem` of each segment for which
  // this fails.
  void Read(std::span<SegmentBits> reads);
  void Merge(std::span<SegmentBits> merges);

  // See SplitBlockFilter.
  SplitBlockBloomFilter Pull(const MemoryOptions& memory);
  void Push(const SplitBlockBloomFilter& filter);
  // Adds the bits of segments whose version differs from the version in the copy. Throws the errors
  // of Pull.
  void Refresh(const LocalCopy& copy);

 private:
  std::vector<Undone> ReadOnce(std::span<SegmentBits> reads, std::span<const size_t> which);
  std::vector<Undone> MergeOnce(std::span<const SegmentBits> merges, std::span<const size_t> which);
  std::optional<Problem> RefreshOnce(const LocalCopy& copy);

  FilterState& state_;
  SegmentCommands& commands_;
  RetryAcrossRebuilds& retry_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SEGMENT_TRANSFER_H_
