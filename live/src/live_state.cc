#include "tamis/live/detail/live_state.h"

#include <algorithm>

#include "tamis/error.h"

namespace tamis::detail {

std::chrono::steady_clock::time_point TimeOf(const LiveClock& clock) {
  return clock ? clock() : std::chrono::steady_clock::now();
}

std::chrono::nanoseconds AgeOf(std::chrono::steady_clock::time_point since,
                               const LiveClock& clock) {
  using std::chrono::nanoseconds;
  const auto now = TimeOf(clock);
  if (now <= since) return nanoseconds(0);
  // Avoids overflow: an age given to Publish may be any number of nanoseconds.
  const auto age = static_cast<uint64_t>(nanoseconds(now.time_since_epoch()).count()) -
                   static_cast<uint64_t>(nanoseconds(since.time_since_epoch()).count());
  return nanoseconds(static_cast<int64_t>(std::min<uint64_t>(age, INT64_MAX)));
}

std::unique_lock<std::mutex> LiveState::LockForPublication() {
  std::unique_lock publishing(publishing_);
  const std::lock_guard lock(mutex_);
  if (rebuilding_) {
    throw Error(ErrorCode::kBusy, "a filter cannot be published while a rebuild is running");
  }
  return publishing;
}

// Waits for a publication that is under way, so that none happens during the rebuild.
void LiveState::BeginRebuild() {
  const std::lock_guard publishing(publishing_);
  const std::lock_guard lock(mutex_);
  if (rebuilding_) throw Error(ErrorCode::kBusy, "a rebuild is already running");
  rebuilding_ = true;
  progress_ = {};
}

void LiveState::EndRebuild() noexcept {
  const std::lock_guard lock(mutex_);
  rebuilding_ = false;
  ended_->notify_all();  // needs the lock, because a waiting thread may destroy this object
}

void LiveState::AwaitRebuild() noexcept {
  if (!ended_.mark().IsOfThisProcess()) return;  // a child must not take the lock either
  std::unique_lock lock(mutex_);
  ended_->wait(lock, [&] { return !rebuilding_; });
}

void LiveState::SetProgress(const RebuildProgress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;
}

RebuildProgress LiveState::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void LiveState::NoteSuccess() noexcept {
  const std::lock_guard lock(mutex_);
  failure_.reset();
}

void LiveState::NoteFailure(const std::exception_ptr& exception) noexcept {
  std::optional<Failure> failure;
  try {
    failure = FailureOf(exception);
  } catch (...) {  // no memory for the text
    failure = Failure{{}, ErrorCode::kOutOfMemory};
  }
  const std::lock_guard lock(mutex_);
  ++failures_;
  failure_.swap(failure);
}

LiveStatus LiveState::status() const {
  const std::lock_guard lock(mutex_);
  LiveStatus status;
  status.rebuilding = rebuilding_;
  status.progress = progress_;
  status.failures = failures_;
  status.failure = failure_;
  return status;
}

}  // namespace tamis::detail
