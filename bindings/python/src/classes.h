// The classes of filters.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_H_

#include "bindings/python/src/py_filter.h"

namespace tamis::python {

// An argument that is an integer from 0 to 2^64 - 1: OverflowError for others, TypeError for what
// is no integer.
struct Unsigned {
  uint64_t value = 0;
};

// Throws ValueError unless it has 16 bytes.
HashSecret SecretOf(const nb::bytes& secret);

nb::class_<PyFilter> DefineFilter(nb::module_& m);
void DefineKinds(nb::module_& m);
// Contents of a filter that come in pieces.
void DefineContents(nb::class_<FilterOf<FilterKind::kSplitBlock>, PyFilter>& filter);
// save, open and the like; to_bytes, frombuffer, pickle.
void DefineFiles(nb::module_& m, nb::class_<PyFilter>& filter);
void DefinePlan(nb::module_& m);

}  // namespace tamis::python

namespace nanobind::detail {

template <>
struct type_caster<tamis::python::Unsigned> {
  NB_TYPE_CASTER(tamis::python::Unsigned, const_name("int"))

  // Throws: to say no would hide what was wrong behind a list of signatures.
  bool from_python(handle source, uint8_t, cleanup_list*) {
    const object number = steal(PyNumber_Index(source.ptr()));
    if (!number.is_valid()) throw python_error();
    value.value = PyLong_AsUnsignedLongLong(number.ptr());
    if (value.value == ~uint64_t{0} && PyErr_Occurred()) throw python_error();
    return true;
  }
  static handle from_cpp(const tamis::python::Unsigned& number, rv_policy, cleanup_list*) {
    return PyLong_FromUnsignedLongLong(number.value);
  }
};

}  // namespace nanobind::detail

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_H_
