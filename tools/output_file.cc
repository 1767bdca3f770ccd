#include "tools/output_file.h"

#include <tamis/error.h>

#include <filesystem>

#include "tools/progress.h"

namespace tamis::tools {

namespace fs = std::filesystem;

void CheckOutputPath(const std::string& path, const SaveOptions& options) {
  RequireSavable(path, options);
}

void CheckNotAnInput(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code missing;  // a file that does not exist is not an input
  for (const std::string& input : inputs) {
    if (input != "-" && fs::equivalent(path, input, missing)) {
      throw Error(ErrorCode::kInvalidArgument, "the output " + path + " is also an input");
    }
  }
}

void SaveFilter(const Filter& filter, const std::string& path, bool quiet,
                const SaveOptions& options) {
  const Notice notice("saving " + path + " ...", quiet);
  filter.Save(path, options);
}

}  // namespace tamis::tools
