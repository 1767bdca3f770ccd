// The properties of the file that a SaveTarget replaces.
#ifndef TAMIS_CORE_SRC_OS_WINDOWS_SAVE_TARGET_STATE_H_
#define TAMIS_CORE_SRC_OS_WINDOWS_SAVE_TARGET_STATE_H_

#include <cstddef>
#include <filesystem>
#include <vector>

#include "core/src/os/save_target.h"
#include "core/src/os/windows/win32.h"

namespace tamis::os {

struct SaveTarget::State {
  State(const std::filesystem::path& target, bool replace_read_only);

  bool exists() const noexcept { return attributes != INVALID_FILE_ATTRIBUTES; }
  bool read_only() const noexcept {
    return exists() && (attributes & FILE_ATTRIBUTE_READONLY) != 0;
  }

  const std::filesystem::path path;  // absolute
  const std::filesystem::path folder;
  DWORD attributes;               // attributes of the file that is replaced
  std::vector<std::byte> access;  // its access list, as a security descriptor; may be empty
};

}  // namespace tamis::os

#endif  // TAMIS_CORE_SRC_OS_WINDOWS_SAVE_TARGET_STATE_H_
