// A file in memory.
#ifndef TAMIS_CORE_SRC_OS_MAPPING_H_
#define TAMIS_CORE_SRC_OS_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "core/src/os/file.h"

namespace tamis::os {

// Read-only memory that shows the contents of a file, or of several files, one after the other.
// Unmaps them on destruction. The files may be closed while they are mapped.
class Mapping {
 public:
  Mapping() = default;
  // Maps `bytes` bytes, at least 1: the first `part_bytes` bytes of each file but the last, and the
  // rest from the last file. For several files, `part_bytes` must be a multiple of 65,536. Throws
  // Error(kIo), or Error(kUnsupported) if the system cannot map several files.
  Mapping(const std::deque<File>& files, uint64_t part_bytes, uint64_t bytes);
  Mapping(Mapping&& other) noexcept : bytes_(other.Release()) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() { Unmap(bytes_); }

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  // Advises the system that the bytes will be read once, from first to last.
  void AdviseSequential() const noexcept;

  // Gives up ownership: the caller calls Unmap with the result.
  std::span<const std::byte> Release() noexcept { return std::exchange(bytes_, {}); }
  // Does nothing if `bytes` is empty.
  static void Unmap(std::span<const std::byte> bytes) noexcept;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_MAPPING_H_
