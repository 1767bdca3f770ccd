// The commands for the segments of a filter, and the meaning of their replies.
#ifndef TAMIS_REDIS_SRC_FILTER_SEGMENT_COMMANDS_H_
#define TAMIS_REDIS_SRC_FILTER_SEGMENT_COMMANDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redis/src/client/client.h"
#include "redis/src/client/problem.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/scripts.h"

namespace tamis::redis {

// Builds commands, runs them, and reads the replies. Functions without a parameter `generation` use
// the current generation.
class SegmentCommands {
 public:
  // RunWrites waits for `durable_replicas` replicas.
  SegmentCommands(FilterState& state, Client& client, uint32_t durable_replicas)
      : state_(state), client_(client), durable_replicas_(durable_replicas) {}

  // Sends later read commands to masters only, or allows replicas to answer them.
  void set_masters_only(bool masters_only) { masters_only_ = masters_only; }

  // ---- Reading ----

  // Reads the state of a segment.
  Command ReadState(uint64_t segment) const { return ReadState(segment, state_.generation()); }
  Command ReadState(uint64_t segment, uint64_t generation) const;
  // Reads block `block` of the segment with this key, counted from the segment's first block.
  Command ReadBlock(const SegmentKey& key, uint64_t block) const;
  // Reads the bits of a segment and its state.
  Command ReadSegment(uint64_t segment) const;

  // ---- Writing ----

  // Creates a segment of zeros. The reply is the state.
  Command Create(uint64_t segment, uint64_t generation, uint64_t mark, uint64_t version) const;
  // Runs `script`, or `both` if the segment has a mark, with the keys and arguments that all
  // scripts for insertion share. `more_keys` follow these keys.
  Command Write(const Script& script, const Script& both, uint64_t segment,
                std::initializer_list<std::string_view> more_keys);
  // Makes the version of a segment even. The reply is the state.
  Command Settle(uint64_t segment);
  // Stores bits that wait to be merged. Sets `key` to the new key that contains them.
  Command WriteDelta(uint64_t segment, std::string_view bits, std::string& key);
  Command Unlink(uint64_t segment, uint64_t generation) const;
  // Returns a random odd version. It means that bits may have changed.
  std::string OddVersion();

  // ---- Running ----

  void Run(std::span<Command> commands) { client_.Run(commands); }
  // Runs commands that insert keys, and waits for replicas.
  void RunWrites(std::span<Command> commands);

  // ---- Replies ----

  // Return the problem that the reply to ReadState, ReadSegment or a Write shows, or nothing.
  std::optional<Problem> ProblemOfState(const Command& command, uint64_t segment) const;
  std::optional<Problem> ProblemOfSegment(const Command& command, uint64_t segment) const;
  // If the reply shows an unexpected mark, stores this mark for later commands.
  std::optional<Problem> ProblemOfWrite(const Command& command, uint64_t segment);
  // Returns the state at the end of a reply to ReadSegment.
  std::string_view StateOf(const Command& command, uint64_t segment) const;

 private:
  FilterState& state_;
  Client& client_;
  const uint32_t durable_replicas_;
  bool masters_only_ = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_SEGMENT_COMMANDS_H_
