#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "core/src/file/input_file.h"
#include "core/src/file/posix_file.h"
#include "tamis/file/file.h"

namespace tamis {

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  // The previous owner of the lock may have replaced the file after it was opened here.
  for (;;) {
    detail::Descriptor file(detail::OpenToRead(path_));
    if (detail::Retry([&] { return flock(file.get(), LOCK_EX | LOCK_NB); }) != 0 &&
        errno == EWOULDBLOCK) {
      throw Error(ErrorCode::kBusy,
                  path_.string() + ": it is locked for a change; try again when that is done");
    }
    fd_ = file.get();
    process_ = getpid();
    if (IsCurrent()) {
      file.Release();
      return;
    }
  }
}

FileLock::~FileLock() {
  // Unlocks explicitly: closing is not enough, since forked children may have the file open as
  // well.
  if (process_ == getpid()) flock(fd_, LOCK_UN);
  close(fd_);
}

bool FileLock::IsCurrent() const {
  struct stat held, named;
  if (fstat(fd_, &held) != 0) detail::ThrowIoError(path_, "read its status");
  if (stat(path_.c_str(), &named) != 0) {
    if (errno != ENOENT) detail::ThrowIoError(path_, "read its status");
    return false;
  }
  return held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void FileLock::RequireUnchanged() const {
  if (IsCurrent()) return;
  throw Error(ErrorCode::kBusy,
              path_.string() + ": it has been replaced in the meantime; nothing was saved");
}

}  // namespace tamis
