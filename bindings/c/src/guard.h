// The boundary of the library. No exception crosses it; error messages are kept per thread.
#ifndef TAMIS_BINDINGS_C_SRC_GUARD_H_
#define TAMIS_BINDINGS_C_SRC_GUARD_H_

#include <cstdint>
#include <string>

#include "tamis/c/base.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::c {

// Keeps the message of the current exception and returns its status. Call only in a handler.
tamis_status Caught() noexcept;

// The body of every function: runs `body`, and returns the status of an exception.
template <typename Body>
tamis_status Guard(const Body& body) noexcept {
  try {
    body();
    return TAMIS_OK;
  } catch (...) {
    return Caught();
  }
}

// The same for functions of one key. `body` returns the answer as a bool.
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

// Throws Error(kInvalidArgument) if `pointer` is NULL or misaligned for T. `name` is the name of
// the argument. Takes a pointer, because a reference to a misaligned object is undefined.
template <typename T>
void RequireArray(const void* pointer, const char* name) {
  if (pointer == nullptr) Refuse(std::string(name) + " is NULL");
  if (reinterpret_cast<uintptr_t>(pointer) % alignof(T) != 0) {
    Refuse(detail::StrCat(name, " is not at a multiple of ", alignof(T)));
  }
}

// Returns *pointer. Throws like RequireArray.
template <typename T>
T& Required(T* pointer, const char* name) {
  RequireArray<T>(pointer, name);
  return *pointer;
}

// An output that the caller may omit. Create it before any work: the constructor throws if the
// pointer is misaligned.
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
