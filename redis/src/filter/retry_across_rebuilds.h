// Repeats work on segments if another client rebuilds the filter at the same time: FORMAT.md,
// "Rebuilding".
#ifndef TAMIS_REDIS_SRC_FILTER_RETRY_ACROSS_REBUILDS_H_
#define TAMIS_REDIS_SRC_FILTER_RETRY_ACROSS_REBUILDS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "redis/src/client/client.h"
#include "redis/src/client/patience.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/segment_commands.h"

namespace tamis::redis {

// A piece of work that was not done, and why.
struct Undone {
  size_t index = 0;
  Problem problem;
};

class RetryAcrossRebuilds {
 public:
  // Does the pieces of work with the indices `which`, and returns the pieces that were not done.
  using Once = std::function<std::vector<Undone>(std::span<const size_t> which)>;

  RetryAcrossRebuilds(FilterState& state, Client& client, SegmentCommands& commands)
      : state_(state), client_(client), commands_(commands) {}

  // Calls `once` for the indices from `begin` to `end`. Calls it again for pieces that were not
  // done because a replica lacks data, or because the filter is or was rebuilt. Returns the pieces
  // that were not done in the end.
  std::vector<Undone> Run(size_t begin, size_t end, const Once& once);

  // Returns a new limit for repetitions, for callers that repeat a whole operation.
  Patience NewPatience() { return Patience(client_); }
  // Reads the descriptor. If the filter has another generation now, adopts it and returns true.
  // Throws if the descriptor cannot be read.
  bool ReadDescriptorAgain();
  // Like ReadDescriptorAgain above, but if the descriptor cannot be read, sets `unread` and returns
  // false.
  bool ReadDescriptorAgain(std::optional<Problem>& unread);

 private:
  FilterState& state_;
  Client& client_;
  SegmentCommands& commands_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_RETRY_ACROSS_REBUILDS_H_
