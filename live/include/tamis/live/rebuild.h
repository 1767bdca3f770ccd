// Rebuilding a live filter: the source of the new filter, its cancellation and its progress.
#ifndef TAMIS_LIVE_REBUILD_H_
#define TAMIS_LIVE_REBUILD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <utility>

#include "tamis/live/detail/worker.h"
#include "tamis/live/live_status.h"

namespace tamis {

// Options of Live::Rebuild.
struct RebuildOptions {
  // Maximum number of changes that are recorded during a rebuild and not yet replayed. A key that
  // changes twice counts twice. Each change takes 8 bytes and one bit. If there are more changes,
  // the rebuild fails with Error(kOutOfMemory). Must not be 0.
  uint64_t max_recorded = uint64_t{1} << 24;
  // Called by the rebuilding thread whenever the source reports progress. An exception from
  // on_progress ends the rebuild.
  std::function<void(const RebuildProgress&)> on_progress = {};
};

namespace detail {
class LiveState;
}  // namespace detail

// A source reports its progress, and learns whether to stop, through this class. Only one thread
// may use the RebuildContext of a rebuild.
class RebuildContext {
 public:
  // Sets the total number of keys, if the source knows it.
  void SetTotal(uint64_t keys);
  // Reports that `keys` more keys are done. Throws
  // - Error(kCancelled) if the rebuild was cancelled;
  // - Error(kOutOfMemory) if the rebuild cannot succeed, because changes were not recorded;
  // - any exception of on_progress.
  void Advance(uint64_t keys);
  // Returns the stop token, for sources that check for a stop themselves. If such a source returns
  // a filter after a stop, the filter is not published.
  const std::stop_token& stop() const noexcept { return stop_; }

 private:
  template <typename F>
  friend class Live;

  RebuildContext(detail::LiveState& state, const RebuildOptions& options, std::stop_token stop,
                 std::function<void()> require_whole)
      : state_(state),
        options_(options),
        stop_(std::move(stop)),
        require_whole_(std::move(require_whole)) {}

  void RequireWanted() const;

  detail::LiveState& state_;
  const RebuildOptions& options_;
  std::stop_token stop_;
  std::function<void()> require_whole_;
};

// The source of a new filter: a function that returns it, and optionally one that opens a snapshot.
template <typename F>
struct RebuildSource {
  // Reads the keys and returns the filter. It may save the filter too. An exception, such as for a
  // full disk, ends the rebuild, and the old filter keeps serving.
  std::function<F(RebuildContext&)> build;
  // Opens the snapshot that `build` reads. The rebuild calls it once, after recording has begun and
  // all earlier changes have ended. Keys erased during the rebuild are erased from the new filter
  // only if there is a snapshot; see Live::Rebuild.
  std::function<void()> open_snapshot = {};
};

// A rebuild on its own thread. Must not outlive the Live.
class [[nodiscard]] RebuildJob {
 public:
  RebuildJob(RebuildJob&&) noexcept = default;
  RebuildJob& operator=(RebuildJob&&) noexcept = default;
  // Cancels the rebuild and waits for its end. If the source or a callback destroys the job on the
  // thread of the rebuild, the destructor of the Live waits instead.
  ~RebuildJob() = default;

  // Requests a stop. The rebuild stops at the next Advance of its source, or before it would
  // publish.
  void Cancel() noexcept { worker_.RequestStop(); }
  // Returns whether the rebuild has ended.
  bool done() const;
  // Waits for the end of the rebuild. Returns the number of the published generation, or throws the
  // exception that ended the rebuild. Throws Error(kInvalidArgument) on a second call, when called
  // by the source or a callback of the rebuild itself, and in a child of fork.
  uint64_t Wait();

 private:
  template <typename F>
  friend class Live;

  using Task = std::packaged_task<uint64_t(std::stop_token)>;

  // Throws std::system_error if no thread can be started.
  explicit RebuildJob(Task task) : RebuildJob(std::make_shared<Task>(std::move(task))) {}
  // Gets the future only after the thread has started. Otherwise, if the thread cannot be started,
  // the task is destroyed before it ran, and stores an exception in the future. If there is no
  // memory for that exception, the process ends.
  explicit RebuildJob(const std::shared_ptr<Task>& task)
      : worker_([task](const std::stop_token& stop) { (*task)(stop); }) {
    result_ = task->get_future();
  }

  std::future<uint64_t> result_;
  detail::Worker worker_;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_REBUILD_H_
