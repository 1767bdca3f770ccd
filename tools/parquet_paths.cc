#include "tools/parquet_paths.h"

#include <tamis/error.h>

#include <algorithm>
#include <system_error>

#include "tools/format.h"

namespace tamis::tools {
namespace {

namespace fs = std::filesystem;

void AddFolder(const fs::path& folder, std::vector<fs::path>& files) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    const bool hidden = path.filename().native().starts_with('.');
    if (at->is_directory(error)) {
      if (hidden) at.disable_recursion_pending();
    } else if (!error && !hidden &&
               (path.extension() == ".parquet" || path.extension() == ".parq")) {
      found.push_back(path);
    }
    if (error) break;
  }
  if (error) {
    throw Error(ErrorCode::kIo, Quoted(folder.string()) + ": cannot be read: " + error.message());
  }
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

}  // namespace

std::vector<fs::path> ParquetPaths(const std::vector<std::string>& given) {
  std::vector<fs::path> files;
  for (const std::string& path : given) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      AddFolder(path, files);
    } else {
      files.emplace_back(path);
    }
  }
  if (files.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no file whose name ends in .parquet or .parq");
  }
  return files;
}

}  // namespace tamis::tools
