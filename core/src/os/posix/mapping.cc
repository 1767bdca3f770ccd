#include "core/src/os/mapping.h"

#include <sys/mman.h>

#include <limits>

#include "core/src/os/io_error.h"

namespace tamis::os {

Mapping::Mapping(const File& file, uint64_t bytes) {
  if (bytes > std::numeric_limits<size_t>::max()) ThrowIoError(file.path(), "map", EFBIG);
  void* const map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, static_cast<int>(file.handle()), 0);
  if (map == MAP_FAILED) ThrowIoError(file.path(), "map");
  bytes_ = {static_cast<const std::byte*>(map), static_cast<size_t>(bytes)};
}

void Mapping::AdviseSequential() const noexcept {
  madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_SEQUENTIAL);
}

void Mapping::Unmap(std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace tamis::os
