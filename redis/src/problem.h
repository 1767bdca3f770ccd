// Why something could not be done.
#ifndef TAMIS_REDIS_SRC_PROBLEM_H_
#define TAMIS_REDIS_SRC_PROBLEM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "redis/src/command.h"
#include "tamis/error.h"

namespace tamis::redis {

struct Problem {
  ErrorCode code = ErrorCode::kUnavailable;
  std::string text;
};

// "segment 5: "
std::string InSegment(uint64_t segment);

// What is wrong with a command that was run; nothing if its reply is neither missing nor an error.
std::optional<Problem> ProblemOf(const Command& command);

// Of a command that gives a string of so many bytes.
std::optional<Problem> ProblemOfString(const Command& command, size_t bytes);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_PROBLEM_H_
