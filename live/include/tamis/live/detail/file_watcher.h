// When a file has changed: the part of a watch that knows no filter.
#ifndef TAMIS_LIVE_DETAIL_FILE_WATCHER_H_
#define TAMIS_LIVE_DETAIL_FILE_WATCHER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "tamis/live/live_status.h"

namespace tamis {

enum class WatchedFile : uint8_t {
  kMissing,  // there is none; what was published from it goes on serving
  kServing,  // it is what was published last
  kRefused,  // it could not be read, or published; what was published before goes on serving
};

struct WatchStatus {
  WatchedFile file = WatchedFile::kMissing;
  uint64_t checks = 0;             // times that the file was looked at
  uint64_t published = 0;          // generations that came from it
  uint64_t failures = 0;           // times that it was refused
  std::optional<Failure> failure;  // why, while it is
};

namespace detail {

// Looks at a file again and again, and calls `take` when there is another one under that name.
// Owned by all who are in one of its functions: `take` may end the watch.
class FileWatcher {
 public:
  // Loads the file, which was written so long ago, calls before_publication(), and publishes it, or
  // throws.
  using Take = std::function<void(std::chrono::nanoseconds age,
                                  const std::function<void()>& before_publication)>;
  using Refused = std::function<void(const std::exception_ptr&)>;

  // Throws Error(kInvalidArgument) for an interval that is not positive. Looks once.
  FileWatcher(std::filesystem::path path, std::chrono::nanoseconds interval, Take take,
              Refused refused);
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  ~FileWatcher() = default;

  bool CheckNow();
  WatchStatus status() const;
  // Looks at each interval until it is stopped.
  void Poll(const std::stop_token& stop);
  // A file that is being loaded is not published any more, nor is anything refused.
  void End() noexcept { ended_ = true; }

 private:
  // What tells a file from the one that was there before. `contents` is the checksum in its header,
  // if it has one: a file that replaces another within a tick of the file system's clock can have
  // its length, its time, and even its inode, where that was free again.
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t bytes = 0;
    std::chrono::nanoseconds written{};  // since the epoch
    std::optional<std::array<uint64_t, 2>> contents;

    friend bool operator==(const Identity&, const Identity&) = default;
  };

  // Nothing if there is no file. Throws Error(kIo).
  std::optional<Identity> Look() const;
  bool CheckLocked();
  bool TakeIfNew();
  void SetServing(bool published) noexcept;
  void Refuse(const std::exception_ptr& exception) noexcept;

  const std::filesystem::path path_;
  const std::chrono::nanoseconds interval_;
  const Take take_;
  const Refused refused_;

  std::atomic<bool> ended_ = false;
  std::atomic<std::thread::id> checker_ = {};  // who has the next

  std::mutex checking_;           // of the next three
  std::optional<Identity> seen_;  // of the file that was taken, or tried
  bool taken_ = false;
  int tries_left_ = 0;  // of one that was not taken

  mutable std::mutex mutex_;  // of the next
  WatchStatus status_;

  std::mutex sleeping_;
  std::condition_variable_any woken_;
};

}  // namespace detail
}  // namespace tamis

#endif  // TAMIS_LIVE_DETAIL_FILE_WATCHER_H_
