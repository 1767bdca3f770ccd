#include "tamis/live/detail/file_watcher.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/file/file_checks.h"

namespace tamis::detail {
namespace {

using std::chrono::nanoseconds;

// How often a damaged file is read that looks unchanged: somebody may still be writing it, within
// one tick of the file system's clock.
constexpr int kTries = 3;

nanoseconds WrittenAt(const struct stat& status) {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  // Up to the year 2262, which is as far as nanoseconds go.
  constexpr std::chrono::seconds kLatest =
      std::chrono::floor<std::chrono::seconds>(nanoseconds::max()) - std::chrono::seconds(1);
  return std::clamp(std::chrono::seconds(time.tv_sec), -kLatest, kLatest) +
         nanoseconds(time.tv_nsec);
}

nanoseconds AgeOfFile(nanoseconds written) {
  const nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  // An age of more than 292 years does not fit.
  if (written < now - nanoseconds::max()) return nanoseconds::max();
  return std::max(now - written, nanoseconds(0));
}

// Whether reading the file again can have no other outcome.
bool IsDamage(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const FormatError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

FileWatcher::FileWatcher(std::filesystem::path path, nanoseconds interval, Take take,
                         Refused refused)
    : path_(std::move(path)),
      interval_(interval),
      take_(std::move(take)),
      refused_(std::move(refused)) {
  if (interval_.count() <= 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        StrCat("the interval of a watch is ", interval_.count(), " ns; allowed: more than 0"));
  }
  CheckNow();
}

void FileWatcher::Poll(const std::stop_token& stop) {
  std::unique_lock lock(sleeping_);
  while (!stop.stop_requested()) {
    // A longer time would not fit once that of now is added to it.
    const nanoseconds wait = std::min<nanoseconds>(interval_, std::chrono::hours(24 * 365));
    woken_.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) return;
    // Not after somebody else who does the same: that one may wait for the end of this thread.
    const std::unique_lock checking(checking_, std::try_to_lock);
    if (checking) CheckLocked();
  }
}

std::optional<FileWatcher::Identity> FileWatcher::Look() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    throw Error(ErrorCode::kIo, path_.string() + ": cannot be looked at: " +
                                    std::generic_category().message(errno));
  }
  Identity identity{static_cast<uint64_t>(status.st_dev),
                    static_cast<uint64_t>(status.st_ino),
                    static_cast<uint64_t>(status.st_size),
                    WrittenAt(status),
                    {}};
  // What is no file is for the function that loads it.
  if (!S_ISREG(status.st_mode)) return identity;
  // One that cannot be read now may be the one that serves: it is not taken for another.
  try {
    identity.contents = ReadHeader(path_).payload_checksum;
  } catch (const FormatError&) {  // what is wrong with it is said when it is taken
  }
  return identity;
}

bool FileWatcher::CheckNow() {
  if (checker_ == std::this_thread::get_id()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the function that loads the file of a watch cannot have it checked");
  }
  const std::lock_guard checking(checking_);
  return CheckLocked();
}

bool FileWatcher::CheckLocked() {
  checker_ = std::this_thread::get_id();
  {
    const std::lock_guard lock(mutex_);
    ++status_.checks;
  }
  bool taken = false;
  try {
    taken = TakeIfNew();
  } catch (...) {
    Refuse(std::current_exception());
  }
  checker_ = std::thread::id();
  return taken;
}

bool FileWatcher::TakeIfNew() {
  const std::optional<Identity> file = Look();
  if (!file) {
    seen_.reset();
    const std::lock_guard lock(mutex_);
    status_.file = WatchedFile::kMissing;
    status_.failure.reset();
    return false;
  }
  if (file == seen_ && taken_) {
    SetServing(false);
    return false;
  }
  if (file == seen_ && tries_left_ == 0) return false;
  if (file != seen_) tries_left_ = kTries;
  // Looked at before it is read: one that comes in between is another one at the next check.
  seen_ = file;
  taken_ = false;
  try {
    take_(AgeOfFile(file->written), [this] {
      if (ended_) throw Error(ErrorCode::kCancelled, "the watch ended while the file was loaded");
    });
  } catch (...) {
    if (!IsDamage(std::current_exception())) {
      tries_left_ = kTries;
    } else {
      --tries_left_;
    }
    throw;
  }
  taken_ = true;
  SetServing(true);
  return true;
}

void FileWatcher::SetServing(bool published) noexcept {
  const std::lock_guard lock(mutex_);
  status_.file = WatchedFile::kServing;
  status_.failure.reset();
  status_.published += published;
}

void FileWatcher::Refuse(const std::exception_ptr& exception) noexcept {
  std::optional<Failure> failure;
  try {
    failure = FailureOf(exception);
  } catch (...) {  // there is no memory for its text
    failure = Failure{{}, ErrorCode::kOutOfMemory};
  }
  if (!ended_) refused_(exception);
  const std::lock_guard lock(mutex_);
  status_.file = WatchedFile::kRefused;
  status_.failure.swap(failure);
  ++status_.failures;
}

WatchStatus FileWatcher::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

}  // namespace tamis::detail
