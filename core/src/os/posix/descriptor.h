// File descriptors that close themselves, and system calls that signals interrupt.
#ifndef TAMIS_CORE_SRC_OS_POSIX_DESCRIPTOR_H_
#define TAMIS_CORE_SRC_OS_POSIX_DESCRIPTOR_H_

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tamis::os {

// Repeats the call until no signal interrupts it. Returns the result of the last call.
template <typename Call>
auto Retry(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Waits until the file is on the disk. Returns false, with errno set, if that failed.
inline bool SynchronizeDescriptor(int fd) {
#ifdef F_FULLFSYNC
  // On these systems, fsync leaves data in the drive's cache. Some file systems lack F_FULLFSYNC.
  if (fcntl(fd, F_FULLFSYNC) == 0) return true;
#endif
  return Retry([&] { return fsync(fd); }) == 0;
}

// Owns an open file, or none if the descriptor is negative.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_POSIX_DESCRIPTOR_H_
