#include "core/src/os/lock.h"

#include <sys/file.h>

#include "core/src/os/file.h"
#include "core/src/os/posix/descriptor.h"
#include "core/src/os/process.h"

namespace tamis::os {

struct Lock::State {
  explicit State(const std::filesystem::path& path) : file(path) {}

  int fd() const noexcept { return static_cast<int>(file.handle()); }

  const File file;
  const ProcessMark mark{};
};

Lock::Lock(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {
  const bool locked = Retry([&] { return flock(state_->fd(), LOCK_EX | LOCK_NB); }) == 0;
  if (!locked && errno == EWOULDBLOCK) state_.reset();
}

Lock::~Lock() {
  // Closing is not enough, since forked children may have the file open as well. A child must not
  // release the lock of its parent.
  if (state_ && state_->mark.IsOfThisProcess()) flock(state_->fd(), LOCK_UN);
}

bool Lock::IsOf(const std::filesystem::path& path) const {
  const std::optional<FileStatus> named = StatusOf(path);
  return named && named->identity == state_->file.Status().identity;
}

}  // namespace tamis::os
