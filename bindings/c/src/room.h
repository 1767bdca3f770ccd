// Arrays of the caller for results.
#ifndef TAMIS_BINDINGS_C_SRC_ROOM_H_
#define TAMIS_BINDINGS_C_SRC_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bindings/c/src/guard.h"

namespace tamis::c {

// Returns the first `needed` of the `capacity` elements at `out`. Throws Error(kInvalidArgument)
// if there are fewer, and as RequireArray.
template <typename T>
std::span<T> Room(T* out, uint64_t capacity, uint64_t needed, const char* name) {
  if (capacity < needed) {
    Refuse(std::string(name) + " has room for " + std::to_string(capacity) +
           " elements, and needs " + std::to_string(needed));
  }
  if (needed == 0) return {};
  RequireArray<T>(out, name);
  return {out, static_cast<size_t>(needed)};
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_ROOM_H_
