// Finds, creates, describes and removes filters.
#ifndef TAMIS_REDIS_SRC_FILTER_ADMIN_H_
#define TAMIS_REDIS_SRC_FILTER_ADMIN_H_

#include <cstdint>
#include <optional>

#include "redis/src/client/client.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/retry_across_rebuilds.h"
#include "redis/src/filter/segment_commands.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

class Admin {
 public:
  Admin(FilterState& state, Client& client, SegmentCommands& commands, RetryAcrossRebuilds& retry)
      : state_(state), client_(client), commands_(commands), retry_(retry) {}

  // Reads the descriptor into the state. Returns false if the filter does not exist. Throws the
  // errors of SplitBlockFilter::Open.
  bool Find(const std::optional<HashSecret>& secret);
  // Throws Error(kIncompatible) unless a filter of these options has the same blocks and hash.
  void RequireExpected(const FilterOptions& expected) const;
  // See SplitBlockFilter.
  void Create(const CreateOptions& options);
  void Drop();
  Info GetInfo();

 private:
  void CreateSegments();
  // Removes the segments of a generation, except segments on servers that cannot be reached.
  void Unlink(uint64_t generation);
  // Reads the states of all segments once. Sets `problem` to the first problem that a newer
  // descriptor may solve.
  Info LookAtAll(std::optional<Problem>& problem);
  // `record`: a GET of the rebuild record, with its reply.
  RebuildState RebuildStateOf(const Command& record);

  FilterState& state_;
  Client& client_;
  SegmentCommands& commands_;
  RetryAcrossRebuilds& retry_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_ADMIN_H_
