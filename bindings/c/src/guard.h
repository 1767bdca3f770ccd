// The border of the library: no exception crosses it, and what was wrong is kept for the thread.
#ifndef TAMIS_BINDINGS_C_SRC_GUARD_H_
#define TAMIS_BINDINGS_C_SRC_GUARD_H_

#include <cstdint>
#include <string>

#include "tamis/c/base.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::c {

// Within a handler: keeps the message of the exception and returns its status.
tamis_status Caught() noexcept;

// The body of every function: runs `body`, and returns the status of what it threw.
template <typename Body>
tamis_status Guard(const Body& body) noexcept {
  try {
    body();
    return TAMIS_OK;
  } catch (...) {
    return Caught();
  }
}

// The same for functions of one key: `body` returns whether it is so.
template <typename Body>
tamis_answer Answer(const Body& body) noexcept {
  try {
    return body() ? 1 : 0;
  } catch (...) {
    return -Caught();
  }
}

[[noreturn]] inline void Refuse(const std::string& problem,
                                ErrorCode code = ErrorCode::kInvalidArgument) {
  throw Error(code, problem);
}

// Throws Error(kInvalidArgument) for NULL, and where no elements of type T can be. `name` is that
// of the argument. Not by a reference, which could not be to such a place.
template <typename T>
void RequireArray(const void* pointer, const char* name) {
  if (pointer == nullptr) Refuse(std::string(name) + " is NULL");
  if (reinterpret_cast<uintptr_t>(pointer) % alignof(T) != 0) {
    Refuse(detail::StrCat(name, " is not at a multiple of ", alignof(T)));
  }
}

// What a pointer points to. Throws as RequireArray.
template <typename T>
T& Required(T* pointer, const char* name) {
  RequireArray<T>(pointer, name);
  return *pointer;
}

// A number for the caller, who may not want it. To be made before anything is done: throws for a
// place where it cannot be.
template <typename T>
class WantedOutput {
 public:
  WantedOutput(T* out, const char* name) : out_(out) {
    if (out != nullptr) RequireArray<T>(out, name);
  }
  void Set(T value) const noexcept {
    if (out_ != nullptr) *out_ = value;
  }

 private:
  T* out_;
};

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_GUARD_H_
