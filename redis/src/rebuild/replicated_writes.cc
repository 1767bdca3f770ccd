#include "redis/src/rebuild/replicated_writes.h"

#include <chrono>

namespace tamis::redis {

void ReplicatedWrites::Run(std::span<Command> commands) {
  client_.Run(commands);
  client_.RecentMap();  // replicas may have been added
  client_.AwaitReplicas(commands, replicas_, /*all_known=*/true);
}

void ReplicatedWrites::UntilDone(size_t begin, size_t end, const Part& part) {
  std::vector<size_t> left;
  for (size_t s = begin; s < end; ++s) left.push_back(s);
  const Time last = std::chrono::steady_clock::now() + client_.options().retry_for;
  while (!(left = part(left)).empty()) {
    if (std::chrono::steady_clock::now() >= last) {
      state_.Throw({ErrorCode::kNotDurable, "not all replicas receive the writes of the rebuild"});
    }
    client_.RefreshedMap();
  }
}

}  // namespace tamis::redis
