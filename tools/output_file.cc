#include "tools/output_file.h"

#include <sys/stat.h>
#include <tamis/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/progress.h"

namespace tamis::tools {

namespace fs = std::filesystem;

namespace {

// A file that does not exist is not an input, and a device or a pipe may be both.
void CheckNotAnInput(const std::string& name, const struct stat& output,
                     const std::vector<std::string>& inputs) {
  if (!S_ISREG(output.st_mode)) return;
  for (const std::string& path : inputs) {
    struct stat input = {};
    const int failed = path == "-" ? ::fstat(STDIN_FILENO, &input) : ::stat(path.c_str(), &input);
    if (failed == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the output " + name + " is also an input" + (path == name ? "" : ", " + path));
    }
  }
}

}  // namespace

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
  struct stat output = {};
  if (::stat(path.c_str(), &output) == 0) CheckNotAnInput(path, output, inputs);
}

void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs) {
  struct stat output = {};
  if (::fstat(STDOUT_FILENO, &output) == 0) CheckNotAnInput("(standard output)", output, inputs);
}

void SaveFilter(const Filter& filter, const std::string& path, bool quiet) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path);
}

}  // namespace tamis::tools
