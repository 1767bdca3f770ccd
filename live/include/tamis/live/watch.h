// A live filter that is loaded from a file, which another process replaces.
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

// Options of a Watch.
template <typename F>
struct WatchOptions {
  // Time from one check of the file to the next; must be more than 0.
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  // Options for F::Load, or for Load if F is AnyFilter.
  LoadOptions load_options = {};
  // Replaces F::Load or Load, for example to map the file. Must verify the file.
  std::function<F(const std::filesystem::path&)> load = {};
};

// Publishes the filter of a file in a Live. Publishes again whenever another file appears under the
// same name, such as after Save. Loads and verifies each file first. If the file is damaged, it is
// not published, and the old filter keeps serving. The age of the filter counts from the time when
// the file was written.
//
// A change is detected by device, inode, length, time of writing and the header, which contains a
// checksum. So even two files within one tick of the file system's clock are distinguished, unless
// they are equal. A damaged file is read three times, and then again only after it has changed. If
// a file cannot be read, or cannot be published because a rebuild is running, every check tries
// again. status() reports all of this, and the status of the Live reports failures.
//
// Checks the file first in the constructor, and then on its own thread. All functions are
// thread-safe. Must not outlive the Live. Loading a file needs memory for two filters.
template <typename F>
class Watch {
 public:
  // A missing or damaged file is not an error: see status(). A relative path refers to the current
  // working directory of this call. Throws Error(kInvalidArgument) for an interval out of range,
  // and std::system_error if no thread can be started.
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
  // Waits for a file that is being loaded, and does not publish it. Does not wait if
  // WatchOptions::load destroys the watch.
  ~Watch() { watcher_->End(); }

  // Checks the file now. Returns whether it was published. Throws Error(kInvalidArgument) if called
  // by WatchOptions::load.
  bool CheckNow() {
    const auto watcher = watcher_;  // keeps the watcher alive, even if this watch is destroyed
    return watcher->CheckNow();
  }

  // Returns the results of the latest checks.
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
