// What every client does about rebuilds: it writes to both generations while there are two, and
// goes on with the next one when the old one is closed. FORMAT.md, "Rebuilding".
#include <algorithm>
#include <numeric>
#include <utility>

#include "redis/src/client/patience.h"
#include "redis/src/client/slot.h"
#include "redis/src/filter/filter_impl.h"
#include "redis/src/filter/scripts.h"
#include "redis/src/filter/segment_state.h"
#include "tamis/detail/str_cat.h"

namespace tamis::redis {

std::vector<SplitBlockFilter::Impl::Undone> SplitBlockFilter::Impl::Follow(size_t begin, size_t end,
                                                                           const Once& once) {
  std::vector<size_t> which(end - begin);
  std::iota(which.begin(), which.end(), begin);
  std::vector<Undone> left;
  // Replicas may not have what their master has, or no more: what they lack it is asked for next.
  masters_only_ = false;
  Patience patience(client_);
  while (!which.empty()) {
    std::vector<Undone> undone = once(which);
    which.clear();
    if (servers().read_from_replicas && !masters_only_) {
      masters_only_ = true;
      std::erase_if(undone, [&](const Undone& one) {
        const bool again =
            one.problem.code == ErrorCode::kCorrupt || one.problem.remedy == Remedy::kDescriptor;
        if (again) which.push_back(one.index);
        return again;
      });
    }
    bool may_be_rebuilt = false;
    bool may_be_done_again = false;
    for (const Undone& one : undone) {
      may_be_rebuilt |= one.problem.remedy == Remedy::kDescriptor;
      may_be_done_again |= one.problem.remedy == Remedy::kAgain;
    }
    // Any pause first: what is read before it is old after it.
    const bool once_more =
        (may_be_rebuilt || may_be_done_again) && patience.OnceMore(undone.size() + which.size());
    std::optional<Problem> unread;
    const bool rebuilt = may_be_rebuilt && ReadDescriptorAgain(unread);
    const auto may_help = [&](const Undone& one) {
      return one.problem.remedy == Remedy::kAgain ||
             (one.problem.remedy == Remedy::kDescriptor && rebuilt);
    };
    for (Undone& one : undone) {
      // Not that the segment is missing, which it need not be.
      if (unread && one.problem.remedy == Remedy::kDescriptor) one.problem = *unread;
      if (once_more && may_help(one)) {
        which.push_back(one.index);
        continue;
      }
      if (rebuilt && one.problem.remedy == Remedy::kDescriptor) {
        one.problem = RebuiltAgainAndAgain();
      }
      left.push_back(std::move(one));
    }
  }
  return left;
}

void SplitBlockFilter::Impl::AddUndone(const Batch& batch, uint64_t first_key,
                                       std::span<Undone> undone, Unanswered& unanswered) const {
  for (Undone& one : undone) {
    one.problem.text.insert(0, InSegment(batch.segments()[one.index]));
    unanswered.Add(first_key, batch.Indices(one.index), one.problem);
  }
}

bool SplitBlockFilter::Impl::IsRebuiltFrom(const Descriptor& other) const {
  return other.origin == descriptor_.origin && other.layout == descriptor_.layout &&
         other.hash == descriptor_.hash && other.key_tag == descriptor_.key_tag;
}

void SplitBlockFilter::Impl::Adopt(const Descriptor& descriptor) {
  descriptor_ = descriptor;
  marks_.clear();
}

bool SplitBlockFilter::Impl::ReadDescriptorAgain() {
  std::optional<Problem> unread;
  const bool rebuilt = ReadDescriptorAgain(unread);
  if (unread) Throw(*unread);
  return rebuilt;
}

bool SplitBlockFilter::Impl::ReadDescriptorAgain(std::optional<Problem>& unread) {
  const std::string key = DescriptorKey(name_);
  Command get(SlotOfKey(key), {"GET", key}, kSmallReply);
  client_.Run(std::span(&get, 1));
  unread = ProblemOf(get);
  if (unread || !get.reply.IsString()) return false;
  try {
    const Descriptor found = ParseDescriptor(get.reply.text);
    // One that was made anew under the name is another filter.
    if (!IsRebuiltFrom(found) || found.generation == descriptor_.generation) return false;
    Adopt(found);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void SplitBlockFilter::Impl::LearnMark(uint64_t segment, uint64_t mark) {
  if (MarkOf(segment) == mark) return;
  if (marks_.empty()) marks_.assign(descriptor_.layout.segments(), 0);
  marks_[segment] = mark;
}

std::string SplitBlockFilter::Impl::Fields(uint64_t generation, uint64_t segment,
                                           uint64_t mark) const {
  return StateText({generation, descriptor_.layout.BytesOf(segment), mark, 0})
      .substr(0, kVersionOffset);
}

Command SplitBlockFilter::Impl::WriteCommand(const Script& script, const Script& both,
                                             uint64_t segment,
                                             std::initializer_list<std::string_view> more_keys) {
  const uint64_t generation = descriptor_.generation, mark = MarkOf(segment);
  const SegmentKey key = KeyOf(segment);
  const StateOffsets at(descriptor_.layout.BytesOf(segment));
  const std::string fields = Fields(generation, segment, mark);
  const std::string version = LittleText(client_.RandomNumber() | 1);
  std::vector<std::string_view> keys = {key.text};
  std::vector<std::string_view> arguments = {at.begin, at.end, fields, at.version, version};
  std::string other, other_fields;
  if (mark != 0) {
    other = KeyOf(segment, mark).text;
    other_fields = Fields(mark, segment, generation);
    keys.push_back(other);
    arguments.push_back(other_fields);
  }
  keys.insert(keys.end(), more_keys);
  return Command(key.slot, mark == 0 ? script : both, keys, arguments, 2 * kStateWindow);
}

Command SplitBlockFilter::Impl::SettleCommand(uint64_t segment) {
  const SegmentKey key = KeyOf(segment);
  const StateOffsets at(descriptor_.layout.BytesOf(segment));
  return Command(key.slot, AllScripts().settle, {key.text},
                 {at.begin, at.end, Fields(descriptor_.generation, segment, MarkOf(segment)),
                  at.version, LittleText(client_.RandomNumber() & ~uint64_t{1})},
                 kStateWindow);
}

std::optional<Problem> SplitBlockFilter::Impl::ProblemOfWrite(const Command& command,
                                                              uint64_t segment) {
  if (std::optional<Problem> problem = ProblemOf(command)) return problem;
  if (command.reply.IsInteger() && command.reply.integer >= 0) {
    if (options_.durable_replicas == 0 || command.durable) return {};
    return Problem{ErrorCode::kNotDurable,
                   detail::StrCat("it is not known whether ", options_.durable_replicas,
                                  " replicas have what was inserted")};
  }
  if (command.reply.IsString() && command.reply.text.size() > kStateWindow) {
    return Problem{ErrorCode::kCorrupt, "it is being rebuilt, and its generations do not agree",
                   Remedy::kDescriptor};
  }
  if (std::optional<Problem> problem = ProblemOfWindow(command, segment)) return problem;
  LearnMark(segment, ParseState(command.reply.text)->mark);
  return Problem{ErrorCode::kUnavailable, "its mark changes again and again", Remedy::kAgain};
}

}  // namespace tamis::redis
