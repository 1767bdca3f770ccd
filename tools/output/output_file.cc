#include "tools/output/output_file.h"

#include <tamis/error.h>
#include <tamis/file/saving.h>

#include <atomic>
#include <optional>

#include "tools/os/file.h"
#include "tools/output/progress.h"

namespace tamis::tools {
namespace {

std::atomic<bool> output_is_saved = false;  // a signal handler may read it
static_assert(std::atomic<bool>::is_always_lock_free);

// Returns the first of the inputs that is the same file as `output`, or nullptr. A file that does
// not exist is not an input. A device or a pipe may be both input and output.
const std::string* FindInput(const os::FileStatus& output, const std::vector<std::string>& inputs) {
  if (output.type != os::FileType::kRegular) return nullptr;
  for (const std::string& path : inputs) {
    const std::optional<os::FileStatus> input =
        path == "-" ? os::StatusOf(os::kStandardInput) : os::StatusOf(path);
    if (input && input->IsSameFileAs(output)) return &path;
  }
  return nullptr;
}

void RefuseAnInput(const std::string& name, const os::FileStatus& output,
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
  if (const auto output = os::StatusOf(path)) RefuseAnInput(path, *output, inputs);
}

void CheckStandardOutputIsNoInput(const std::vector<std::string>& inputs) {
  const auto output = os::StatusOf(os::kStandardOutput);
  if (output) RefuseAnInput("(standard output)", *output, inputs);
}

void CheckStandardOutputIsNot(const std::string& path) {
  const auto output = os::StatusOf(os::kStandardOutput);
  if (output && FindInput(*output, {path}) != nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also standard output");
  }
}

std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs) {
  const auto output = os::StatusOf(path);
  if (!output || FindInput(*output, inputs) == nullptr) return nullptr;
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
