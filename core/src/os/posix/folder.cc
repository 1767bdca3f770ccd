#include "core/src/os/folder.h"

#include <dirent.h>

#include <cstdlib>
#include <memory>

#include "core/src/os/io_error.h"
#include "core/src/os/posix/descriptor.h"

namespace tamis::os {

std::vector<FolderEntry> EntriesOf(const std::filesystem::path& folder) {
  const auto fail = [&](int error = errno) { ThrowIoError(folder, "read the folder", error); };
  const int fd = Retry([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) fail();
  const std::unique_ptr<DIR, int (*)(DIR*)> open_folder(fdopendir(fd), closedir);
  if (open_folder == nullptr) {
    const int error = errno;
    close(fd);
    fail(error);
  }
  std::vector<FolderEntry> entries;
  errno = 0;
  while (const dirent* const entry = readdir(open_folder.get())) {
    const auto type = entry->d_type == DT_REG   ? FolderEntry::Type::kRegular
                      : entry->d_type == DT_DIR ? FolderEntry::Type::kFolder
                                                : FolderEntry::Type::kUnknown;
    if (entry->d_name[0] != '.') entries.push_back({entry->d_name, type});
    errno = 0;
  }
  if (errno != 0) fail();
  return entries;
}

const char* const kNoCacheFolder = "neither XDG_CACHE_HOME nor HOME is set to an absolute path";

// Relative paths must be ignored: freedesktop.org, XDG Base Directory Specification.
std::filesystem::path CacheFolder() {
  const auto folder = [](const char* variable) {
    const char* const value = std::getenv(variable);
    const std::filesystem::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : std::filesystem::path();
  };
  const std::filesystem::path cache = folder("XDG_CACHE_HOME");
  if (!cache.empty() || folder("HOME").empty()) return cache;
  return folder("HOME") / ".cache";
}

}  // namespace tamis::os
