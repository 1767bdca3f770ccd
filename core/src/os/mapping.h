// A file in memory.
#ifndef TAMIS_CORE_SRC_OS_MAPPING_H_
#define TAMIS_CORE_SRC_OS_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/src/os/file.h"

namespace tamis::os {

// Read-only memory that shows the contents of a file. Unmaps them on destruction. The file may be
// closed while it is mapped.
class Mapping {
 public:
  Mapping() = default;
  // Maps the first `bytes` bytes, at least 1. Throws Error(kIo).
  Mapping(const File& file, uint64_t bytes);
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
