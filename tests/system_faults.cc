#include "tests/system_faults.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

// glibc declares some of these functions noexcept, and musl none.
#ifdef __GLIBC__
#define TAMIS_LIBC_NOEXCEPT noexcept
#else
#define TAMIS_LIBC_NOEXCEPT
#endif

namespace tamis {
namespace {

const SystemFaults* faults = nullptr;

bool Fails(int error) {
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

SystemFaults::SystemFaults() { faults = this; }
SystemFaults::~SystemFaults() { faults = nullptr; }

}  // namespace tamis

using tamis::Fails;
using tamis::faults;

extern "C" {

int openat(int directory, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  // Arbitrary if the caller passed none, as in the C library.
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (faults != nullptr && faults->openat && Fails(faults->openat(flags))) return -1;
  const auto fd = static_cast<int>(syscall(SYS_openat, directory, name, flags, mode));
  if (fd >= 0 && faults != nullptr && faults->opened) faults->opened(flags);
  return fd;
}

int linkat(int from, const char* path, int to, const char* name, int flags) TAMIS_LIBC_NOEXCEPT {
  if (faults != nullptr && faults->linkat && Fails(faults->linkat())) return -1;
  return static_cast<int>(syscall(SYS_linkat, from, path, to, name, flags));
}

int stat(const char* path, struct stat* out) TAMIS_LIBC_NOEXCEPT {
  if (faults != nullptr && faults->stat && Fails(faults->stat())) return -1;
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, 0));
}

int lstat(const char* path, struct stat* out) TAMIS_LIBC_NOEXCEPT {
  if (faults != nullptr && faults->lstat && Fails(faults->lstat())) return -1;
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW));
}

int flock(int fd, int operation) TAMIS_LIBC_NOEXCEPT {
  if (faults != nullptr && faults->flock && Fails(faults->flock(fd))) return -1;
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

int fsync(int fd) {
  if (faults != nullptr && faults->fsync && Fails(faults->fsync(fd))) return -1;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

ssize_t write(int fd, const void* bytes, size_t n) {
  if (faults != nullptr && faults->write) {
    if (const std::optional<ssize_t> result = faults->write()) return *result;
  }
  return syscall(SYS_write, fd, bytes, n);
}

}  // extern "C"
