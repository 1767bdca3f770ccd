// Records the changes that a process makes to the files of one folder, and which of them would
// survive a power failure. TAMIS_DISK_JOURNAL names another folder for the records. `journal` there
// has a line for each change. NUMBER.data contains a file after a change:
//   data FILE NUMBER       written or truncated
//   sync FILE              contents synchronized by fsync
//   link FILE NAME         named
//   unlink NAME
//   rename NAME NAME
//   syncdir                names synchronized by fsync of the folder
// FILE is an inode number. TAMIS_DISK_LOSE=sync or =syncdir is a seeded defect: the lines of this
// kind are left out, as if the process had not called fsync.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (real == NULL) *(void**)(&real) = dlsym(RTLD_NEXT, #name)

static atomic_int number;

static int OpenInJournal(const char* name) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", getenv("TAMIS_DISK_JOURNAL"), name);
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

static void Line(const char* format, ...) {
  char line[4096];
  va_list values;
  va_start(values, format);
  const int n = vsnprintf(line, sizeof(line), format, values);
  va_end(values);
  const char* const lose = getenv("TAMIS_DISK_LOSE");
  const size_t word = strcspn(line, " \n");
  if (lose != NULL && strlen(lose) == word && memcmp(lose, line, word) == 0) return;
  const int fd = OpenInJournal("journal");
  syscall(SYS_write, fd, line, n);
  syscall(SYS_close, fd);
}

// Returns the inode number of an open regular file, and 0 for anything else.
static unsigned long FileOf(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return (unsigned long)status.st_ino;
}

// Copies the contents of the file. Opens another descriptor, because `fd` may be open for writing
// only.
static void Contents(int fd) {
  const unsigned long file = FileOf(fd);
  if (file == 0) return;
  char path[64], name[32], block[65536];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  const int from = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  const int copy = atomic_fetch_add(&number, 1);
  snprintf(name, sizeof(name), "%d.data", copy);
  const int to = OpenInJournal(name);
  long n;
  while ((n = syscall(SYS_read, from, block, sizeof(block))) > 0) syscall(SYS_write, to, block, n);
  syscall(SYS_close, from);
  syscall(SYS_close, to);
  Line("data %lu %d\n", file, copy);
}

static const char* Last(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static int Opened(int fd, const char* path, int flags) {
  if (fd < 0 || (flags & (O_CREAT | O_TRUNC)) == 0 || (flags & O_TMPFILE) == O_TMPFILE) return fd;
  const unsigned long file = FileOf(fd);
  if (file == 0) return fd;
  Line("link %lu %s\n", file, Last(path));
  Contents(fd);
  return fd;
}

#define WRAP_OPEN(name, parameters, arguments)                               \
  int name parameters {                                                      \
    REAL(name);                                                              \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    const mode_t mode = va_arg(rest, mode_t); /* junk if there is no mode */ \
    va_end(rest);                                                            \
    return Opened(real arguments, path, flags);                              \
  }
WRAP_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char* path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int at, const char* path, int flags, ...), (at, path, flags, mode))
WRAP_OPEN(openat64, (int at, const char* path, int flags, ...), (at, path, flags, mode))

ssize_t write(int fd, const void* from, size_t n) {
  REAL(write);
  const ssize_t written = real(fd, from, n);
  Contents(fd);
  return written;
}
ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  REAL(pwrite);
  const ssize_t written = real(fd, from, n, at);
  Contents(fd);
  return written;
}
int ftruncate(int fd, off_t n) {
  REAL(ftruncate);
  const int result = real(fd, n);
  Contents(fd);
  return result;
}
int fsync(int fd) {
  REAL(fsync);
  const int result = real(fd);
  const unsigned long file = FileOf(fd);
  if (result == 0 && file != 0) Line("sync %lu\n", file);
  if (result == 0 && file == 0) Line("syncdir\n");
  return result;
}
int fdatasync(int fd) { return fsync(fd); }
int linkat(int a, const char* from, int b, const char* to, int flags) {
  REAL(linkat);
  const int result = real(a, from, b, to, flags);
  struct stat status;
  if (result == 0 && fstatat(b, to, &status, 0) == 0) {
    Line("link %lu %s\n", (unsigned long)status.st_ino, Last(to));
  }
  return result;
}
int renameat(int a, const char* from, int b, const char* to) {
  REAL(renameat);
  const int result = real(a, from, b, to);
  if (result == 0) Line("rename %s %s\n", Last(from), Last(to));
  return result;
}
int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
int unlinkat(int at, const char* path, int flags) {
  REAL(unlinkat);
  const int result = real(at, path, flags);
  if (result == 0) Line("unlink %s\n", Last(path));
  return result;
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
