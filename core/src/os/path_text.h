// Paths in messages.
#ifndef TAMIS_CORE_SRC_OS_PATH_TEXT_H_
#define TAMIS_CORE_SRC_OS_PATH_TEXT_H_

#include <filesystem>
#include <string>

namespace tamis::os {

// Returns the path for a message: its bytes, and UTF-8 on Windows, where path::string() throws
// std::system_error for names outside the code page or with unpaired surrogates.
std::string TextOf(const std::filesystem::path& path);

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_PATH_TEXT_H_
