#include <utility>

#include "core/src/os/lock.h"
#include "core/src/os/path_text.h"
#include "tamis/error.h"
#include "tamis/file/file.h"

namespace tamis {

struct FileLock::State : os::Lock {
  using os::Lock::Lock;
};

FileLock::FileLock(std::filesystem::path path) : path_(std::move(path)) {
  // The previous owner of the lock may have replaced the file after it was opened here.
  do {
    state_ = std::make_unique<State>(path_);
    if (!*state_) {
      throw Error(ErrorCode::kBusy,
                  os::TextOf(path_) + ": it is locked for a change; try again when that is done");
    }
  } while (!state_->IsOf(path_));
}

FileLock::~FileLock() = default;

void FileLock::RequireUnchanged() const {
  if (state_->IsOf(path_)) return;
  throw Error(ErrorCode::kBusy,
              os::TextOf(path_) + ": it has been replaced in the meantime; nothing was saved");
}

}  // namespace tamis
