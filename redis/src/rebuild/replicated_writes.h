// Writes that must be on all replicas before a rebuild continues.
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
  // Does a part of the work for the segments `which`. Returns the segments for which it must be
  // repeated: replicas may lack the writes, or the segment did not have the expected state.
  using Part = std::function<std::vector<size_t>(std::span<const size_t> which)>;

  // Waits for all replicas that the cluster shows, and for at least `replicas` of each master.
  ReplicatedWrites(const FilterState& state, Client& client, uint32_t replicas)
      : state_(state), client_(client), replicas_(replicas) {}

  // Runs the commands, waits for the replicas, and sets Command::durable.
  void Run(std::span<Command> commands);
  // Calls `part` for the segments from `begin` to `end`, and again for the segments that it
  // returns. Throws Error(kNotDurable) if this takes longer than ServerOptions::retry_for.
  void UntilDone(size_t begin, size_t end, const Part& part);

 private:
  const FilterState& state_;
  Client& client_;
  const uint32_t replicas_;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_REBUILD_REPLICATED_WRITES_H_
