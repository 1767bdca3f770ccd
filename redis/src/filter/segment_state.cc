#include "redis/src/filter/segment_state.h"

namespace tamis::redis {
namespace {

uint64_t LittleAt(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

std::string LittleText(uint64_t value) {
  std::string text(8, '\0');
  for (size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(value >> (8 * i));
  return text;
}

StateOffsets::StateOffsets(uint64_t length)
    : begin(std::to_string(length)),
      end(std::to_string(length + kStateWindow - 1)),
      mark(std::to_string(length + kMarkOffset)),
      version(std::to_string(length + kVersionOffset)) {}

std::string StateText(const SegmentState& state) {
  return LittleText(state.generation) + LittleText(state.length) + LittleText(state.mark) +
         LittleText(state.version);
}

std::optional<SegmentState> ParseState(std::string_view window) {
  if (window.size() != kStateBytes) return {};
  return SegmentState{LittleAt(window, 0), LittleAt(window, 8), LittleAt(window, kMarkOffset),
                      LittleAt(window, kVersionOffset)};
}

std::optional<Problem> ProblemOfState(std::string_view window, uint64_t generation,
                                      uint64_t length) {
  const std::optional<SegmentState> state = ParseState(window);
  const bool closed = state && state->generation != generation && state->generation != 0 &&
                      state->mark == state->generation && state->length == length;
  if (closed) {
    return Problem{ErrorCode::kUnavailable,
                   "it was rebuilt, but the descriptor has the old generation",
                   Remedy::kDescriptor};
  }
  const char* wrong = nullptr;
  if (!state) {
    wrong = "it is missing, or has a wrong length";
  } else if (state->generation != generation || state->length != length) {
    wrong = "its state belongs to another filter, or is damaged";
  }
  if (wrong != nullptr) return Problem{ErrorCode::kCorrupt, wrong, Remedy::kDescriptor};
  return {};
}

std::optional<Problem> ProblemOfState(const Command& command, uint64_t generation,
                                      uint64_t length) {
  std::optional<Problem> problem = ProblemOf(command);
  if (problem) return problem;
  if (!command.reply.IsString()) {
    return Problem{ErrorCode::kCorrupt, "the server returned " + ReplyText(command.reply)};
  }
  return ProblemOfState(command.reply.text, generation, length);
}

}  // namespace tamis::redis
