#include "tamis/file/folder.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "core/src/os/file.h"
#include "core/src/os/folder.h"
#include "core/src/os/io_error.h"
#include "core/src/os/path_text.h"
#include "tamis/error.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

using Extensions = std::initializer_list<std::string_view>;

bool HasExtension(const fs::path& path, Extensions extensions) {
  std::string name = os::TextOf(path.filename());
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view extension) { return name.ends_with(extension); });
}

bool LeadsNowhere(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::too_many_symbolic_link_levels;
}

// Finds all files below a folder. Follows links. No file may be left out, because queries would
// miss its keys.
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
    const std::optional<os::FileStatus> status = os::StatusOf(folder);
    if (!status) os::ThrowIoError(folder, "read the folder", ENOENT);
    if (entered_.insert(status->identity).second) folders_.push_back(folder);
  }

  void Look(const fs::path& folder) {
    using Type = os::FolderEntry::Type;
    std::vector<fs::path> links;
    for (const os::FolderEntry& entry : os::EntriesOf(folder)) {
      const fs::path path = folder / entry.name;
      std::error_code unknown;
      const bool is_folder = entry.type == Type::kFolder ||
                             (entry.type == Type::kUnknown && fs::is_directory(path, unknown));
      if (!is_folder) {
        // If the type is unknown, a path with the extension is added, and opening it will report an
        // error. Dead links are ignored. All other errors are reported here, because the path may
        // be a folder.
        if (HasExtension(path, extensions_)) {
          files_.push_back(path);
        } else if (unknown && !LeadsNowhere(unknown)) {
          os::ThrowIoError(path, "read", unknown.value());
        }
      } else if (entry.type != Type::kFolder && fs::is_symlink(path, unknown)) {
        links.push_back(path);
      } else {
        Enter(path);
      }
    }
    std::sort(links.begin(), links.end());
    for (const fs::path& link : links) Enter(link);
  }

  Extensions extensions_;
  std::set<os::FileIdentity> entered_;
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
