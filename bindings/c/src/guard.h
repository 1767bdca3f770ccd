// Converts exceptions to statuses, because no exception may leave the library. Each thread stores
// the message of its last error.
#ifndef TAMIS_BINDINGS_C_SRC_GUARD_H_
#define TAMIS_BINDINGS_C_SRC_GUARD_H_

#include <cstdint>
#include <string>

#include "tamis/c/base.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis::c {

// Stores the message of the current exception and returns its status. Call only in a `catch` block.
tamis_status Caught() noexcept;

// Runs `body`, the work of an exported function. Returns TAMIS_OK, or the status of an exception.
template <typename Body>
tamis_status Guard(const Body& body) noexcept {
  try {
    body();
    return TAMIS_OK;
  } catch (...) {
    return Caught();
  }
}

// Like Guard, for functions of one key. `body` returns the answer as a bool.
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
// the argument. The parameter is a pointer, because a reference to a misaligned object is undefined
// behavior.
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

// An output that the caller may omit. Construct it before any work, because the constructor throws
// if the pointer is misaligned.
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
