#include "tools/input/unchanged_inputs.h"

#include <tamis/error.h>
#include <unistd.h>

#include <cerrno>

#include "tools/input/input_file.h"

namespace tamis::tools {
namespace {

struct stat StatusOfInput(const std::string& path) {
  struct stat status = {};
  const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (failed != 0) FailRead(path, errno);
  return status;
}

bool SameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

UnchangedInputs::UnchangedInputs(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) files_.push_back({path, StatusOfInput(path)});
}

void UnchangedInputs::Check(const char* consequence) const {
  for (const File& file : files_) {
    const struct stat now = StatusOfInput(file.path);
    const struct stat& then = file.status;
    if (now.st_dev == then.st_dev && now.st_ino == then.st_ino && now.st_size == then.st_size &&
        SameTime(now.st_mtim, then.st_mtim)) {
      continue;
    }
    throw Error(ErrorCode::kIo, (file.path == "-" ? "(standard input)" : file.path) +
                                    " has changed while it was read" + consequence);
  }
}

}  // namespace tamis::tools
