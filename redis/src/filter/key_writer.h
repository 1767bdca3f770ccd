// Inserts keys into the segments on the servers.
#ifndef TAMIS_REDIS_SRC_FILTER_KEY_WRITER_H_
#define TAMIS_REDIS_SRC_FILTER_KEY_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "redis/src/client/batch.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/retry_across_rebuilds.h"
#include "redis/src/filter/segment_commands.h"
#include "redis/src/filter/segment_transfer.h"
#include "redis/src/filter/unanswered.h"
#include "tamis/keys.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

class KeyWriter {
 public:
  KeyWriter(const FilterState& state, SegmentCommands& commands, RetryAcrossRebuilds& retry,
            SegmentTransfer& transfer, const ClientOptions& options)
      : state_(state), commands_(commands), retry_(retry), transfer_(transfer), options_(options) {}

  // Inserts all keys that are not null, and returns their number. Throws UnansweredError if some
  // keys may not be in the filter, or may not be on enough replicas.
  size_t Insert(const Keys& keys);

 private:
  void WriteBlocks(const Batch& batch, uint64_t first_key, Unanswered& unanswered);
  std::vector<Undone> WriteBlocksOnce(const Batch& batch, std::span<const size_t> which);
  void WriteSegments(const Batch& batch, uint64_t first_key, Unanswered& unanswered);

  const FilterState& state_;
  SegmentCommands& commands_;
  RetryAcrossRebuilds& retry_;
  SegmentTransfer& transfer_;
  const ClientOptions& options_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_KEY_WRITER_H_
