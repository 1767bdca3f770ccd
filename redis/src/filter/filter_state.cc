#include "redis/src/filter/filter_state.h"

#include <chrono>
#include <span>

#include "redis/src/filter/segment_state.h"

namespace tamis::redis {

FilterState::FilterState(std::string_view name) : name_((RequireName(name), name)) {}

void FilterState::Adopt(const Descriptor& descriptor) {
  descriptor_ = descriptor;
  marks_.clear();
}

bool FilterState::IsRebuiltFrom(const Descriptor& other) const {
  return other.origin == descriptor_.origin && other.layout == descriptor_.layout &&
         other.hash == descriptor_.hash && other.key_tag == descriptor_.key_tag;
}

void FilterState::SetMark(uint64_t segment, uint64_t mark) {
  if (MarkOf(segment) == mark) return;
  if (marks_.empty()) marks_.assign(layout().segments(), 0);
  marks_[segment] = mark;
}

std::string FilterState::Fields(uint64_t generation, uint64_t segment, uint64_t mark) const {
  return StateText({generation, layout().BytesOf(segment), mark, 0}).substr(0, kVersionOffset);
}

bool FilterState::IsOver() const {
  if (descriptor_.deadline == 0) return false;
  return NowMs() >= descriptor_.deadline;
}

void FilterState::RequireNotOver() const {
  if (!IsOver()) return;
  throw Error(ErrorCode::kUnavailable,
              "the filter \"" + name_ + "\" has reached its deadline; create it again");
}

SplitBlockBloomFilter FilterState::MakeLocal(const MemoryOptions& memory) const {
  return SplitBlockBloomFilter({.capacity = descriptor_.capacity,
                                .fpr = descriptor_.fpr,
                                .bytes = layout().bytes(),
                                .hash = hash_,
                                .memory = memory});
}

void FilterState::Throw(const Problem& problem) const {
  throw Error(problem.code, "the filter \"" + name_ + "\": " + problem.text);
}

const Reply& FilterState::RunOne(Client& client, Command& command) const {
  client.Run(std::span(&command, 1));
  if (const std::optional<Problem> problem = ProblemOf(command)) Throw(*problem);
  return command.reply;
}

}  // namespace tamis::redis
