#include "tools/os/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tamis::tools::os {
namespace {

bool IsNull(const struct stat& status) {
  struct stat null = {};
  return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 &&
         status.st_rdev == null.st_rdev;
}

FileType TypeOf(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return FileType::kRegular;
  if (S_ISDIR(status.st_mode)) return FileType::kFolder;
  return IsNull(status) ? FileType::kNull : FileType::kOther;
}

FileStatus StatusFrom(const struct stat& status) {
#ifdef __APPLE__
  const timespec& changed = status.st_mtimespec;
#else
  const timespec& changed = status.st_mtim;
#endif
  return {TypeOf(status),
          static_cast<uint64_t>(status.st_dev),
          static_cast<uint64_t>(status.st_ino),
          static_cast<uint64_t>(status.st_size),
          static_cast<int64_t>(changed.tv_sec),
          static_cast<int64_t>(changed.tv_nsec)};
}

// Waits if a call failed because the descriptor does not block. Returns whether to call again.
bool AwaitIfNotBlocking(int fd, short events) {
  if (errno != EAGAIN) return false;
  pollfd poll_fd{fd, events, 0};
  return ::poll(&poll_fd, 1, -1) > 0;
}

}  // namespace

std::optional<FileStatus> StatusOf(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return StatusFrom(status);
}

std::optional<FileStatus> StatusOf(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  return StatusFrom(status);
}

bool IsReadable(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

int OpenToRead(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
#ifdef POSIX_FADV_SEQUENTIAL  // macOS lacks it
  // A hint. It fails for a pipe, which is harmless.
  if (fd >= 0) ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
  return fd;
}

int OpenToWrite(const std::string& path, bool must_be_new) {
  for (;;) {
    const int fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (must_be_new ? O_EXCL : 0), 0666);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

int64_t Read(int fd, char* to, size_t bytes) {
  for (;;) {
    const ssize_t n = ::read(fd, to, bytes);
    if (n >= 0 || !AwaitIfNotBlocking(fd, POLLIN)) return n;
  }
}

int64_t Write(int fd, const char* from, size_t bytes) {
  for (;;) {
    const ssize_t n = ::write(fd, from, bytes);
    if (n >= 0 || !AwaitIfNotBlocking(fd, POLLOUT)) return n;
  }
}

bool HasInput(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return ::poll(&poll_fd, 1, 0) > 0;
}

bool GetPosition(int fd, uint64_t& position) {
  const off_t offset = ::lseek(fd, 0, SEEK_CUR);
  position = static_cast<uint64_t>(offset);
  return offset >= 0;
}

bool SetPosition(int fd, uint64_t position) {
  return ::lseek(fd, static_cast<off_t>(position), SEEK_SET) >= 0;
}

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

bool Empty(int fd) { return ::ftruncate(fd, 0) == 0; }

void Remove(const std::string& path) { ::unlink(path.c_str()); }

bool Sync(int fd) { return ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

int Duplicate(int fd) { return ::dup(fd); }

bool Close(int fd) { return ::close(fd) == 0; }

void PrepareStandardStreams() {
  for (const int fd : {kStandardInput, kStandardOutput, kStandardError}) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // open() takes the lowest free descriptor, which is this one.
    if (::open("/dev/null", fd == kStandardInput ? O_WRONLY : O_RDONLY) != fd) return;
  }
}

}  // namespace tamis::tools::os
