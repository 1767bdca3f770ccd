#include "tools/input/unchanged_inputs.h"

#include <tamis/error.h>

#include <cerrno>
#include <optional>

#include "tools/input/input_file.h"

namespace tamis::tools {
namespace {

os::FileStatus StatusOfInput(const std::string& path) {
  const std::optional<os::FileStatus> status =
      path == "-" ? os::StatusOf(os::kStandardInput) : os::StatusOf(path);
  if (!status) FailRead(path, errno);
  return *status;
}

}  // namespace

UnchangedInputs::UnchangedInputs(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) files_.push_back({path, StatusOfInput(path)});
}

void UnchangedInputs::Check(const char* consequence) const {
  for (const File& file : files_) {
    if (StatusOfInput(file.path) == file.status) continue;
    throw Error(ErrorCode::kIo, (file.path == "-" ? "(standard input)" : file.path) +
                                    " has changed while it was read" + consequence);
  }
}

}  // namespace tamis::tools
