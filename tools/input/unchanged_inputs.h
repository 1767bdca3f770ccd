// Detects files that change between two passes over them.
#ifndef TAMIS_TOOLS_INPUT_UNCHANGED_INPUTS_H_
#define TAMIS_TOOLS_INPUT_UNCHANGED_INPUTS_H_

#include <string>
#include <vector>

#include "tools/os/file.h"

namespace tamis::tools {

class UnchangedInputs {
 public:
  // Stores the identity, size and times of each file. "-" is standard input. Throws Error(kIo).
  explicit UnchangedInputs(const std::vector<std::string>& paths);

  // Throws Error(kIo), with `consequence`, if a file has changed.
  void Check(const char* consequence) const;

 private:
  struct File {
    std::string path;
    os::FileStatus status;
  };
  std::vector<File> files_;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_UNCHANGED_INPUTS_H_
