// Locks of files between processes.
#ifndef TAMIS_CORE_SRC_OS_LOCK_H_
#define TAMIS_CORE_SRC_OS_LOCK_H_

#include <filesystem>
#include <memory>

namespace tamis::os {

// The exclusive lock of a file. Released on destruction, and when the process ends. The lock does
// not prevent others from reading, changing or replacing the file.
class Lock {
 public:
  // Does not wait: the object is empty if the file is locked already, in this process or in
  // another. On file systems without locks, and on NFS if this process may not write to the file,
  // the object locks nothing. Throws Error(kIo).
  explicit Lock(const std::filesystem::path& path);
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock();

  explicit operator bool() const noexcept { return state_ != nullptr; }
  // Returns whether `path` leads to the file that was locked. Throws Error(kIo).
  bool IsOf(const std::filesystem::path& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_LOCK_H_
