#include "redis/src/rebuild/rebuild_segments.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"

namespace tamis::redis {

// Each new segment has the mark of the old generation from the beginning. No client writes to it
// before the old segment has a mark as well.
std::vector<size_t> RebuildSegments::MakeNext(Which which) {
  std::vector<Command> commands;
  for (const size_t s : which) {
    commands.push_back(commands_.Create(s, next(), old(), client_.RandomNumber() | 1));
  }
  writes_.Run(commands);
  std::vector<size_t> left;
  for (size_t c = 0; c < which.size(); ++c) {
    const auto problem = ProblemOfState(commands[c], next(), LengthOf(which[c]));
    if (problem) ThrowIn(which[c], *problem);
    if (!commands[c].durable) left.push_back(which[c]);
  }
  return left;
}

Command RebuildSegments::MarkCommand(uint64_t segment, uint64_t generation, uint64_t from,
                                     uint64_t to, uint64_t removed) const {
  const SegmentKey key = state_.KeyOf(segment, generation);
  const StateOffsets at(LengthOf(segment));
  const std::string other = state_.KeyOf(segment, removed).text;
  std::vector<std::string_view> keys = {key.text};
  if (removed != 0) keys.push_back(other);
  return Command(
      key.slot, AllScripts().mark, keys,
      {at.begin, at.end, state_.Fields(generation, segment, from), at.mark, LittleText(to)},
      kStateWindow);
}

// The old mark is 0, or comes from a rebuild whose record a server has lost by a failover. In the
// second case, removes the segment that this mark names, because it lacks keys from now on. A
// damaged segment needs no mark, because nobody reads it or writes to it.
//
// Another mark may also come from a client that has taken over after the lease expired. So the
// lease is renewed after the mark was read. If another client becomes the owner after that, it
// replaces the mark, and the script, which compares the mark, changes nothing.
std::vector<size_t> RebuildSegments::MarkOld(Which which, std::vector<uint64_t>& marks) {
  std::vector<Command> commands;
  for (const size_t s : which) {
    const uint64_t removed = marks[s] == next() ? 0 : marks[s];
    commands.push_back(MarkCommand(s, old(), marks[s], next(), removed));
  }
  writes_.Run(commands);
  std::vector<size_t> left;
  bool another = false;
  for (size_t c = 0; c < which.size(); ++c) {
    const size_t s = which[c];
    const Command& command = commands[c];
    if (const std::optional<Problem> problem = ProblemOf(command)) ThrowIn(s, *problem);
    if (ProblemOfState(command, old(), LengthOf(s))) continue;
    marks[s] = ParseState(command.reply.text)->mark;
    another |= marks[s] != next();
    if (marks[s] != next() || !command.durable) left.push_back(s);
  }
  if (another) lease_.Renew();
  return left;
}

// Runs the scripts for segments without keys as well, to check that no segment has lost its mark.
std::vector<size_t> RebuildSegments::Merge(const SplitBlockBloomFilter& local, Which which) {
  const Layout& layout = state_.layout();
  const auto blocks = local.view().blocks();
  std::vector<Command> commands, removals;
  std::vector<std::string> deltas(which.size());
  for (size_t c = 0; c < which.size(); ++c) {
    const size_t s = which[c];
    const auto bytes = blocks.subspan(layout.FirstBlock(s) * split_block::kBlockBytes, LengthOf(s));
    const std::string_view bits(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    commands.push_back(commands_.WriteDelta(s, bits, deltas[c]));
    removals.push_back(Command(commands.back().slot(), {"UNLINK", deltas[c]}, 0));
  }
  const auto fail = [&](size_t s, const Problem& problem) {
    client_.Run(removals);
    ThrowIn(s, problem);
  };
  client_.Run(commands);
  for (size_t c = 0; c < which.size(); ++c) {
    if (const std::optional<Problem> problem = ProblemOf(commands[c])) fail(which[c], *problem);
  }

  commands.clear();
  for (size_t c = 0; c < which.size(); ++c) {
    const size_t s = which[c];
    const SegmentKey to = state_.KeyOf(s, next()), other = state_.KeyOf(s, old());
    const StateOffsets at(LengthOf(s));
    commands.push_back(Command(
        to.slot, AllScripts().merge_both, {to.text, other.text, deltas[c]},
        {at.begin, at.end, state_.Fields(next(), s, old()), at.version, commands_.OddVersion(),
         state_.Fields(old(), s, next()), ExpiryText(state_.descriptor()), kFirst},
        2 * kStateWindow));
    commands.back().work = LengthOf(s);
  }
  writes_.Run(commands);
  std::vector<size_t> left;
  for (size_t c = 0; c < which.size(); ++c) {
    const Command& command = commands[c];
    if (const std::optional<Problem> problem = ProblemOf(command)) fail(which[c], *problem);
    if (!command.reply.IsInteger()) {
      lease_.Renew();  // throws if another client has taken over, which explains the reply
      fail(which[c],
           {ErrorCode::kUnavailable,
            "the servers have lost a part of the new generation: start the rebuild again"});
    }
    if (command.reply.integer == kNoDelta || !command.durable) left.push_back(which[c]);
  }
  return left;
}

std::vector<size_t> RebuildSegments::Close(Which which) {
  std::vector<Command> closes;
  for (const size_t s : which) {
    const SegmentKey from = state_.KeyOf(s, old()), to = state_.KeyOf(s, next());
    const StateOffsets at(LengthOf(s));
    closes.push_back(
        Command(from.slot, AllScripts().close, {from.text, to.text},
                {at.begin, at.end, LittleText(old()) + LittleText(LengthOf(s)), LittleText(next()),
                 commands_.OddVersion(), ExpiryText(state_.descriptor())},
                0));
  }
  writes_.Run(closes);
  for (size_t c = 0; c < which.size(); ++c) {
    if (const std::optional<Problem> problem = ProblemOf(closes[c])) ThrowIn(which[c], *problem);
  }
  // Keeps the mark of the next segment while a failover could still undo the closing of the old
  // one.
  std::vector<size_t> left;
  std::vector<Command> marks;
  for (size_t c = 0; c < which.size(); ++c) {
    if (closes[c].durable) {
      marks.push_back(MarkCommand(which[c], next(), old(), 0, 0));
    } else {
      left.push_back(which[c]);
    }
  }
  client_.Run(marks);
  for (const Command& command : marks) {
    if (const std::optional<Problem> problem = ProblemOf(command)) state_.Throw(*problem);
  }
  return left;
}

std::vector<size_t> RebuildSegments::Remove(Which which) {
  std::vector<Command> commands;
  for (const size_t s : which) commands.push_back(commands_.Unlink(s, old()));
  client_.Run(commands);
  for (size_t c = 0; c < which.size(); ++c) {
    if (const std::optional<Problem> problem = ProblemOf(commands[c])) ThrowIn(which[c], *problem);
  }
  return {};
}

bool RebuildSegments::SomeAreClosed() {
  const uint64_t segments = state_.layout().segments();
  std::vector<Command> commands;
  for (uint64_t s = 0; s < segments; ++s) {
    commands.push_back(commands_.ReadState(s, old()));
    commands.back().reads = false;
  }
  client_.Run(commands);
  for (uint64_t s = 0; s < segments; ++s) {
    if (const std::optional<Problem> problem = ProblemOf(commands[s])) ThrowIn(s, *problem);
    if (!ProblemOfState(commands[s], next(), LengthOf(s))) return true;
  }
  return false;
}

// Removes each mark together with the segment that it names. If only the mark were removed, writers
// would no longer set bits in that segment, and it would lack keys.
void RebuildSegments::RollBack() {
  const uint64_t segments = state_.layout().segments();
  std::vector<Command> marks, removals;
  for (uint64_t s = 0; s < segments; ++s) {
    marks.push_back(MarkCommand(s, old(), next(), 0, next()));
    removals.push_back(commands_.Unlink(s, next()));
  }
  for (std::vector<Command>* const commands : {&marks, &removals}) {
    client_.Run(*commands);
    for (uint64_t s = 0; s < segments; ++s) {
      const std::optional<Problem> problem = ProblemOf((*commands)[s]);
      // kCorrupt: the key contains a value of another type, which has no mark.
      if (problem && problem->code != ErrorCode::kCorrupt) ThrowIn(s, *problem);
    }
  }
}

void RebuildSegments::ThrowIn(uint64_t segment, const Problem& problem) const {
  state_.Throw({problem.code, InSegment(segment) + problem.text});
}

}  // namespace tamis::redis
