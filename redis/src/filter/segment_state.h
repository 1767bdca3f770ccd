// What stands behind the bits of a segment, in the same string: FORMAT.md, "State".
#ifndef TAMIS_REDIS_SRC_FILTER_SEGMENT_STATE_H_
#define TAMIS_REDIS_SRC_FILTER_SEGMENT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redis/src/client/problem.h"

namespace tamis::redis {

struct SegmentState {
  uint64_t generation = 0;  // as in the descriptor; of a closed segment, the one that follows
  uint64_t length = 0;      // of the bits, in bytes
  uint64_t mark = 0;        // while it is rebuilt: the other generation, else 0
  // Random. Even: whoever changes bits makes it another, which is odd. Odd: they may have changed.
  uint64_t version = 0;

  friend bool operator==(const SegmentState&, const SegmentState&) = default;
};

inline constexpr size_t kStateBytes = 32;
inline constexpr size_t kMarkOffset = 16;
inline constexpr size_t kVersionOffset = 24;  // the last field
// What is read of the state: one byte more, so that a string of another length has another one.
inline constexpr size_t kStateWindow = kStateBytes + 1;

// Where the state is in the string, as commands take it.
struct StateOffsets {
  explicit StateOffsets(uint64_t length);  // of the bits

  std::string begin;
  std::string end;  // of the window, inclusive
  std::string mark;
  std::string version;
};

std::string StateText(const SegmentState& state);
// The state that the window shows, or why there is none.
std::optional<SegmentState> ParseState(std::string_view window);

// What is wrong with the segment whose window this is; nothing if its bits can be read.
std::optional<Problem> ProblemOfState(std::string_view window, uint64_t generation,
                                      uint64_t length);
// Of a command that gives the window.
std::optional<Problem> ProblemOfState(const Command& command, uint64_t generation, uint64_t length);

// Little-endian.
std::string LittleText(uint64_t value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SEGMENT_STATE_H_
