#include "core/src/os/folder.h"

#include <cstdlib>

#include "core/src/os/io_error.h"
#include "core/src/os/windows/win32.h"

namespace tamis::os {
namespace {

FolderEntry::Type TypeOf(DWORD attributes) {
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return FolderEntry::Type::kUnknown;
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return FolderEntry::Type::kFolder;
  return FolderEntry::Type::kRegular;
}

struct Search {
  ~Search() {
    if (handle != INVALID_HANDLE_VALUE) FindClose(handle);
  }

  HANDLE handle;
};

}  // namespace

std::vector<FolderEntry> EntriesOf(const std::filesystem::path& folder) {
  std::vector<FolderEntry> entries;
  WIN32_FIND_DATAW found;
  const Search search{FindFirstFileW((folder / L"*").c_str(), &found)};
  bool more = search.handle != INVALID_HANDLE_VALUE;
  while (more) {
    if (found.cFileName[0] != L'.') {
      entries.push_back({found.cFileName, TypeOf(found.dwFileAttributes)});
    }
    more = FindNextFileW(search.handle, &found);
  }
  // An empty volume has this other error: its root has no entries "." and "..".
  const DWORD error = GetLastError();
  if (error != ERROR_NO_MORE_FILES && error != ERROR_FILE_NOT_FOUND) {
    SetErrno(error);
    ThrowIoError(folder, "read the folder");
  }
  return entries;
}

const char* const kNoCacheFolder = "LOCALAPPDATA is not set to an absolute path";

std::filesystem::path CacheFolder() {
  const wchar_t* const value = _wgetenv(L"LOCALAPPDATA");
  const std::filesystem::path path = value == nullptr ? L"" : value;
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace tamis::os
