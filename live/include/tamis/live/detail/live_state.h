// The state of rebuilds and publications of a live filter, for any filter class.
#ifndef TAMIS_LIVE_DETAIL_LIVE_STATE_H_
#define TAMIS_LIVE_DETAIL_LIVE_STATE_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "tamis/live/detail/fork.h"
#include "tamis/live/live_status.h"

namespace tamis::detail {

// Reads `clock`, or std::chrono::steady_clock if `clock` is empty.
std::chrono::steady_clock::time_point TimeOf(const LiveClock& clock);

// Time from `since` until now, at least 0.
std::chrono::nanoseconds AgeOf(std::chrono::steady_clock::time_point since, const LiveClock& clock);

// Thread-safe.
class LiveState {
 public:
  // Returns a lock for the right to publish, which one thread holds at a time. Throws Error(kBusy)
  // while a rebuild is running.
  std::unique_lock<std::mutex> LockForPublication();

  // Throws Error(kBusy) if a rebuild is running.
  void BeginRebuild();
  void EndRebuild() noexcept;
  // Waits until no rebuild is running. Returns at once in a child of fork, where none runs.
  void AwaitRebuild() noexcept;

  void SetProgress(const RebuildProgress& progress);
  RebuildProgress progress() const;

  void NoteSuccess() noexcept;
  void NoteFailure(const std::exception_ptr& exception) noexcept;

  // Returns all fields except generation, age and the counts of recorded changes.
  LiveStatus status() const;

 private:
  std::mutex publishing_;
  ForkableCondition ended_;  // notified when rebuilding_ becomes false

  mutable std::mutex mutex_;  // guards all members below
  bool rebuilding_ = false;
  RebuildProgress progress_;
  uint64_t failures_ = 0;
  std::optional<Failure> failure_;
};

// A rebuild is running while this object exists.
class RebuildTurn {
 public:
  // Throws Error(kBusy) if a rebuild is running already.
  explicit RebuildTurn(LiveState& state) : state_(&state) { state.BeginRebuild(); }
  RebuildTurn(RebuildTurn&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  RebuildTurn& operator=(RebuildTurn&&) = delete;
  ~RebuildTurn() {
    if (state_ != nullptr) state_->EndRebuild();
  }

 private:
  LiveState* state_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_LIVE_STATE_H_
