#include "core/src/os/mapping.h"

#include <sys/mman.h>

#include <cerrno>
#include <limits>

#include "core/src/os/io_error.h"

namespace tamis::os {

Mapping::Mapping(const std::deque<File>& files, uint64_t part_bytes, uint64_t bytes) {
  const std::filesystem::path& path = files.front().path();
  if (bytes > std::numeric_limits<size_t>::max()) ThrowIoError(path, "map", EFBIG);
  // The system chooses the address of a single file. Several files replace reserved addresses.
  char* begin = nullptr;
  if (files.size() > 1) {
    void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) ThrowIoError(path, "reserve addresses for all shards");
    begin = static_cast<char*>(room);
  }
  uint64_t done = 0;
  for (const File& file : files) {
    const uint64_t n = &file == &files.back() ? bytes - done : part_bytes;
    void* const at = begin == nullptr ? nullptr : begin + done;
    void* const map = mmap(at, n, PROT_READ, MAP_SHARED | (at == nullptr ? 0 : MAP_FIXED),
                           static_cast<int>(file.handle()), 0);
    if (map == MAP_FAILED) {
      const int error = errno;
      // The failed call may have released its addresses. Another thread may have them by now, so
      // they are left alone.
      if (done != 0) munmap(begin, done);
      if (begin != nullptr && done + n < bytes) munmap(begin + done + n, bytes - done - n);
      ThrowIoError(file.path(), "map", error);
    }
    if (done == 0) begin = static_cast<char*>(map);
    done += n;
  }
  bytes_ = {reinterpret_cast<const std::byte*>(begin), static_cast<size_t>(bytes)};
}

void Mapping::AdviseSequential() const noexcept {
  madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_SEQUENTIAL);
}

void Mapping::Unmap(std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace tamis::os
