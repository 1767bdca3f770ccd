// File descriptors that close themselves, and system calls that throw.
#ifndef TAMIS_CORE_SRC_FILE_POSIX_FILE_H_
#define TAMIS_CORE_SRC_FILE_POSIX_FILE_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "tamis/error.h"

namespace tamis::detail {

// "known.tamis: cannot open: No such file or directory"
[[noreturn]] inline void ThrowIoError(const std::filesystem::path& path, const std::string& action,
                                      int error = errno) {
  throw Error(ErrorCode::kIo,
              path.string() + ": cannot " + action + ": " + std::generic_category().message(error));
}

// Calls until not interrupted by a signal; returns what the call returned.
template <typename Call>
auto Retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Waits until the file is on the disk. False, with errno, if that failed.
inline bool Synchronize(int fd) {
#ifdef F_FULLFSYNC
  // Where fsync leaves data in the cache of the drive; not every file system has this.
  if (fcntl(fd, F_FULLFSYNC) == 0) return true;
#endif
  return Retry([&] { return fsync(fd); }) == 0;
}

// Owner of an open file, or of none (negative).
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const noexcept { return fd_; }
  // Gives up what it owns.
  void Release() noexcept { fd_ = -1; }

 private:
  int fd_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILE_POSIX_FILE_H_
