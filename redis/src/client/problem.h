// Why something could not be done.
#ifndef TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_
#define TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "redis/src/client/command.h"
#include "tamis/error.h"

namespace tamis::redis {

// What may help where a segment is not as it was expected.
enum class Remedy : uint8_t {
  kNone,
  kAgain,       // what was found is known now: the same again
  kDescriptor,  // to read the descriptor again: the filter may have been rebuilt
};

struct Problem {
  ErrorCode code = ErrorCode::kUnavailable;
  std::string text;
  Remedy remedy = Remedy::kNone;
};

// Whether only the first is about what may not have been written at all.
bool IsWorse(const Problem& problem, const Problem& than);

// "segment 5: "
std::string InSegment(uint64_t segment);

// Of who is late for each of many rebuilds.
Problem RebuiltAgainAndAgain();

// What is wrong with a command that was run; nothing if its reply is neither missing nor an error.
std::optional<Problem> ProblemOf(const Command& command);

// Of a command that gives a string of so many bytes.
std::optional<Problem> ProblemOfString(const Command& command, size_t bytes);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_CLIENT_PROBLEM_H_
