#include "core/src/os/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/src/os/io_error.h"
#include "core/src/os/posix/descriptor.h"

namespace tamis::os {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds WrittenAt(const struct stat& status) {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  constexpr seconds kLatest = std::chrono::floor<seconds>(nanoseconds::max()) - seconds(1);
  return std::clamp(seconds(time.tv_sec), -kLatest, kLatest) + nanoseconds(time.tv_nsec);
}

FileStatus StatusFrom(const struct stat& status) {
  const FileType type = S_ISREG(status.st_mode)   ? FileType::kRegular
                        : S_ISDIR(status.st_mode) ? FileType::kFolder
                                                  : FileType::kOther;
  return {type,
          {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)},
          static_cast<uint64_t>(status.st_size),
          WrittenAt(status)};
}

}  // namespace

std::optional<FileStatus> StatusOf(const fs::path& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    ThrowIoError(path, "read its status");
  }
  return StatusFrom(status);
}

File::File(fs::path path)
    : path_(std::move(path)),
      handle_(Retry([&] { return open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
  if (handle_ < 0) ThrowIoError(path_, "open");
}

File::~File() { close(static_cast<int>(handle_)); }

FileStatus File::Status() const {
  struct stat status;
  if (fstat(static_cast<int>(handle_), &status) != 0) ThrowIoError(path_, "read its status");
  return StatusFrom(status);
}

size_t File::ReadSome(std::span<std::byte> out, uint64_t offset) const {
  const ssize_t n = Retry([&] {
    return pread(static_cast<int>(handle_), out.data(), out.size(), static_cast<off_t>(offset));
  });
  if (n < 0) ThrowIoError(path_, "read");
  return static_cast<size_t>(n);
}

}  // namespace tamis::os
