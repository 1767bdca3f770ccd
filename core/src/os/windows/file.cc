#include "core/src/os/file.h"

#include <algorithm>
#include <utility>

#include "core/src/os/io_error.h"
#include "core/src/os/windows/win32.h"

namespace tamis::os {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;

// Windows counts ticks of 100 ns since 1601.
using Ticks = std::chrono::duration<int64_t, std::ratio<1, 10'000'000>>;
constexpr Ticks kFrom1601To1970{116'444'736'000'000'000};

uint64_t Joined(DWORD high, DWORD low) { return uint64_t{high} << 32 | low; }

nanoseconds WrittenAt(const FILETIME& time) {
  const auto since_1601 = static_cast<int64_t>(
      std::min<uint64_t>(Joined(time.dwHighDateTime, time.dwLowDateTime), INT64_MAX));
  constexpr Ticks kLatest = std::chrono::floor<Ticks>(nanoseconds::max());
  return std::clamp(Ticks(since_1601) - kFrom1601To1970, -kLatest, kLatest);
}

FileStatus StatusFrom(HANDLE handle, const fs::path& path) {
  if (GetFileType(handle) != FILE_TYPE_DISK) return {};
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle, &info)) {
    SetErrno();
    ThrowIoError(path, "read its status");
  }
  const bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return {folder ? FileType::kFolder : FileType::kRegular,
          {info.dwVolumeSerialNumber, Joined(info.nFileIndexHigh, info.nFileIndexLow)},
          Joined(info.nFileSizeHigh, info.nFileSizeLow),
          WrittenAt(info.ftLastWriteTime)};
}

}  // namespace

std::optional<FileStatus> StatusOf(const fs::path& path) {
  const Handle handle(OpenExisting(path, FILE_READ_ATTRIBUTES));
  if (handle) return StatusFrom(handle.get(), path);
  SetErrno();
  if (errno == ENOENT) return std::nullopt;
  ThrowIoError(path, "read its status");
}

File::File(fs::path path)
    : path_(std::move(path)),
      handle_(reinterpret_cast<intptr_t>(OpenExisting(path_, GENERIC_READ))) {
  if (reinterpret_cast<HANDLE>(handle_) != INVALID_HANDLE_VALUE) return;
  SetErrno();
  ThrowIoError(path_, "open");
}

File::~File() { CloseHandle(reinterpret_cast<HANDLE>(handle_)); }

FileStatus File::Status() const { return StatusFrom(reinterpret_cast<HANDLE>(handle_), path_); }

size_t File::ReadSome(std::span<std::byte> out, uint64_t offset) const {
  constexpr size_t kMost = size_t{1} << 30;
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD n = 0;
  if (ReadFile(reinterpret_cast<HANDLE>(handle_), out.data(),
               static_cast<DWORD>(std::min(out.size(), kMost)), &n, &at)) {
    return n;
  }
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  SetErrno();
  ThrowIoError(path_, "read");
}

}  // namespace tamis::os
