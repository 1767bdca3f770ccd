#define _GNU_SOURCE
#include "fault_shim.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

enum Kind {
  kAlloc,
  kOpen,
  kRead,
  kPread,
  kWrite,
  kPwrite,
  kFsync,
  kSyncfs,
  kRename,
  kLink,
  kUnlink,
  kMmap,
  kFtruncate,
  kStat,
  kAccess,
  kFlock,
  kChmod,
  kXattr,
  kAdvise,
  kPoll,
  kClose,
  kThread,
  kSeek,
  kFopen,
  kSocket,
  kConnect,
  kResolve,
  kSockopt,
  kFcntl,
  kReaddir,
  kNumKinds,
  kAny
};
static const char* const kKinds[kNumKinds] = {
    "alloc",  "open",    "read",    "pread",   "write",     "pwrite", "fsync",  "syncfs",
    "rename", "link",    "unlink",  "mmap",    "ftruncate", "stat",   "access", "flock",
    "chmod",  "xattr",   "advise",  "poll",    "close",     "thread", "seek",   "fopen",
    "socket", "connect", "resolve", "sockopt", "fcntl",     "readdir"};

enum What { kGoOn, kFail, kShort, kSwallow, kKill, kKillAfter };

static int fault_kind;
static long fault_n;
static enum What fault_what;
static int fault_errno;
static int fault_sticky;
static atomic_int armed;
static atomic_long calls;
static const char* _Atomic happened;
static atomic_int refuse_unnamed;
static atomic_int leak_one;
static atomic_long live_blocks;
static atomic_long mapped_bytes;

static void Note(const char* name) {
  const char* const log = getenv("TAMIS_FAULT_LOG");
  if (log == NULL) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  syscall(SYS_write, fd, name, strlen(name));
  syscall(SYS_write, fd, "\n", 1);
  syscall(SYS_close, fd);
}

static void Kill(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); }

// Decides the action for this call. Sets errno for kFail.
static enum What Next(int kind, const char* name) {
  if (!atomic_load(&armed)) return kGoOn;
  if (fault_kind != kind && (fault_kind != kAny || kind == kAlloc)) return kGoOn;
  const long call = atomic_fetch_add(&calls, 1) + 1;
  if (call < fault_n || (call > fault_n && !fault_sticky)) return kGoOn;
  const int error = errno;
  if (call == fault_n) {
    atomic_store(&happened, name);
    Note(name);
  }
  if (fault_what == kKill) Kill();
  errno = fault_what == kFail ? fault_errno : error;
  return fault_what;
}

static void After(enum What what) {
  if (what == kKillAfter) Kill();
}

int tamis_fault_arm(const char* fault) {
  const char* const colon = strchr(fault, ':');
  if (colon == NULL) return 0;
  const size_t length = (size_t)(colon - fault);
  fault_kind = -1;
  for (int kind = 0; kind < kNumKinds; ++kind) {
    if (strlen(kKinds[kind]) == length && memcmp(kKinds[kind], fault, length) == 0) {
      fault_kind = kind;
    }
  }
  if (length == 3 && memcmp("any", fault, length) == 0) fault_kind = kAny;
  char* end;
  fault_n = strtol(colon + 1, &end, 10);
  if (fault_kind < 0 || fault_n < 1 || *end != ':') return 0;
  const char* const what = end + 1;
  fault_sticky = 0;
  if (strcmp(what, "short") == 0) {
    fault_what = kShort;
  } else if (strcmp(what, "swallow") == 0) {
    fault_what = kSwallow;
  } else if (strcmp(what, "kill") == 0) {
    fault_what = kKill;
  } else if (strcmp(what, "kill-after") == 0) {
    fault_what = kKillAfter;
  } else {
    fault_what = kFail;
    fault_errno = (int)strtol(what, &end, 10);
    if (fault_errno <= 0) return 0;
    fault_sticky = *end == '+';
  }
  atomic_store(&happened, NULL);
  atomic_store(&calls, 0);
  atomic_store(&armed, 1);
  return 1;
}

const char* tamis_fault_disarm(void) {
  atomic_store(&armed, 0);
  const char* const name = atomic_load(&happened);
  return name == NULL ? "" : name;
}

void tamis_fault_refuse_unnamed(int refuse) { atomic_store(&refuse_unnamed, refuse); }
void tamis_fault_leak(void) { atomic_store(&leak_one, 1); }
long tamis_fault_live_blocks(void) { return atomic_load(&live_blocks); }
long tamis_fault_mapped_bytes(void) { return atomic_load(&mapped_bytes); }

// Loads the next definition of a function, which is the C library's.
#define REAL(name)               \
  static __typeof__(&name) real; \
  if (real == NULL) *(void**)(&real) = dlsym(RTLD_NEXT, #name)

// The main of the process into which this library is preloaded.
static int (*real_main)(int, char**, char**);

static int Main(int argc, char** argv, char** environment) {
  const char* const fault = getenv("TAMIS_FAULT");
  if (getenv("TAMIS_FAULT_NAMED") != NULL) tamis_fault_refuse_unnamed(1);
  if (fault != NULL && !tamis_fault_arm(fault)) {
    fprintf(stderr, "TAMIS_FAULT: \"%s\" is no fault\n", fault);
    exit(125);
  }
  const int status = real_main(argc, argv, environment);
  atomic_store(&armed, 0);
  return status;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end);
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  REAL(__libc_start_main);
  real_main = main;
  return real(Main, argc, argv, init, fini, rtld_fini, stack_end);
}

// Memory. dlsym allocates memory, so the C library's functions are called by their other names.
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* p);

static void* Counted(void* p) {
  if (p != NULL) atomic_fetch_add(&live_blocks, 1);
  return p;
}

void* malloc(size_t bytes) {
  if (Next(kAlloc, "malloc") == kFail) return NULL;
  return Counted(__libc_malloc(bytes));
}

void* calloc(size_t n, size_t bytes) {
  if (Next(kAlloc, "calloc") == kFail) return NULL;
  return Counted(__libc_calloc(n, bytes));
}

void* realloc(void* p, size_t bytes) {
  if (Next(kAlloc, "realloc") == kFail) return NULL;
  void* const moved = __libc_realloc(p, bytes);
  if (p == NULL) return Counted(moved);
  if (moved == NULL && bytes == 0) atomic_fetch_sub(&live_blocks, 1);
  return moved;
}

void* memalign(size_t alignment, size_t bytes) {
  if (Next(kAlloc, "memalign") == kFail) return NULL;
  return Counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  const int error = errno;
  *out = memalign(alignment, bytes);
  errno = error;
  return *out == NULL ? ENOMEM : 0;
}

void free(void* p) {
  if (p == NULL) return;
  if (atomic_load(&leak_one) && atomic_exchange(&leak_one, 0)) return;
  atomic_fetch_sub(&live_blocks, 1);
  __libc_free(p);
}

// Defines a function of the C library that calls the original unless the fault is due.
#define WRAP(kind, result, failure, name, parameters, arguments) \
  result name parameters {                                       \
    REAL(name);                                                  \
    const enum What what = Next(kind, #name);                    \
    if (what == kFail) return failure;                           \
    if (what == kSwallow) return 0;                              \
    const result value = real arguments;                         \
    After(what);                                                 \
    return value;                                                \
  }

// `asked` is the number of bytes, which can be reduced.
#define WRAP_BYTES(kind, name, parameters, arguments, asked) \
  ssize_t name parameters {                                  \
    REAL(name);                                              \
    const enum What what = Next(kind, #name);                \
    if (what == kFail) return -1;                            \
    if (what == kSwallow) return (ssize_t)asked;             \
    if (what == kShort && asked > 1) asked = asked / 3 + 1;  \
    const ssize_t value = real arguments;                    \
    After(what);                                             \
    return value;                                            \
  }

#define WRAP_OPEN(name, parameters, arguments)                               \
  int name parameters {                                                      \
    REAL(name);                                                              \
    va_list rest;                                                            \
    va_start(rest, flags);                                                   \
    const mode_t mode = va_arg(rest, mode_t); /* junk if there is no mode */ \
    va_end(rest);                                                            \
    if ((flags & O_TMPFILE) == O_TMPFILE && atomic_load(&refuse_unnamed)) {  \
      errno = EOPNOTSUPP;                                                    \
      return -1;                                                             \
    }                                                                        \
    const enum What what = Next(kOpen, #name);                               \
    if (what == kFail) return -1;                                            \
    const int fd = real arguments;                                           \
    After(what);                                                             \
    return fd;                                                               \
  }

WRAP_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
WRAP_OPEN(open64, (const char* path, int flags, ...), (path, flags, mode))
WRAP_OPEN(openat, (int at, const char* path, int flags, ...), (at, path, flags, mode))
WRAP_OPEN(openat64, (int at, const char* path, int flags, ...), (at, path, flags, mode))

WRAP_BYTES(kRead, read, (int fd, void* to, size_t n), (fd, to, n), n)
WRAP_BYTES(kPread, pread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at), n)
WRAP_BYTES(kPread, pread64, (int fd, void* to, size_t n, off64_t at), (fd, to, n, at), n)
WRAP_BYTES(kWrite, write, (int fd, const void* from, size_t n), (fd, from, n), n)
WRAP_BYTES(kPwrite, pwrite, (int fd, const void* from, size_t n, off_t at), (fd, from, n, at), n)
WRAP_BYTES(kPwrite, pwrite64, (int fd, const void* from, size_t n, off64_t at), (fd, from, n, at),
           n)

WRAP(kFsync, int, -1, fsync, (int fd), (fd))
WRAP(kFsync, int, -1, fdatasync, (int fd), (fd))
WRAP(kSyncfs, int, -1, syncfs, (int fd), (fd))
WRAP(kRename, int, -1, rename, (const char* from, const char* to), (from, to))
WRAP(kLink, int, -1, linkat, (int a, const char* from, int b, const char* to, int flags),
     (a, from, b, to, flags))
WRAP(kUnlink, int, -1, unlink, (const char* path), (path))
WRAP(kUnlink, int, -1, unlinkat, (int at, const char* path, int flags), (at, path, flags))
WRAP(kFtruncate, int, -1, ftruncate, (int fd, off_t n), (fd, n))
WRAP(kStat, int, -1, stat, (const char* path, struct stat* out), (path, out))
WRAP(kStat, int, -1, lstat, (const char* path, struct stat* out), (path, out))
WRAP(kStat, int, -1, fstat, (int fd, struct stat* out), (fd, out))
WRAP(kStat, int, -1, fstatat, (int at, const char* path, struct stat* out, int flags),
     (at, path, out, flags))
WRAP(kAccess, int, -1, access, (const char* path, int mode), (path, mode))
WRAP(kAccess, int, -1, faccessat, (int at, const char* path, int mode, int flags),
     (at, path, mode, flags))
WRAP(kFlock, int, -1, flock, (int fd, int operation), (fd, operation))
WRAP(kChmod, int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(kChmod, int, -1, fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
WRAP(kXattr, ssize_t, -1, getxattr, (const char* path, const char* name, void* to, size_t n),
     (path, name, to, n))
WRAP(kXattr, int, -1, fsetxattr, (int fd, const char* name, const void* from, size_t n, int flags),
     (fd, name, from, n, flags))
WRAP(kXattr, int, -1, fremovexattr, (int fd, const char* name), (fd, name))
WRAP(kAdvise, int, -1, madvise, (void* begin, size_t n, int advice), (begin, n, advice))
WRAP(kAdvise, int, errno, posix_fadvise, (int fd, off_t at, off_t n, int advice),
     (fd, at, n, advice))
WRAP(kPoll, int, -1, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
WRAP(kSeek, off_t, -1, lseek, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(kThread, int, errno, pthread_create,
     (pthread_t * thread, const pthread_attr_t* how, void* (*run)(void*), void* with),
     (thread, how, run, with))

WRAP(kSocket, int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(kConnect, int, -1, connect, (int fd, const struct sockaddr* to, socklen_t n), (fd, to, n))
WRAP(kSockopt, int, -1, setsockopt, (int fd, int level, int name, const void* from, socklen_t n),
     (fd, level, name, from, n))
WRAP(kSockopt, int, -1, getsockopt,
     (int fd, int level, int name, void* restrict to, socklen_t* restrict n),
     (fd, level, name, to, n))
WRAP(kResolve, int, EAI_SYSTEM, getaddrinfo,
     (const char* restrict host, const char* restrict service,
      const struct addrinfo* restrict hints, struct addrinfo** restrict out),
     (host, service, hints, out))

// All commands of fcntl have an argument of one word, or none.
int fcntl(int fd, int command, ...) {
  REAL(fcntl);
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  const enum What what = Next(kFcntl, "fcntl");
  if (what == kFail) return -1;
  const int value = real(fd, command, argument);
  After(what);
  return value;
}

// The seeded defect of TAMIS_FAULT_COPY: replaces a file piece by piece, like cp.
static int CopyInstead(int a, const char* from, int b, const char* to) {
  const int in = openat(a, from, O_RDONLY), out = openat(b, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char piece[1024];
  ssize_t n;
  while ((n = read(in, piece, sizeof(piece))) > 0) {
    if (write(out, piece, (size_t)n) != n) break;
  }
  close(in);
  close(out);
  return unlinkat(a, from, 0);
}

int renameat(int a, const char* from, int b, const char* to) {
  REAL(renameat);
  if (getenv("TAMIS_FAULT_COPY") != NULL) return CopyInstead(a, from, b, to);
  const enum What what = Next(kRename, "renameat");
  if (what == kFail) return -1;
  if (what == kSwallow) return 0;
  const int value = real(a, from, b, to);
  After(what);
  return value;
}

// The file is closed even after a failure.
int close(int fd) {
  REAL(close);
  const enum What what = Next(kClose, "close");
  if (what == kSwallow) return 0;
  const int error = errno;
  const int value = real(fd);
  After(what);
  if (what != kFail) return value;
  errno = error;
  return -1;
}

FILE* fopen(const char* path, const char* mode) {
  REAL(fopen);
  return Next(kFopen, "fopen") == kFail ? NULL : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  REAL(fopen64);
  return Next(kFopen, "fopen64") == kFail ? NULL : real(path, mode);
}

struct dirent* readdir(DIR* folder) {
  REAL(readdir);
  return Next(kReaddir, "readdir") == kFail ? NULL : real(folder);
}
struct dirent64* readdir64(DIR* folder) {
  REAL(readdir64);
  return Next(kReaddir, "readdir64") == kFail ? NULL : real(folder);
}

static long Pages(size_t bytes) { return (long)((bytes + 4095) / 4096 * 4096); }

void* mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
  REAL(mmap);
  const enum What what = Next(kMmap, "mmap");
  if (what == kFail) return MAP_FAILED;
  void* const map = real(at, n, protection, flags, fd, offset);
  if (map != MAP_FAILED) atomic_fetch_add(&mapped_bytes, Pages(n));
  After(what);
  return map;
}
void* mmap64(void* at, size_t n, int protection, int flags, int fd, off64_t offset) {
  return mmap(at, n, protection, flags, fd, offset);
}
int munmap(void* at, size_t n) {
  REAL(munmap);
  const int value = real(at, n);
  if (value == 0) atomic_fetch_sub(&mapped_bytes, Pages(n));
  return value;
}
