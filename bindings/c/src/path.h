// The paths of callers.
#ifndef TAMIS_BINDINGS_C_SRC_PATH_H_
#define TAMIS_BINDINGS_C_SRC_PATH_H_

#include <filesystem>
#include <stdexcept>
#include <type_traits>

#include "bindings/c/src/guard.h"

namespace tamis::c {

// Returns the path with these bytes. If paths of the system have wide characters, the bytes are
// UTF-8, and the function throws Error(kInvalidArgument) if they are not.
inline std::filesystem::path PathFrom(const char* bytes) {
  if constexpr (std::is_same_v<std::filesystem::path::value_type, char>) {
    return bytes;
  } else {
    try {
      return reinterpret_cast<const char8_t*>(bytes);
    } catch (const std::runtime_error&) {
      Refuse("a path is not UTF-8");
    }
  }
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_PATH_H_
