// What a live filter notes of its rebuilds and publications, whatever kind the filter is.
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

// Time by the clock, or by std::chrono::steady_clock if it is empty.
std::chrono::steady_clock::time_point TimeOf(const LiveClock& clock);

// From `since` until now, at least 0.
std::chrono::nanoseconds AgeOf(std::chrono::steady_clock::time_point since, const LiveClock& clock);

// Thread-safe.
class LiveState {
 public:
  // The right to publish, which one has at a time. Throws Error(kBusy) while a rebuild is
  // running.
  std::unique_lock<std::mutex> LockForPublication();

  // Throws Error(kBusy) if a rebuild is running.
  void BeginRebuild();
  void EndRebuild() noexcept;
  // Returns when none is running; at once in a child of fork, which has none.
  void AwaitRebuild() noexcept;

  void SetProgress(const RebuildProgress& progress);
  RebuildProgress progress() const;

  void NoteSuccess() noexcept;
  void NoteFailure(const std::exception_ptr& exception) noexcept;

  // All but generation, age and what is recorded.
  LiveStatus status() const;

 private:
  std::mutex publishing_;
  ForkableCondition ended_;  // of rebuilding_

  mutable std::mutex mutex_;  // of all below
  bool rebuilding_ = false;
  RebuildProgress progress_;
  uint64_t failures_ = 0;
  std::optional<Failure> failure_;
};

// That a rebuild is running, for as long as this is there.
class RebuildTurn {
 public:
  // Throws Error(kBusy) if one is.
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
