// Checks the arrays of the caller that receive results.
#ifndef TAMIS_BINDINGS_C_SRC_ROOM_H_
#define TAMIS_BINDINGS_C_SRC_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "bindings/c/src/guard.h"
#include "tamis/detail/str_cat.h"

namespace tamis::c {

// Returns the first `needed` of the `capacity` elements at `out`. Throws Error(kInvalidArgument) if
// there are fewer, and in the cases of RequireArray.
template <typename T>
std::span<T> Room(T* out, uint64_t capacity, uint64_t needed, const char* name) {
  if (capacity < needed) {
    Refuse(detail::StrCat(name, " has room for ", capacity, " elements, and needs ", needed));
  }
  if (needed == 0) return {};
  RequireArray<T>(out, name);
  return {out, static_cast<size_t>(needed)};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_ROOM_H_
