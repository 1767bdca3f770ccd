// Moves Arrow structs out of Python capsules.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_

#include <nanobind/nanobind.h>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/arrow_abi.h"

namespace tamis::python {

// Moves the struct out of a capsule.
template <typename T>
Released<T> TakeFrom(nanobind::handle capsule, const char* name) {
  auto* const found = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (found == nullptr) throw nanobind::python_error();
  if (found->release == nullptr) {
    throw nanobind::value_error("the Arrow data was released before");
  }
  return Released<T>(found);
}

struct TakenArray {
  Released<ArrowSchema> schema;
  Released<ArrowArray> array;
};

// Calls `method`, the __arrow_c_array__ of an object, and returns its result.
inline TakenArray TakeArray(nanobind::handle method) {
  const nanobind::object pair = Call(method);
  if (!PyTuple_Check(pair.ptr()) || nanobind::len(pair) != 2) {
    throw nanobind::type_error("__arrow_c_array__ returns two capsules");
  }
  // Both structs are moved before any other step that may throw, so that they are released.
  auto schema = TakeFrom<ArrowSchema>(pair[0], "arrow_schema");
  auto array = TakeFrom<ArrowArray>(pair[1], "arrow_array");
  return {std::move(schema), std::move(array)};
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_
