// Rebuilding a live filter: what makes the new one, how it is told to stop, and how far it is.
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

struct RebuildOptions {
  // Keys that may be changed between the rebuild's beginning and the last step before its filter
  // is published, each of which takes 8 bytes and a bit. One more, and the rebuild fails with
  // Error(kOutOfMemory). Must not be 0.
  uint64_t max_recorded = uint64_t{1} << 24;
  // Called by the rebuilding thread whenever the source tells how far it is. What it throws ends
  // the rebuild.
  std::function<void(const RebuildProgress&)> on_progress = {};
};

namespace detail {
class LiveState;
}  // namespace detail

// What a source is handed: how it tells how far it is, and learns that it should stop. To be used
// by one thread.
class RebuildContext {
 public:
  // How many keys there will be, if the source knows.
  void SetTotal(uint64_t keys);
  // So many more keys are done. Throws Error(kCancelled) if the rebuild has been cancelled, and
  // Error(kOutOfMemory) if more keys have been changed meanwhile than it may record: there is no
  // use in going on then. Also throws what on_progress does.
  void Advance(uint64_t keys);
  // For code that stops in ways of its own; a filter that it returns is not published.
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

// What a new filter is made from: a function that returns it, or two.
template <typename F>
struct RebuildSource {
  // Reads the keys and returns the filter. May save it, too: what it throws, as for a full disk,
  // ends the rebuild, and the old filter goes on serving.
  std::function<F(RebuildContext&)> build;
  // Opens the snapshot that `build` reads. Called once, when changes are already recorded, and
  // those under way before that have ended. Only with a snapshot are keys erased from the new
  // filter that were erased meanwhile; see Live::Rebuild.
  std::function<void()> open_snapshot = {};
};

// A rebuild on a thread of its own. Must not outlive the Live.
class [[nodiscard]] RebuildJob {
 public:
  RebuildJob(RebuildJob&&) noexcept = default;
  RebuildJob& operator=(RebuildJob&&) noexcept = default;
  // Cancels it, and waits for its end; but not on its own thread, where the source or a callback
  // may destroy it: then the destructor of the Live waits.
  ~RebuildJob() = default;

  // Asks it to stop: at the source's next Advance, and at the latest before it would publish.
  void Cancel() noexcept { worker_.RequestStop(); }
  bool done() const;
  // Waits for its end. Returns the number of the generation that it has published, or throws what
  // has ended it. Throws Error(kInvalidArgument) when it is called again, by the source or a
  // callback of the rebuild itself, or in a child of fork.
  uint64_t Wait();

 private:
  template <typename F>
  friend class Live;

  using Task = std::packaged_task<uint64_t(std::stop_token)>;

  // Throws std::system_error if there can be no thread.
  explicit RebuildJob(Task task) : RebuildJob(std::make_shared<Task>(std::move(task))) {}
  // The future once there is a thread: a task that goes before it ran has to tell its future, which
  // takes memory, and ends the process where there is none.
  explicit RebuildJob(const std::shared_ptr<Task>& task)
      : worker_([task](const std::stop_token& stop) { (*task)(stop); }) {
    result_ = task->get_future();
  }

  std::future<uint64_t> result_;
  detail::Worker worker_;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_REBUILD_H_
