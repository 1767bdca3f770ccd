// Detects changes of a file: the part of Watch that does not depend on the filter class.
#ifndef TAMIS_LIVE_DETAIL_FILE_WATCHER_H_
#define TAMIS_LIVE_DETAIL_FILE_WATCHER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
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
  kMissing,  // the file does not exist; the filter published last keeps serving
  kServing,  // the file was published, and has not changed since
  kRefused,  // reading or publishing failed; the filter published last keeps serving
};

struct WatchStatus {
  WatchedFile file = WatchedFile::kMissing;
  uint64_t checks = 0;             // number of times the file was checked
  uint64_t published = 0;          // number of generations published from the file
  uint64_t failures = 0;           // number of times the file was refused
  std::optional<Failure> failure;  // the reason, while the file is refused
};

namespace detail {

// Checks a file repeatedly, and calls `take` when the file has changed. Every thread that runs a
// function of this class owns a share of the object, because `take` may destroy the watch.
class FileWatcher {
 public:
  // Loads the file, which was written `age` ago, calls before_publication(), and publishes the
  // filter. Throws if any of this fails.
  using Take = std::function<void(std::chrono::nanoseconds age,
                                  const std::function<void()>& before_publication)>;
  using Refused = std::function<void(const std::exception_ptr&)>;

  // Checks the file once. Throws Error(kInvalidArgument) for an interval that is not positive.
  FileWatcher(std::filesystem::path path, std::chrono::nanoseconds interval, Take take,
              Refused refused);
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;
  ~FileWatcher() = default;

  bool CheckNow();
  WatchStatus status() const;
  // Checks the file once per interval until `stop` is requested.
  void Poll(const std::stop_token& stop);
  // Ends the watch: a file that is being loaded is no longer published, and `refused` is no longer
  // called.
  void End() noexcept { ended_ = true; }

 private:
  // Shows whether another file has replaced the file. If a file replaces another within one tick of
  // the file system's clock, which FAT advances every 2 seconds, the header may be the only
  // difference, because file systems reuse the numbers of files.
  struct Identity {
    uint64_t volume = 0;
    uint64_t number = 0;  // number of the file in its volume
    uint64_t bytes = 0;
    std::chrono::nanoseconds written{};  // time of the last write, since the epoch
    std::array<std::byte, 192> start{};  // first bytes of the file: the header, with checksums

    friend bool operator==(const Identity&, const Identity&) = default;
  };

  // Returns nothing if the file does not exist. Throws Error(kIo).
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
  std::atomic<std::thread::id> checker_ = {};  // the thread that holds `checking_`

  std::mutex checking_;           // guards the next three members
  std::optional<Identity> seen_;  // the file taken or tried last
  bool taken_ = false;
  int tries_left_ = 0;  // how often a damaged file is still read again

  mutable std::mutex mutex_;  // guards status_
  WatchStatus status_;

  std::mutex sleeping_;
  std::condition_variable_any woken_;
};

}  // namespace detail
}  // namespace tamis

#endif  // TAMIS_LIVE_DETAIL_FILE_WATCHER_H_
