// Checks one string of the caller.
#ifndef TAMIS_BINDINGS_C_SRC_STRING_KEY_H_
#define TAMIS_BINDINGS_C_SRC_STRING_KEY_H_

#include <cstddef>
#include <limits>
#include <string_view>

#include "bindings/c/src/guard.h"
#include "tamis/detail/str_cat.h"

namespace tamis::c {

// Throws Error(kInvalidArgument) if `string` is NULL and `bytes` is not 0, and if no memory has
// `bytes` bytes.
inline std::string_view StringKey(const char* string, size_t bytes) {
  if (bytes == 0) return {};
  Required(string, "string");
  if (bytes > static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max())) {
    Refuse(detail::StrCat(bytes, " bytes are more than any memory has"));
  }
  return {string, bytes};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_STRING_KEY_H_
