// A live filter that comes from a file, which another process replaces.
#ifndef TAMIS_LIVE_WATCH_H_
#define TAMIS_LIVE_WATCH_H_

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "tamis/file/file.h"
#include "tamis/filters/any_filter.h"
#include "tamis/live/detail/file_watcher.h"
#include "tamis/live/detail/worker.h"
#include "tamis/live/live.h"

namespace tamis {

template <typename F>
struct WatchOptions {
  // From one look at the file to the next; more than 0.
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  // Of F::Load, or of Open for AnyFilter.
  LoadOptions load_options = {};
  // What takes their place, to map the file for example. Has to verify the file.
  std::function<F(const std::filesystem::path&)> load = {};
};

// Publishes a file in a Live whenever there is another one under that name, as Save puts there by
// renaming. It is loaded and verified first; a damaged one is not published, and the old filter
// serves until there is a better one. The age of the filter counts from when the file was written.
//
// The file is told from the one before by device, inode, length, time of writing and the checksum
// in its header, so one that comes within a tick of the file system's clock is seen, too. One that
// is damaged is read thrice, and then again when it changes; one that cannot be read, or cannot be
// published because a rebuild is running, is tried at each look. All of this is in status(), and
// failures are in that of the Live.
//
// Looks on a thread of its own, at first in the constructor. All functions are thread-safe. Must
// not outlive the Live. While a file is loaded there is memory for two filters.
template <typename F>
class Watch {
 public:
  // A file that is missing or damaged is no error: see status(). A relative path is one of the
  // working directory of this moment. Throws Error(kInvalidArgument) for an interval out of range,
  // std::system_error if there can be no thread.
  Watch(Live<F>& live, const std::filesystem::path& path, WatchOptions<F> options = {})
      : watcher_(std::make_shared<detail::FileWatcher>(
            std::filesystem::absolute(path), options.interval,
            [&live, from = std::filesystem::absolute(path), options](
                std::chrono::nanoseconds age, const std::function<void()>& before_publication) {
              F filter = Loaded(from, options);
              before_publication();
              live.Publish(std::move(filter), age);
            },
            [&live](const std::exception_ptr& exception) { live.NoteFailure(exception); })),
        worker_([watcher = watcher_](const std::stop_token& stop) { watcher->Poll(stop); }) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  // Waits for a file that is being loaded; but not where WatchOptions::load destroys the watch.
  // That file is not published.
  ~Watch() { watcher_->End(); }

  // Looks at the file now. Returns whether it has been published. Throws Error(kInvalidArgument) if
  // WatchOptions::load calls it.
  bool CheckNow() {
    const auto watcher = watcher_;  // as long as it takes, whatever becomes of this
    return watcher->CheckNow();
  }

  WatchStatus status() const { return watcher_->status(); }

 private:
  static F Loaded(const std::filesystem::path& path, const WatchOptions<F>& options) {
    if (options.load) return options.load(path);
    if constexpr (std::is_same_v<F, AnyFilter>) {
      return tamis::Load(path, options.load_options);
    } else {
      return F::Load(path, options.load_options);
    }
  }

  const std::shared_ptr<detail::FileWatcher> watcher_;
  const detail::Worker worker_;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_WATCH_H_
