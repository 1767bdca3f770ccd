#include "redis/src/filter/retry_across_rebuilds.h"

#include <numeric>
#include <string>
#include <utility>

namespace tamis::redis {

std::vector<Undone> RetryAcrossRebuilds::Run(size_t begin, size_t end, const Once& once) {
  std::vector<size_t> which(end - begin);
  std::iota(which.begin(), which.end(), begin);
  std::vector<Undone> left;
  // A replica may lack data that its master has. The second attempt reads from masters.
  bool masters_only = false;
  commands_.set_masters_only(false);
  Patience patience(client_);
  while (!which.empty()) {
    std::vector<Undone> undone = once(which);
    which.clear();
    if (client_.options().read_from_replicas && !masters_only) {
      masters_only = true;
      commands_.set_masters_only(true);
      std::erase_if(undone, [&](const Undone& one) {
        const bool again =
            one.problem.code == ErrorCode::kCorrupt || one.problem.remedy == Remedy::kDescriptor;
        if (again) which.push_back(one.index);
        return again;
      });
    }
    bool may_be_rebuilt = false;
    bool may_be_done_again = false;
    for (const Undone& one : undone) {
      may_be_rebuilt |= one.problem.remedy == Remedy::kDescriptor;
      may_be_done_again |= one.problem.remedy == Remedy::kAgain;
    }
    // Pauses first: a descriptor that was read before the pause could be out of date after it.
    const bool once_more =
        (may_be_rebuilt || may_be_done_again) && patience.OnceMore(undone.size() + which.size());
    std::optional<Problem> unread;
    const bool rebuilt = may_be_rebuilt && ReadDescriptorAgain(unread);
    const auto may_help = [&](const Undone& one) {
      return one.problem.remedy == Remedy::kAgain ||
             (one.problem.remedy == Remedy::kDescriptor && rebuilt);
    };
    for (Undone& one : undone) {
      // Without the descriptor it is unknown whether the segment is really missing.
      if (unread && one.problem.remedy == Remedy::kDescriptor) one.problem = *unread;
      if (once_more && may_help(one)) {
        which.push_back(one.index);
        continue;
      }
      if (rebuilt && one.problem.remedy == Remedy::kDescriptor) {
        one.problem = RebuiltAgainAndAgain();
      }
      left.push_back(std::move(one));
    }
  }
  return left;
}

bool RetryAcrossRebuilds::ReadDescriptorAgain() {
  std::optional<Problem> unread;
  const bool rebuilt = ReadDescriptorAgain(unread);
  if (unread) state_.Throw(*unread);
  return rebuilt;
}

bool RetryAcrossRebuilds::ReadDescriptorAgain(std::optional<Problem>& unread) {
  Command get = GetCommand(DescriptorKey(state_.name()));
  client_.Run(std::span(&get, 1));
  unread = ProblemOf(get);
  if (unread || !get.reply.IsString()) return false;
  try {
    const Descriptor found = ParseDescriptor(get.reply.text);
    // A filter that was created again under the same name is another filter.
    if (!state_.IsRebuiltFrom(found) || found.generation == state_.generation()) return false;
    state_.Adopt(found);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tamis::redis
