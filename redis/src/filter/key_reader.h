// Answers queries from the segments on the servers.
#ifndef TAMIS_REDIS_SRC_FILTER_KEY_READER_H_
#define TAMIS_REDIS_SRC_FILTER_KEY_READER_H_

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

class KeyReader {
 public:
  KeyReader(const FilterState& state, SegmentCommands& commands, RetryAcrossRebuilds& retry,
            SegmentTransfer& transfer, const ClientOptions& options)
      : state_(state), commands_(commands), retry_(retry), transfer_(transfer), options_(options) {}

  // Sets bit i of `maybe` if key i may be in the filter or is unanswered. All bits must be 0 before
  // the call. Throws UnansweredError if keys are unanswered, unless Unavailable::kMaybe is set.
  void Query(const Keys& keys, std::span<uint64_t> maybe);

 private:
  void ReadBlocks(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                  Unanswered& unanswered);
  std::vector<Undone> ReadBlocksOnce(const Batch& batch, std::span<const size_t> which,
                                     uint64_t first_key, std::span<uint64_t> maybe);
  void ReadSegments(const Batch& batch, uint64_t first_key, std::span<uint64_t> maybe,
                    Unanswered& unanswered);

  const FilterState& state_;
  SegmentCommands& commands_;
  RetryAcrossRebuilds& retry_;
  SegmentTransfer& transfer_;
  const ClientOptions& options_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_KEY_READER_H_
