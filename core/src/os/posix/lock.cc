#include "core/src/os/lock.h"

#include <sys/file.h>

#include <optional>

#include "core/src/os/file.h"
#include "core/src/os/posix/descriptor.h"
#include "core/src/os/process.h"

namespace tamis::os {

struct Lock::State {
  explicit State(const std::filesystem::path& path) : file(path) {}

  int fd() const noexcept { return writable ? writable->get() : static_cast<int>(file.handle()); }
  bool TryLock() const {
    return Retry([&] { return flock(fd(), LOCK_EX | LOCK_NB); }) == 0;
  }
  void OpenToWrite() {
    writable.emplace(
        Retry([&] { return open(file.path().c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
  }

  const File file;
  std::optional<Descriptor> writable;
  const ProcessMark mark{};
};

Lock::Lock(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {
  if (state_->TryLock()) return;
  if (errno == EBADF) {  // NFS locks only files that are open for writing
    state_->OpenToWrite();
    if (state_->TryLock()) return;
  }
  if (errno == EWOULDBLOCK) state_.reset();
}

Lock::~Lock() {
  // Closing is not enough, because forked children may have the file open as well. A child must not
  // release the lock of its parent.
  if (state_ && state_->mark.IsOfThisProcess()) flock(state_->fd(), LOCK_UN);
}

bool Lock::IsOf(const std::filesystem::path& path) const {
  const std::optional<FileStatus> named = StatusOf(path);
  return named && named->identity == state_->file.Status().identity;
}

}  // namespace tamis::os
