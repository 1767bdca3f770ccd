// The state of a segment, which follows its bits in the same string: FORMAT.md, "State".
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
  uint64_t generation = 0;  // as in the descriptor; in a closed segment, the next generation
  uint64_t length = 0;      // bytes of the bits
  uint64_t mark = 0;        // the other generation during a rebuild, otherwise 0
  // Random. Even: the bits have not changed since this version was written. Odd: they may have
  // changed. A change of bits replaces an even version by an odd one.
  uint64_t version = 0;

  friend bool operator==(const SegmentState&, const SegmentState&) = default;
};

inline constexpr size_t kStateBytes = 32;
inline constexpr size_t kMarkOffset = 16;
inline constexpr size_t kVersionOffset = 24;  // the last field
// Number of bytes to read for a state: one more than it has, to detect strings that are too long.
inline constexpr size_t kStateWindow = kStateBytes + 1;

// Offsets in the string of a segment, as decimal texts for commands.
struct StateOffsets {
  explicit StateOffsets(uint64_t length);  // `length`: size of the bits in bytes

  std::string begin;
  std::string end;  // last byte of the window
  std::string mark;
  std::string version;
};

std::string StateText(const SegmentState& state);
// Returns the state in the window, or nothing if the window does not have kStateBytes bytes.
std::optional<SegmentState> ParseState(std::string_view window);

// Returns the problem of the segment with this state window, or nothing if its bits are valid.
std::optional<Problem> ProblemOfState(std::string_view window, uint64_t generation,
                                      uint64_t length);
// Like ProblemOfState above, for a command whose reply is the window.
std::optional<Problem> ProblemOfState(const Command& command, uint64_t generation, uint64_t length);

// Returns 8 bytes, little-endian.
std::string LittleText(uint64_t value);

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SEGMENT_STATE_H_
