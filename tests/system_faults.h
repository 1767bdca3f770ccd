// System calls that fail when a test wants them to.
#ifndef TAMIS_TESTS_SYSTEM_FAULTS_H_
#define TAMIS_TESTS_SYSTEM_FAULTS_H_

#include <sys/types.h>

#include <functional>
#include <optional>

namespace tamis {

// As long as one of these is there, calls that the library makes ask it first: what it returns is
// the error that they fail with, 0 for none. The linker takes the definitions in system_faults.cc
// before those of the C library.
struct SystemFaults {
  SystemFaults();
  SystemFaults(const SystemFaults&) = delete;
  SystemFaults& operator=(const SystemFaults&) = delete;
  ~SystemFaults();

  std::function<int(int flags)> openat;
  std::function<int()> linkat;
  std::function<int(int fd)> fsync;
  std::function<int()> stat, lstat;
  // What it returns instead of writing, -1 with errno set; nothing: goes on.
  std::function<std::optional<ssize_t>()> write;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_SYSTEM_FAULTS_H_
