#include "tools/output/output_file.h"

#include <sys/stat.h>
#include <tamis/error.h>
#include <tamis/file/saving.h>
#include <unistd.h>

#include <atomic>

#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

std::atomic<bool> output_is_saved = false;  // a signal handler may read it
static_assert(std::atomic<bool>::is_always_lock_free);

// Returns the first of the inputs that is the same file as `output`, or nullptr. A file that does
// not exist is not an input. A device or a pipe may be both input and output.
const std::string* FindInput(const struct stat& output, const std::vector<std::string>& inputs) {
  if (!S_ISREG(output.st_mode)) return nullptr;
  for (const std::string& path : inputs) {
    struct stat input = {};
    const int failed = path == "-" ? ::fstat(STDIN_FILENO, &input) : ::stat(path.c_str(), &input);
    if (failed == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino) return &path;
  }
  return nullptr;
}

void CheckNotAnInput(const std::string& name, const struct stat& output,
                     const std::vector<std::string>& inputs) {
  if (const std::string* const path = FindInput(output, inputs)) {
    throw Error(ErrorCode::kInvalidArgument,
                "the output " + name + " is also an input" + (*path == name ? "" : ", " + *path));
  }
}

}  // namespace

void CheckOutputPath(const std::string& path, const SaveOptions& options) {
  if (path.empty() || path == "-") {
    throw Error(ErrorCode::kInvalidArgument,
                (path.empty() ? "the name of a filter is empty"
                              : "a filter cannot be written to standard output (./- is a file)"));
  }
  RequireSavable(path, options);
}

void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs) {
  struct stat output = {};
  if (::stat(path.c_str(), &output) == 0) CheckNotAnInput(path, output, inputs);
}

void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs) {
  struct stat output = {};
  if (::fstat(STDOUT_FILENO, &output) == 0) CheckNotAnInput("(standard output)", output, inputs);
}

void CheckStandardOutputIsNot(const std::string& path) {
  struct stat output = {};
  if (::fstat(STDOUT_FILENO, &output) == 0 && FindInput(output, {path}) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also standard output");
  }
}

std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs) {
  struct stat output = {};
  if (::stat(path.c_str(), &output) != 0 || FindInput(output, inputs) == nullptr) return nullptr;
  return std::make_unique<const FileLock>(path);
}

void OutputIsSaved() noexcept { output_is_saved = true; }
bool IsOutputSaved() noexcept { return output_is_saved; }

void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path, options);
  OutputIsSaved();
}

}  // namespace tamis::tools
