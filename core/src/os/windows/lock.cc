#include "core/src/os/lock.h"

#include <string>

#include "core/src/os/file.h"
#include "core/src/os/io_error.h"
#include "core/src/os/windows/win32.h"
#include "tamis/detail/str_cat.h"

namespace tamis::os {

// A lock of Windows would keep the file open, and an open file cannot be replaced on all systems.
// So the lock is an object of the kernel, whose name contains the identity of the file. The object
// exists as long as the handle is open. Other machines that share the file do not see it.
struct Lock::State {
  explicit State(HANDLE named, FileIdentity file) : object(named), identity(file) {}

  const Handle object;
  const FileIdentity identity;
};

Lock::Lock(const std::filesystem::path& path) {
  const FileIdentity identity = File(path).Status().identity;
  const std::string name =
      detail::StrCat("Global\\tamis-lock-", identity.volume, "-", identity.number);
  const HANDLE object = CreateSemaphoreA(nullptr, 0, 1, name.c_str());
  const DWORD error = GetLastError();
  // The object of another user cannot be opened.
  if (object == nullptr && error == ERROR_ACCESS_DENIED) return;
  if (object == nullptr) {
    SetErrno(error);
    ThrowIoError(path, "lock");
  }
  state_ = std::make_unique<State>(object, identity);
  if (error == ERROR_ALREADY_EXISTS) state_.reset();
}

Lock::~Lock() = default;

// Windows does not soon give the identity of a removed file to another one.
bool Lock::IsOf(const std::filesystem::path& path) const {
  const std::optional<FileStatus> named = StatusOf(path);
  return named && named->identity == state_->identity;
}

}  // namespace tamis::os
