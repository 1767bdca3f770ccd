// Shared code of the fuzz targets for files.
#ifndef TAMIS_TESTS_FUZZ_MEMORY_FILE_H_
#define TAMIS_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tamis {

using Bytes = std::vector<uint8_t>;

inline void Require(bool condition) {
  if (!condition) __builtin_trap();
}

// A file in memory, whose name exists as long as the process.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("input", MFD_CLOEXEC)) { Require(fd_ >= 0); }

  std::string Write(const Bytes& bytes) {
    Require(ftruncate(fd_, 0) == 0);
    const auto size = static_cast<ssize_t>(bytes.size());
    Require(pwrite(fd_, bytes.data(), bytes.size(), 0) == size);
    return "/proc/self/fd/" + std::to_string(fd_);
  }

 private:
  int fd_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_FUZZ_MEMORY_FILE_H_
