// The exit statuses of the command.
#ifndef TAMIS_TOOLS_OPTIONS_EXIT_CODES_H_
#define TAMIS_TOOLS_OPTIONS_EXIT_CODES_H_

#include <tamis/error.h>

namespace tamis::tools {

enum ExitCode : int {
  kDone = 0,
  kNoMatch = 1,  // query --any only
  kUsage = 2,    // wrong options, or invalid input
  kFailure = 3,  // input or output failed, a file is corrupt, or a result is wrong
  kSaved = 4,    // the output was saved, but may not survive a crash, or the report failed
};

constexpr ExitCode ExitCodeFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kUnsupported:
    case ErrorCode::kBusy:
    case ErrorCode::kUnavailable:
      return kFailure;
    case ErrorCode::kNotDurable:
      return kSaved;
    default:
      return kUsage;
  }
}

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_EXIT_CODES_H_
