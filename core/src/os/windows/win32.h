// Errors and handles of Windows.
#ifndef TAMIS_CORE_SRC_OS_WINDOWS_WIN32_H_
#define TAMIS_CORE_SRC_OS_WINDOWS_WIN32_H_

#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cerrno>
#include <filesystem>

namespace tamis::os {

// Files can be opened, renamed and deleted by others while they are open here.
inline constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// Sets errno to the number that stands for an error of Windows.
inline void SetErrno(DWORD error = GetLastError()) noexcept {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_BAD_NETPATH:
      errno = ENOENT;
      return;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD:
      errno = EACCES;
      return;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
      errno = EEXIST;
      return;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      errno = ENOSPC;
      return;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      errno = ENOMEM;
      return;
    case ERROR_TOO_MANY_OPEN_FILES:
      errno = EMFILE;
      return;
    case ERROR_FILENAME_EXCED_RANGE:
      errno = ENAMETOOLONG;
      return;
    case ERROR_WRITE_PROTECT:
      errno = EROFS;
      return;
    default:
      errno = EIO;
  }
}

// Owns a handle, or none if it is INVALID_HANDLE_VALUE.
class Handle {
 public:
  explicit Handle(HANDLE handle) noexcept : handle_(handle) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (*this) CloseHandle(handle_);
  }

  explicit operator bool() const noexcept { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const noexcept { return handle_; }

 private:
  HANDLE handle_;
};

// Opens a file or folder that exists. If that fails, returns INVALID_HANDLE_VALUE, and
// GetLastError() returns the error.
inline HANDLE OpenExisting(const std::filesystem::path& path, DWORD access) noexcept {
  return CreateFileW(path.c_str(), access, kShareAll, nullptr, OPEN_EXISTING,
                     FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_WINDOWS_WIN32_H_
