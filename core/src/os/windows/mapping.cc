#include "core/src/os/mapping.h"

#include <limits>

#include "core/src/os/io_error.h"
#include "core/src/os/windows/win32.h"

namespace tamis::os {

// While a view exists, Windows neither replaces nor deletes the file.
Mapping::Mapping(const std::deque<File>& files, [[maybe_unused]] uint64_t part_bytes,
                 uint64_t bytes) {
  const File& file = files.front();
  if (files.size() > 1) {
    throw Error(ErrorCode::kUnsupported,
                TextOf(file.path()) +
                    ": shards cannot be mapped on Windows: load them, or join them to one file");
  }
  if (bytes > std::numeric_limits<size_t>::max()) ThrowIoError(file.path(), "map", EFBIG);
  const HANDLE section = CreateFileMappingW(reinterpret_cast<HANDLE>(file.handle()), nullptr,
                                            PAGE_READONLY, 0, 0, nullptr);
  const void* const view =
      section == nullptr ? nullptr
                         : MapViewOfFile(section, FILE_MAP_READ, 0, 0, static_cast<size_t>(bytes));
  if (view == nullptr) SetErrno();
  if (section != nullptr) CloseHandle(section);  // the view keeps it
  if (view == nullptr) ThrowIoError(file.path(), "map");
  bytes_ = {static_cast<const std::byte*>(view), static_cast<size_t>(bytes)};
}

void Mapping::AdviseSequential() const noexcept {}

void Mapping::Unmap(std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) UnmapViewOfFile(bytes.data());
}

}  // namespace tamis::os
