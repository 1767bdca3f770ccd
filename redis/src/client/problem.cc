#include "redis/src/client/problem.h"

#include "tamis/detail/str_cat.h"

namespace tamis::redis {

bool IsWorse(const Problem& problem, const Problem& than) {
  return problem.code != ErrorCode::kNotDurable && than.code == ErrorCode::kNotDurable;
}

std::string InSegment(uint64_t segment) { return detail::StrCat("segment ", segment, ": "); }

Problem RebuiltAgainAndAgain() {
  return {ErrorCode::kUnavailable, "it is rebuilt again and again"};
}

std::optional<Problem> ProblemOf(const Command& command) {
  if (!command.answered) return Problem{ErrorCode::kUnavailable, command.failure};
  const Reply& reply = command.reply;
  if (!reply.IsError()) return {};
  ErrorCode code = ErrorCode::kUnavailable;
  if (reply.text.starts_with("OOM")) code = ErrorCode::kOutOfMemory;
  if (reply.text.starts_with("WRONGTYPE")) code = ErrorCode::kCorrupt;
  return Problem{code, "the server reports: " + ShownText(reply.text)};
}

std::optional<Problem> ProblemOfString(const Command& command, size_t bytes) {
  std::optional<Problem> problem = ProblemOf(command);
  const Reply& reply = command.reply;
  if (!problem && (!reply.IsString() || reply.text.size() != bytes)) {
    problem = Problem{ErrorCode::kCorrupt, "the server returned " + ReplyText(reply)};
  }
  return problem;
}

}  // namespace tamis::redis
