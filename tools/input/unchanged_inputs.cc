#include "tools/input/unchanged_inputs.h"

#include <tamis/error.h>
#include <unistd.h>

#include <cerrno>

#include "tools/input/input_file.h"
#include "tools/input/same_file.h"

namespace tamis::tools {
namespace {

struct stat StatusOfInput(const std::string& path) {
  struct stat status = {};
  const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (failed != 0) FailRead(path, errno);
  return status;
}

}  // namespace

UnchangedInputs::UnchangedInputs(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) files_.push_back({path, StatusOfInput(path)});
}

void UnchangedInputs::Check(const char* consequence) const {
  for (const File& file : files_) {
    if (IsSameFile(StatusOfInput(file.path), file.status)) continue;
    throw Error(ErrorCode::kIo, (file.path == "-" ? "(standard input)" : file.path) +
                                    " has changed while it was read" + consequence);
  }
}

}  // namespace tamis::tools
