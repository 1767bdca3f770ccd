#include "tamis/file/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "tamis/error.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

using Extensions = std::initializer_list<std::string_view>;

bool HasExtension(const fs::path& path, Extensions extensions) {
  std::string extension = path.extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

bool LeadsNowhere(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::too_many_symbolic_link_levels;
}

// Finds all files below a folder, also through links. If it left out a file, queries would miss the
// keys in it.
class FolderWalk {
 public:
  explicit FolderWalk(Extensions extensions) : extensions_(extensions) {}

  std::vector<fs::path> Walk(const fs::path& top) {
    Enter(top);
    while (!folders_.empty()) {
      const fs::path folder = std::move(folders_.back());
      folders_.pop_back();
      Look(folder);
    }
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  // Enters each folder once, however it is reached: a link may lead to a folder that contains it.
  void Enter(const fs::path& folder) {
    struct stat status = {};
    if (stat(folder.c_str(), &status) != 0) Fail(folder, errno);
    if (entered_.emplace(status.st_dev, status.st_ino).second) folders_.push_back(folder);
  }

  struct Entry {
    std::string name;
    unsigned char type;  // DT_UNKNOWN if the file system does not report it
  };

  // Does not use directory_iterator, which ends the process in libstdc++ 12 if memory runs out.
  static std::vector<Entry> EntriesOf(const fs::path& folder) {
    int fd = -1;
    do {
      fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) Fail(folder, errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> open_folder(fdopendir(fd), closedir);
    if (open_folder == nullptr) {
      const int error = errno;
      close(fd);
      Fail(folder, error);
    }
    std::vector<Entry> entries;
    errno = 0;
    while (const dirent* const entry = readdir(open_folder.get())) {
      if (entry->d_name[0] != '.') entries.push_back({entry->d_name, entry->d_type});
      errno = 0;
    }
    if (errno != 0) Fail(folder, errno);
    return entries;
  }

  void Look(const fs::path& folder) {
    std::vector<fs::path> links;
    for (const Entry& entry : EntriesOf(folder)) {
      const fs::path path = folder / entry.name;
      std::error_code unknown;
      const bool is_folder =
          entry.type == DT_DIR || (entry.type != DT_REG && fs::is_directory(path, unknown));
      if (!is_folder) {
        // If the type is unknown, a path with the extension is added, and opening it will report an
        // error. Dead links are ignored. All other errors are reported here, since the path may be
        // a folder.
        if (HasExtension(path, extensions_)) {
          files_.push_back(path);
        } else if (unknown && !LeadsNowhere(unknown)) {
          Fail(path, unknown.value());
        }
      } else if (entry.type != DT_DIR && fs::is_symlink(path, unknown)) {
        links.push_back(path);
      } else {
        Enter(path);
      }
    }
    std::sort(links.begin(), links.end());
    for (const fs::path& link : links) Enter(link);
  }

  [[noreturn]] static void Fail(const fs::path& folder, int error) {
    throw Error(ErrorCode::kIo,
                folder.string() + ": cannot be read: " + std::generic_category().message(error));
  }

  Extensions extensions_;
  std::set<std::pair<dev_t, ino_t>> entered_;
  std::vector<fs::path> folders_;
  std::vector<fs::path> files_;
};

}  // namespace

std::vector<fs::path> FilesOf(const std::vector<fs::path>& given, Extensions extensions) {
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      const std::vector<fs::path> below = FolderWalk(extensions).Walk(path);
      files.insert(files.end(), below.begin(), below.end());
    } else {
      files.push_back(path);
    }
  }
  if (files.empty()) {
    std::string names;
    for (const std::string_view extension : extensions) {
      names += (names.empty() ? "" : " or ") + std::string(extension);
    }
    throw Error(ErrorCode::kInvalidArgument, "no file whose name ends in " + names);
  }
  return files;
}

}  // namespace tamis
