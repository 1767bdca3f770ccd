// What a rebuild does with the segments, step by step.
#include <algorithm>
#include <thread>
#include <utility>

#include "redis/src/client/slot.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "redis/src/rebuild/rebuilder.h"

namespace tamis::redis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Words = std::initializer_list<std::string_view>;

// Seconds that bits waiting to be merged stay on a server if their writer has disappeared.
constexpr const char* kRebuildDeltaSeconds = "120";
constexpr milliseconds kGracePause{20};

}  // namespace

// With the mark of the old one from the beginning: nobody writes to it before that has a mark, too.
void Rebuilder::MakeNext() {
  const std::string expiry = ExpiryText(impl_.descriptor());
  InPortions(RebuildStep::kMark, [&](std::span<const size_t> which) {
    std::vector<Command> commands;
    for (const size_t s : which) {
      const SegmentKey key = impl_.KeyOf(s, record_.next);
      const StateOffsets at(LengthOf(s));
      const std::string state =
          StateText({record_.next, LengthOf(s), record_.old, impl_.client_.RandomNumber() | 1});
      commands.emplace_back(key.slot, AllScripts().create, std::vector<std::string_view>{key.text},
                            std::vector<std::string_view>{at.begin, at.end, state, expiry},
                            kStateWindow);
    }
    RunDurably(commands);
    std::vector<size_t> left;
    for (size_t c = 0; c < which.size(); ++c) {
      const auto problem = ProblemOfState(commands[c], record_.next, LengthOf(which[c]));
      if (problem) ThrowIn(which[c], *problem);
      if (!commands[c].durable) left.push_back(which[c]);
    }
    return left;
  });
}

Command Rebuilder::MarkCommand(uint64_t segment, uint64_t generation, uint64_t from, uint64_t to,
                               uint64_t removed) const {
  const SegmentKey key = impl_.KeyOf(segment, generation);
  const StateOffsets at(LengthOf(segment));
  const std::string other = impl_.KeyOf(segment, removed).text;
  std::vector<std::string_view> keys = {key.text};
  if (removed != 0) keys.push_back(other);
  return Command(
      key.slot, AllScripts().mark, keys,
      {at.begin, at.end, impl_.Fields(generation, segment, from), at.mark, LittleText(to)},
      kStateWindow);
}

// In place of none, or of that of a rebuild whose record a server has lost by a failover: then with
// the segment that this one names, as from now on it lacks keys. Of a segment that is damaged
// nobody reads, and nobody writes to it.
void Rebuilder::MarkOld() {
  std::vector<uint64_t> marks(segments(), 0);
  InPortions(RebuildStep::kMark, [&](std::span<const size_t> which) {
    std::vector<Command> commands;
    for (const size_t s : which) {
      commands.push_back(MarkCommand(s, record_.old, marks[s], record_.next,
                                     marks[s] == record_.next ? 0 : marks[s]));
    }
    RunDurably(commands);
    std::vector<size_t> left;
    for (size_t c = 0; c < which.size(); ++c) {
      const size_t s = which[c];
      const Command& command = commands[c];
      if (const std::optional<Problem> problem = ProblemOf(command)) ThrowIn(s, *problem);
      if (ProblemOfState(command, record_.old, LengthOf(s))) continue;
      marks[s] = ParseState(command.reply.text)->mark;
      if (marks[s] != record_.next || !command.durable) left.push_back(s);
    }
    return left;
  });
}

void Rebuilder::Merge(const SplitBlockBloomFilter& local) {
  InPortions(RebuildStep::kMerge,
             [&](std::span<const size_t> which) { return MergePart(local, which); });
}

// Also of segments without keys: what it finds is that all marks have stood all the time.
std::vector<size_t> Rebuilder::MergePart(const SplitBlockBloomFilter& local,
                                         std::span<const size_t> which) {
  const Layout& layout = impl_.descriptor().layout;
  const auto blocks = local.view().blocks();
  std::vector<Command> commands, removals;
  std::vector<std::string> deltas;
  for (const size_t s : which) {
    const auto bytes = blocks.subspan(layout.FirstBlock(s) * split_block::kBlockBytes, LengthOf(s));
    const std::string_view bits(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const uint32_t slot = layout.SlotOf(s);
    deltas.push_back(DeltaKey(impl_.name(), slot, impl_.client_.RandomNumber()));
    commands.emplace_back(slot, Words{"SET", deltas.back(), bits, "EX", kRebuildDeltaSeconds}, 0);
    removals.emplace_back(slot, Words{"UNLINK", deltas.back()}, 0);
  }
  const auto fail = [&](size_t s, const Problem& problem) {
    impl_.client_.Run(removals);
    ThrowIn(s, problem);
  };
  impl_.client_.Run(commands);
  for (size_t c = 0; c < which.size(); ++c) {
    if (const std::optional<Problem> problem = ProblemOf(commands[c])) fail(which[c], *problem);
  }

  commands.clear();
  for (size_t c = 0; c < which.size(); ++c) {
    const size_t s = which[c];
    const SegmentKey next = impl_.KeyOf(s, record_.next), old = impl_.KeyOf(s, record_.old);
    const StateOffsets at(LengthOf(s));
    commands.emplace_back(
        next.slot, AllScripts().merge_both,
        std::vector<std::string_view>{next.text, old.text, deltas[c]},
        std::vector<std::string_view>{at.begin, at.end, impl_.Fields(record_.next, s, record_.old),
                                      at.version, LittleText(impl_.client_.RandomNumber() | 1),
                                      impl_.Fields(record_.old, s, record_.next),
                                      ExpiryText(impl_.descriptor()), kFirst},
        2 * kStateWindow);
    commands.back().work = LengthOf(s);
  }
  RunDurably(commands);
  std::vector<size_t> left;
  for (size_t c = 0; c < which.size(); ++c) {
    const Command& command = commands[c];
    if (const std::optional<Problem> problem = ProblemOf(command)) fail(which[c], *problem);
    if (!command.reply.IsInteger()) {
      Renew();  // in case it is another client that has done it
      fail(which[c], {ErrorCode::kUnavailable,
                      "the servers have lost what the rebuild had made: it has to begin anew"});
    }
    if (command.reply.integer == kNoDelta || !command.durable) left.push_back(which[c]);
  }
  return left;
}

void Rebuilder::Switch() {
  const std::string key = DescriptorKey(impl_.name()), rebuild = RebuildKey(impl_.name());
  Descriptor next = impl_.descriptor();
  next.generation = record_.next;
  Command replace(SlotOfKey(key), AllScripts().replace, {key, rebuild},
                  {Mine(), DescriptorText(impl_.descriptor()), DescriptorText(next)}, 0);
  UntilDone(0, 1, [&](std::span<const size_t> which) -> std::vector<size_t> {
    RunDurably(std::span(&replace, 1));
    if (const std::optional<Problem> problem = ProblemOf(replace)) impl_.Throw(*problem);
    if (replace.reply.IsInteger() && replace.reply.integer == kChanged) ThrowTakenOver();
    // Before replicas have it nothing is closed: without it nobody would find the new one.
    if (replace.durable) return {};
    return {which.begin(), which.end()};
  });
  impl_.Adopt(next);
  switched_ = true;
}

void Rebuilder::Finish() {
  InPortions(RebuildStep::kClose, [&](std::span<const size_t> which) {
    std::vector<Command> closes, marks;
    for (const size_t s : which) {
      const SegmentKey old = impl_.KeyOf(s, record_.old), next = impl_.KeyOf(s, record_.next);
      const StateOffsets at(LengthOf(s));
      closes.emplace_back(
          old.slot, AllScripts().close, std::vector<std::string_view>{old.text, next.text},
          std::vector<std::string_view>{
              at.begin, at.end, LittleText(record_.old) + LittleText(LengthOf(s)),
              LittleText(record_.next), LittleText(impl_.client_.RandomNumber() | 1),
              ExpiryText(impl_.descriptor())},
          0);
      marks.push_back(MarkCommand(s, record_.next, record_.old, 0, 0));
    }
    RunDurably(closes);
    for (size_t c = 0; c < which.size(); ++c) {
      if (const std::optional<Problem> problem = ProblemOf(closes[c])) ThrowIn(which[c], *problem);
    }
    // Of none whose closing may be undone without this.
    std::vector<size_t> left;
    std::vector<Command> closed;
    for (size_t c = 0; c < which.size(); ++c) {
      if (closes[c].durable) {
        closed.push_back(std::move(marks[c]));
      } else {
        left.push_back(which[c]);
      }
    }
    impl_.client_.Run(closed);
    for (const Command& command : closed) {
      if (const std::optional<Problem> problem = ProblemOf(command)) impl_.Throw(*problem);
    }
    return left;
  });
  AwaitGrace();
  InPortions(RebuildStep::kRemove, [&](std::span<const size_t> which) {
    std::vector<Command> commands;
    for (const size_t s : which) {
      const SegmentKey old = impl_.KeyOf(s, record_.old);
      commands.emplace_back(old.slot, Words{"UNLINK", old.text}, 0);
    }
    impl_.client_.Run(commands);
    for (size_t c = 0; c < which.size(); ++c) {
      if (const auto problem = ProblemOf(commands[c])) ThrowIn(which[c], *problem);
    }
    return std::vector<size_t>();
  });
  EndRecord();
}

void Rebuilder::AwaitGrace() {
  const Time end = steady_clock::now() + options_.grace;
  while (steady_clock::now() < end && !stop_.stop_requested()) {
    RenewIfDue();
    std::this_thread::sleep_for(kGracePause);
  }
}

bool Rebuilder::SomeAreClosed() {
  std::vector<Command> commands;
  for (uint64_t s = 0; s < segments(); ++s) {
    const SegmentKey key = impl_.KeyOf(s, record_.old);
    const StateOffsets at(LengthOf(s));
    commands.emplace_back(key.slot, Words{"GETRANGE", key.text, at.begin, at.end}, kStateWindow);
  }
  impl_.client_.Run(commands);
  for (uint64_t s = 0; s < segments(); ++s) {
    if (const std::optional<Problem> problem = ProblemOf(commands[s])) ThrowIn(s, *problem);
    if (!ProblemOfState(commands[s], record_.next, LengthOf(s))) return true;
  }
  return false;
}

// A mark and the segment that it names go together: one that is not written to any more would lack
// keys.
void Rebuilder::RollBack() {
  std::vector<Command> marks, removals;
  for (uint64_t s = 0; s < segments(); ++s) {
    marks.push_back(MarkCommand(s, record_.old, record_.next, 0, record_.next));
    const SegmentKey next = impl_.KeyOf(s, record_.next);
    removals.emplace_back(next.slot, Words{"UNLINK", next.text}, 0);
  }
  for (std::vector<Command>* const commands : {&marks, &removals}) {
    impl_.client_.Run(*commands);
    for (uint64_t s = 0; s < segments(); ++s) {
      const std::optional<Problem> problem = ProblemOf((*commands)[s]);
      // A value of another type has no mark.
      if (problem && problem->code != ErrorCode::kCorrupt) ThrowIn(s, *problem);
    }
  }
}

}  // namespace tamis::redis
