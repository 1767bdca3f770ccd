#include "tools/output_file.h"

#include <tamis/error.h>

#include <algorithm>
#include <filesystem>

#include "tools/progress.h"

namespace tamis::tools {
namespace {

bool IsOneOf(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code missing;  // a file that does not exist is not an input
  return std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
    return input != "-" && std::filesystem::equivalent(path, input, missing);
  });
}

}  // namespace

void CheckOutputPath(const std::string& path, const SaveOptions& options) {
  RequireSavable(path, options);
}

void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs) {
  if (IsOneOf(path, inputs)) {
    throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also an input");
  }
}

std::unique_ptr<const FileLock> LockIfInput(const std::string& path,
                                            const std::vector<std::string>& inputs) {
  return IsOneOf(path, inputs) ? std::make_unique<const FileLock>(path) : nullptr;
}

void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path, options);
}

}  // namespace tamis::tools
