// The entries of a folder.
#ifndef TAMIS_CORE_SRC_OS_FOLDER_H_
#define TAMIS_CORE_SRC_OS_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tamis::os {

struct FolderEntry {
  // kUnknown: a link, something else, or the file system does not report the type.
  enum class Type : uint8_t { kRegular, kFolder, kUnknown };

  std::filesystem::path name;
  Type type = Type::kUnknown;
};

// Returns all entries whose names do not begin with a dot, in any order. Throws Error(kIo).
// std::filesystem::directory_iterator of libstdc++ 12 ends the process if memory runs out.
std::vector<FolderEntry> EntriesOf(const std::filesystem::path& folder);

// Returns the folder for files that programs can make again, or an empty path if the environment
// names none: $XDG_CACHE_HOME or $HOME/.cache, and %LOCALAPPDATA% on Windows.
std::filesystem::path CacheFolder();
// The reason to show if CacheFolder() is empty.
extern const char* const kNoCacheFolder;

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_FOLDER_H_
