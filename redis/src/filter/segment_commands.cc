#include "redis/src/filter/segment_commands.h"

#include <vector>

#include "redis/src/filter/segment_state.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {
namespace {

// How long a server keeps a delta if the client that wrote it has disappeared, in seconds.
constexpr const char* kDeltaSeconds = "120";

}  // namespace

Command SegmentCommands::ReadState(uint64_t segment, uint64_t generation) const {
  const SegmentKey key = state_.KeyOf(segment, generation);
  const StateOffsets at(state_.layout().BytesOf(segment));
  Command command(key.slot, {"GETRANGE", key.text, at.begin, at.end}, kStateWindow);
  command.reads = !masters_only_;
  return command;
}

Command SegmentCommands::ReadBlock(const SegmentKey& key, uint64_t block) const {
  const uint64_t begin = block * split_block::kBlockBytes;
  const uint64_t last = begin + split_block::kBlockBytes - 1;
  Command command(key.slot, {"GETRANGE", key.text, std::to_string(begin), std::to_string(last)},
                  split_block::kBlockBytes);
  command.reads = !masters_only_;
  return command;
}

Command SegmentCommands::ReadSegment(uint64_t segment) const {
  const SegmentKey key = state_.KeyOf(segment);
  const uint64_t length = state_.layout().BytesOf(segment);
  Command command(key.slot, {"GETRANGE", key.text, "0", StateOffsets(length).end},
                  length + kStateWindow);
  command.reads = !masters_only_;
  return command;
}

Command SegmentCommands::Create(uint64_t segment, uint64_t generation, uint64_t mark,
                                uint64_t version) const {
  const SegmentKey key = state_.KeyOf(segment, generation);
  const uint64_t length = state_.layout().BytesOf(segment);
  const StateOffsets at(length);
  return Command(key.slot, AllScripts().create, {key.text},
                 {at.begin, at.end, StateText({generation, length, mark, version}),
                  ExpiryText(state_.descriptor())},
                 kStateWindow);
}

Command SegmentCommands::Write(const Script& script, const Script& both, uint64_t segment,
                               std::initializer_list<std::string_view> more_keys) {
  const uint64_t generation = state_.generation(), mark = state_.MarkOf(segment);
  const SegmentKey key = state_.KeyOf(segment);
  const StateOffsets at(state_.layout().BytesOf(segment));
  const std::string fields = state_.Fields(generation, segment, mark);
  const std::string version = OddVersion();
  std::vector<std::string_view> keys = {key.text};
  std::vector<std::string_view> arguments = {at.begin, at.end, fields, at.version, version};
  std::string other, other_fields;
  if (mark != 0) {
    other = state_.KeyOf(segment, mark).text;
    other_fields = state_.Fields(mark, segment, generation);
    keys.push_back(other);
    arguments.push_back(other_fields);
  }
  keys.insert(keys.end(), more_keys);
  return Command(key.slot, mark == 0 ? script : both, keys, arguments, 2 * kStateWindow);
}

Command SegmentCommands::Settle(uint64_t segment) {
  const SegmentKey key = state_.KeyOf(segment);
  const StateOffsets at(state_.layout().BytesOf(segment));
  return Command(
      key.slot, AllScripts().settle, {key.text},
      {at.begin, at.end, state_.Fields(state_.generation(), segment, state_.MarkOf(segment)),
       at.version, LittleText(client_.RandomNumber() & ~uint64_t{1})},
      kStateWindow);
}

Command SegmentCommands::WriteDelta(uint64_t segment, std::string_view bits, std::string& key) {
  const uint32_t slot = state_.layout().SlotOf(segment);
  key = DeltaKey(state_.name(), slot, client_.RandomNumber());
  return Command(slot, {"SET", key, bits, "EX", kDeltaSeconds}, 0);
}

Command SegmentCommands::Unlink(uint64_t segment, uint64_t generation) const {
  const SegmentKey key = state_.KeyOf(segment, generation);
  return Command(key.slot, {"UNLINK", key.text}, 0);
}

std::string SegmentCommands::OddVersion() { return LittleText(client_.RandomNumber() | 1); }

void SegmentCommands::RunWrites(std::span<Command> commands) {
  client_.Run(commands);
  if (durable_replicas_ > 0) client_.AwaitReplicas(commands, durable_replicas_);
}

std::optional<Problem> SegmentCommands::ProblemOfState(const Command& command,
                                                       uint64_t segment) const {
  return redis::ProblemOfState(command, state_.generation(), state_.layout().BytesOf(segment));
}

std::optional<Problem> SegmentCommands::ProblemOfSegment(const Command& command,
                                                         uint64_t segment) const {
  if (std::optional<Problem> problem = ProblemOf(command)) return problem;
  if (!command.reply.IsString()) {
    return Problem{ErrorCode::kCorrupt, "the server returned " + ReplyText(command.reply)};
  }
  return redis::ProblemOfState(StateOf(command, segment), state_.generation(),
                               state_.layout().BytesOf(segment));
}

std::optional<Problem> SegmentCommands::ProblemOfWrite(const Command& command, uint64_t segment) {
  if (std::optional<Problem> problem = ProblemOf(command)) return problem;
  if (command.reply.IsInteger() && command.reply.integer >= 0) {
    if (durable_replicas_ == 0 || command.durable) return {};
    return Problem{ErrorCode::kNotDurable,
                   detail::StrCat("it is unknown whether ", durable_replicas_,
                                  " replicas have the inserted keys")};
  }
  if (command.reply.IsString() && command.reply.text.size() > kStateWindow) {
    return Problem{ErrorCode::kCorrupt, "it is being rebuilt, but its generations do not match",
                   Remedy::kDescriptor};
  }
  if (std::optional<Problem> problem = ProblemOfState(command, segment)) return problem;
  state_.SetMark(segment, ParseState(command.reply.text)->mark);
  return Problem{ErrorCode::kUnavailable, "its mark changes again and again", Remedy::kAgain};
}

std::string_view SegmentCommands::StateOf(const Command& command, uint64_t segment) const {
  const std::string_view text = command.reply.text;
  const uint64_t length = state_.layout().BytesOf(segment);
  return text.size() < length ? "" : text.substr(length);
}

}  // namespace tamis::redis
