// Writes that must be on all replicas before a rebuild goes on.
#ifndef TAMIS_REDIS_SRC_REBUILD_REPLICATED_WRITES_H_
#define TAMIS_REDIS_SRC_REBUILD_REPLICATED_WRITES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "redis/src/client/client.h"
#include "redis/src/filter/filter_state.h"

namespace tamis::redis {

class ReplicatedWrites {
 public:
  // Does a part of the work, for the segments `which`. Returns those for which it must be repeated:
  // replicas may lack it, or the segment was not in the expected state.
  using Part = std::function<std::vector<size_t>(std::span<const size_t> which)>;

  // Waits for `replicas` replicas of each master, and for all that the cluster shows.
  ReplicatedWrites(const FilterState& state, Client& client, uint32_t replicas)
      : state_(state), client_(client), replicas_(replicas) {}

  // Runs the commands, waits for the replicas, and sets Command::durable.
  void Run(std::span<Command> commands);
  // Calls `part` for the segments from `begin` to `end`, and repeats it until it returns none.
  // Throws Error(kNotDurable) if that takes longer than ServerOptions::retry_for.
  void UntilDone(size_t begin, size_t end, const Part& part);

 private:
  const FilterState& state_;
  Client& client_;
  const uint32_t replicas_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REPLICATED_WRITES_H_
