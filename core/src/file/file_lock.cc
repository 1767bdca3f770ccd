#include <utility>

#include "core/src/os/lock.h"
#include "tamis/error.h"
#include "tamis/file/file.h"

namespace tamis {

struct FileLock::State {
  os::Lock lock;
};

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  // The previous owner of the lock may have replaced the file after it was opened here.
  do {
    state_ = std::make_unique<State>(State{os::Lock(path_)});
    if (!state_->lock) {
      throw Error(ErrorCode::kBusy,
                  path_.string() + ": it is locked for a change; try again when that is done");
    }
  } while (!state_->lock.IsOf(path_));
}

FileLock::~FileLock() = default;

void FileLock::RequireUnchanged() const {
  if (state_->lock.IsOf(path_)) return;
  throw Error(ErrorCode::kBusy,
              path_.string() + ": it has been replaced in the meantime; nothing was saved");
}

}  // namespace tamis
