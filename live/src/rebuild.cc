#include "tamis/live/rebuild.h"

#include <chrono>

#include "tamis/error.h"
#include "tamis/live/detail/live_state.h"

namespace tamis {

void RebuildContext::RequireWanted() const {
  if (stop_.stop_requested()) throw Error(ErrorCode::kCancelled, "the rebuild was cancelled");
  if (require_whole_) require_whole_();
}

void RebuildContext::SetTotal(uint64_t keys) {
  RebuildProgress progress = state_.progress();
  progress.total = keys;
  state_.SetProgress(progress);
}

void RebuildContext::Advance(uint64_t keys) {
  RequireWanted();
  RebuildProgress progress = state_.progress();
  progress.done += keys;
  state_.SetProgress(progress);
  if (options_.on_progress) options_.on_progress(progress);
}

bool RebuildJob::done() const {
  return !result_.valid() || result_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Joins the thread first. After that, only the caller refers to the exception of the rebuild.
uint64_t RebuildJob::Wait() {
  if (!result_.valid()) {
    throw Error(ErrorCode::kInvalidArgument,
                "Wait can be called once for each rebuild, and not for a job that was moved from");
  }
  worker_.Join();
  return result_.get();
}

}  // namespace tamis
