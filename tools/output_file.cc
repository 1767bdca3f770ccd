#include "tools/output_file.h"

#include <tamis/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/progress.h"

namespace tamis::tools {

namespace fs = std::filesystem;

void CheckOutputPath(const std::string& path) {
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorCode::kIo, "cannot save to " + path + ": " + reason);
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail("it is a directory");
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("it is not a regular file");
  const fs::path name(path);
  if (!name.has_filename()) fail("it is not the name of a file");
  const fs::path folder = name.has_parent_path() ? name.parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail("folder " + folder.string() + ": " + std::strerror(errno));
  }
}

void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code missing;  // a file that does not exist is not an input
  for (const std::string& input : inputs) {
    if (input != "-" && fs::equivalent(path, input, missing)) {
      throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also an input");
    }
  }
}

void SaveFilter(const Filter& filter, const std::string& path, bool quiet) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path);
}

}  // namespace tamis::tools
