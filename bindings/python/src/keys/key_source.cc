#include "bindings/python/src/keys/key_source.h"

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/classes/py_filter.h"

namespace tamis::python {

nb::handle InKinds(const char* name) {
  static PyObject* kinds = nullptr;  // never released; the GIL protects it
  if (kinds == nullptr) {
    const nb::object module =
        nb::steal(OrStay([] { return PyImport_ImportModule("tamis._kinds"); }));
    if (!module.is_valid()) throw nb::python_error();
    nb::object imported = module.attr("__dict__");
    if (kinds == nullptr) kinds = imported.release().ptr();
  }
  PyObject* const found = PyDict_GetItemString(kinds, name);  // borrowed
  if (found == nullptr) throw nb::attribute_error(name);
  return found;
}

std::unique_ptr<KeySource> MakeKeySource(nb::handle object, Numbers numbers, size_t gathered) {
  PyObject* const x = object.ptr();
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return SourceOfIterable(object, gathered);
  if (PyUnicode_Check(x) || PyBytes_Check(x) || PyByteArray_Check(x)) {
    throw nb::type_error("this is one key, and not a collection of keys: use add(key) or key in f");
  }
  if (IsFilter(object)) {
    throw nb::type_error(
        "a filter does not store its keys; f |= g adds the keys of another filter");
  }
  // Converts arrays of NumPy, pandas and other packages to objects that one of the sources below
  // can read.
  const nb::object plain = Call(InKinds("plain"), object);
  std::unique_ptr<KeySource> source = SourceOfTimes(plain, numbers);
  if (source == nullptr) source = SourceOfArrow(plain, numbers);
  if (source == nullptr) source = SourceOfBuffer(plain, gathered);
  if (source == nullptr) source = SourceOfIterable(plain, gathered);
  if (source != nullptr) return source;
  const nb::object name = nb::steal(PyType_GetName(Py_TYPE(x)));
  if (name.is_valid()) {
    PyErr_Format(PyExc_TypeError,
                 "keys are an array, a column or an iterable, and this is of type %U: for one key "
                 "use add(key) or key in f",
                 name.ptr());
  }
  throw nb::python_error();
}

}  // namespace tamis::python
