// The reason why a command, or the work on a segment, failed.
#ifndef TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_
#define TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "redis/src/client/command.h"
#include "tamis/error.h"

namespace tamis::redis {

// A way to recover from an unexpected state of a segment.
enum class Remedy : uint8_t {
  kNone,
  kAgain,       // repeat the work: the client now has the state that it lacked
  kDescriptor,  // read the descriptor again: the filter may have been rebuilt
};

struct Problem {
  ErrorCode code = ErrorCode::kUnavailable;
  std::string text;
  Remedy remedy = Remedy::kNone;
};

// Returns true if `than` is kNotDurable and `problem` is not. Every other problem is worse than
// kNotDurable, because keys may be missing from the filter.
bool IsWorse(const Problem& problem, const Problem& than);

// Returns text such as "segment 5: ".
std::string InSegment(uint64_t segment);

// Returns the problem of a client that was too slow for each of several rebuilds.
Problem RebuiltAgainAndAgain();

// Returns the problem of a command that was run, or nothing if its reply is not an error. A missing
// reply is a problem.
std::optional<Problem> ProblemOf(const Command& command);

// Like ProblemOf, but a reply that is not a string of `bytes` bytes is a problem, too.
std::optional<Problem> ProblemOfString(const Command& command, size_t bytes);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_
