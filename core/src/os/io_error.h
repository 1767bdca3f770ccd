// Errors of the operating system, as exceptions.
#ifndef TAMIS_CORE_SRC_OS_IO_ERROR_H_
#define TAMIS_CORE_SRC_OS_IO_ERROR_H_

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/src/os/path_text.h"
#include "tamis/error.h"

namespace tamis::os {

// Throws an error such as "known.tamis: cannot open: No such file or directory".
[[noreturn]] inline void ThrowIoError(const std::filesystem::path& path, const std::string& action,
                                      int error = errno) {
  const char* const hint = error == EMFILE ? " (`ulimit -n` sets how many)" : "";
  throw Error(ErrorCode::kIo, TextOf(path) + ": cannot " + action + ": " +
                                  std::generic_category().message(error) + hint);
}

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_IO_ERROR_H_
