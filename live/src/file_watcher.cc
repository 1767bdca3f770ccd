#include "tamis/live/detail/file_watcher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/src/os/file.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::detail {
namespace {

using std::chrono::nanoseconds;

// Number of times that a damaged file is read although it looks unchanged. Another process may
// still be writing the file, within one tick of the file system's clock.
constexpr int kTries = 3;

nanoseconds AgeOfFile(nanoseconds written) {
  const nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  // An age of more than 292 years does not fit.
  if (written < now - nanoseconds::max()) return nanoseconds::max();
  return std::max(now - written, nanoseconds(0));
}

// Returns whether reading the same file again would fail in the same way.
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
    // A longer time would overflow when the current time is added to it.
    const nanoseconds wait = std::min<nanoseconds>(interval_, std::chrono::hours(24 * 365));
    woken_.wait_for(lock, stop, wait, [] { return false; });
    if (stop.stop_requested()) return;
    // Skips the check if another thread is checking, because that thread may be waiting for this
    // thread to end.
    const std::unique_lock checking(checking_, std::try_to_lock);
    if (checking) CheckLocked();
  }
}

std::optional<FileWatcher::Identity> FileWatcher::Look() const {
  const std::optional<os::FileStatus> status = os::StatusOf(path_);
  if (!status) return {};
  Identity identity{
      status->identity.volume, status->identity.number, status->bytes, status->written, {}};
  // The load function handles anything that is not a regular file.
  if (status->type != os::FileType::kRegular) return identity;
  // If reading fails here, the exception does not change `seen_`: the file may be the published
  // file.
  os::File(path_).Read(identity.start, 0);
  return identity;
}

bool FileWatcher::CheckNow() {
  if (checker_ == std::this_thread::get_id()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the function that loads the file of a watch must not check the file");
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
  // Remembers the file before reading it. If another file replaces it during reading, the next
  // check finds a new file.
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
  } catch (...) {  // no memory for the text
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
