// Takes Arrow structs from Python capsules.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_

#include <nanobind/nanobind.h>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/keys/arrow_abi.h"

namespace tamis::python {

// Takes ownership of the struct in a capsule.
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

// Calls `method`, the __arrow_c_array__ of an object.
inline TakenArray TakeArray(nanobind::handle method) {
  const nanobind::object pair = Call(method);
  if (!PyTuple_Check(pair.ptr()) || nanobind::len(pair) != 2) {
    throw nanobind::type_error("__arrow_c_array__ returns two capsules");
  }
  // Takes both before any step that may throw.
  auto schema = TakeFrom<ArrowSchema>(pair[0], "arrow_schema");
  auto array = TakeFrom<ArrowArray>(pair[1], "arrow_array");
  return {std::move(schema), std::move(array)};
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_CAPSULE_H_
