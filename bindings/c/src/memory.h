// Checks memory of callers.
#ifndef TAMIS_BINDINGS_C_SRC_MEMORY_H_
#define TAMIS_BINDINGS_C_SRC_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "bindings/c/src/guard.h"
#include "tamis/detail/str_cat.h"

namespace tamis::c {

// Returns an empty span for NULL. Throws Error(kInvalidArgument) if no memory has `bytes` bytes.
template <typename Byte, typename Void>
std::span<Byte> Memory(Void* data, uint64_t bytes) {
  if (bytes > static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max())) {
    Refuse(detail::StrCat(bytes, " bytes are more than any memory has"));
  }
  if (bytes == 0) return {};
  return {&Required(static_cast<Byte*>(data), "data"), static_cast<size_t>(bytes)};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_MEMORY_H_
