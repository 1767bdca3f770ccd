#include "redis/src/filter/unanswered.h"

#include <algorithm>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/unanswered_error.h"

namespace tamis::redis {

void Unanswered::Add(const Batch& batch, size_t i, uint64_t first_key, const Problem& why) {
  for (const uint32_t k : batch.Indices(i)) keys_.push_back(first_key + k);
  // Keys that only replicas may lack must not hide keys that were not inserted at all.
  if (!problem_ || IsWorse(why, *problem_)) problem_ = why;
}

void Unanswered::Add(const Batch& batch, std::span<Undone> undone, uint64_t first_key) {
  for (Undone& one : undone) {
    one.problem.text.insert(0, InSegment(batch.segments()[one.index]));
    Add(batch, one.index, first_key, one.problem);
  }
}

void Unanswered::Throw(const FilterState& state, size_t keys, const char* what) {
  std::sort(keys_.begin(), keys_.end());
  const std::string message = detail::StrCat("the filter \"", state.name(), "\": ", keys_.size(),
                                             " of ", keys, " keys ", what, ": ", problem_->text);
  throw UnansweredError(problem_->code, message, std::move(keys_));
}

}  // namespace tamis::redis
