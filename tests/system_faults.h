// Lets tests make system calls fail.
#ifndef TAMIS_TESTS_SYSTEM_FAULTS_H_
#define TAMIS_TESTS_SYSTEM_FAULTS_H_

#include <sys/types.h>

#include <functional>
#include <optional>

namespace tamis {

// While an object of this class exists, the library's system calls first call its functions. Each
// returns the errno with which the call fails, or 0 to let it continue. The linker prefers the
// definitions in system_faults.cc to those of the C library.
struct SystemFaults {
  SystemFaults();
  SystemFaults(const SystemFaults&) = delete;
  SystemFaults& operator=(const SystemFaults&) = delete;
  ~SystemFaults();

  std::function<int(int flags)> openat;
  // Called after the file was opened.
  std::function<void(int flags)> opened;
  std::function<int()> linkat;
  std::function<int(int fd)> flock;
  std::function<int(int fd)> fsync;
  std::function<int()> stat, lstat;
  // Returns the result of write, -1 with errno set for an error; nullopt lets write continue.
  std::function<std::optional<ssize_t>()> write;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_SYSTEM_FAULTS_H_
