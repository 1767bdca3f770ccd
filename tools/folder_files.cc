#include "tools/folder_files.h"

#include <sys/stat.h>
#include <tamis/error.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "tools/format.h"

namespace tamis::tools {
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

// The files below a folder, also where links lead to: a file that is left out would be taken for
// one without the keys.
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
  // Once, whatever leads there: a link may lead to a folder that it is in.
  void Enter(const fs::path& folder) {
    struct stat status = {};
    if (stat(folder.c_str(), &status) != 0) Fail(folder, std::generic_category().message(errno));
    if (entered_.emplace(status.st_dev, status.st_ino).second) folders_.push_back(folder);
  }

  void Look(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> links;
    fs::directory_iterator at(folder, error);
    while (error == std::errc::interrupted) at = fs::directory_iterator(folder, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      if (path.filename().native().starts_with('.')) continue;
      std::error_code unknown;
      if (!at->is_directory(unknown)) {
        // A link to nowhere may still have been one to a file, and any other to a folder.
        if (HasExtension(path, extensions_)) {
          files_.push_back(path);
        } else if (unknown && !LeadsNowhere(unknown)) {
          Fail(path, unknown.message());
        }
      } else if (at->is_symlink(unknown)) {
        links.push_back(path);
      } else {
        Enter(path);
      }
    }
    if (error) Fail(folder, error.message());
    std::sort(links.begin(), links.end());
    for (const fs::path& link : links) Enter(link);
  }

  [[noreturn]] static void Fail(const fs::path& folder, const std::string& why) {
    throw Error(ErrorCode::kIo, Quoted(folder.string()) + ": cannot be read: " + why);
  }

  Extensions extensions_;
  std::set<std::pair<dev_t, ino_t>> entered_;
  std::vector<fs::path> folders_;
  std::vector<fs::path> files_;
};

}  // namespace

std::vector<fs::path> FilesOf(const std::vector<std::string>& given, Extensions extensions) {
  std::vector<fs::path> files;
  for (const std::string& path : given) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      const std::vector<fs::path> below = FolderWalk(extensions).Walk(path);
      files.insert(files.end(), below.begin(), below.end());
    } else {
      files.emplace_back(path);
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

}  // namespace tamis::tools
