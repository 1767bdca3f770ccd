#include "bindings/python/src/keys/one_key.h"

#include <cmath>
#include <cstring>

#include "bindings/python/src/classes/gate.h"

namespace tamis::python {
namespace {

// The functions below return 1, 0, or -1 with a Python error set. They may run Python code. If this
// code raises KeyboardInterrupt, they return -1.

// If the current error is an Exception, clears it and returns 0. Otherwise returns -1.
int NoUnlessInterrupted() noexcept {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return -1;
  PyErr_Clear();
  return 0;
}

// Returns whether `object` is of the class `name` of a module. Never imports the module: if an
// object of the class exists, the module has been imported.
int IsOf(PyObject* object, const char* module, const char* name) noexcept {
  PyObject* const modules = PyImport_GetModuleDict();             // borrowed
  PyObject* const found = PyDict_GetItemString(modules, module);  // borrowed
  if (found == nullptr) return 0;
  PyObject* const type = OrStay([&] { return PyObject_GetAttrString(found, name); });
  if (type == nullptr) return NoUnlessInterrupted();
  const int is = OrStay([&] { return PyObject_IsInstance(object, type); });
  Py_DECREF(type);
  return is < 0 ? NoUnlessInterrupted() : is;
}

// Returns whether the object is pandas.NA or pandas.NaT. Both are singletons.
int IsMissingOfPandas(PyObject* object) noexcept {
  PyObject* const pandas = PyDict_GetItemString(PyImport_GetModuleDict(), "pandas");  // borrowed
  if (pandas == nullptr) return 0;
  for (const char* const name : {"NA", "NaT"}) {
    PyObject* const missing = OrStay([&] { return PyObject_GetAttrString(pandas, name); });
    if (missing == nullptr) {
      if (NoUnlessInterrupted() < 0) return -1;
      continue;
    }
    Py_DECREF(missing);  // pandas itself keeps a reference
    if (missing == object) return 1;
  }
  return 0;
}

void SetNoKey(PyObject* object) noexcept {
  const char* hint = "convert it to one of these";
  if (object == Py_None) {
    hint = "a missing value is never in a filter";
  } else if (PyBool_Check(object)) {
    hint = "int(x) converts it to 0 or 1";
  } else if (PyFloat_Check(object)) {
    hint = "choose the key with int(x) or str(x)";
  } else if (PyByteArray_Check(object) || PyMemoryView_Check(object)) {
    hint = "bytes(x) converts it to a key";
  } else if (PyTuple_Check(object)) {
    hint = "join its parts into one str or bytes object";
  }
  PyObject* const name = PyType_GetName(Py_TYPE(object));  // always a str, even with a metaclass
  if (name == nullptr) return;
  PyErr_Format(PyExc_TypeError,
               "a key is a str, bytes, int or uuid.UUID, and this is of type %U: %s", name, hint);
  Py_DECREF(name);
}

}  // namespace

bool OneKey::ParseLargeInt(PyObject* object) noexcept {
  integer = PyLong_AsUnsignedLongLong(object);  // an error for negative integers, too
  if (integer != static_cast<unsigned long long>(-1) || !PyErr_Occurred()) return true;
  PyErr_Clear();
  PyErr_SetString(
      PyExc_OverflowError,
      "an integer key must be in [-2**63, 2**64): convert other integers with str(x) or "
      "x.to_bytes(...)");
  return false;
}

bool OneKey::ParseBytes(PyObject* object) noexcept {
  char* text = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(object, &text, &size) != 0) return false;
  type = Type::kBytes;
  bytes = {text, static_cast<size_t>(size)};
  return true;
}

bool OneKey::ParseOther(PyObject* object) noexcept {
  if (PyUnicode_Check(object)) return ParseStr(object);
  if (PyBytes_Check(object)) return ParseBytes(object);
  if (PyBool_Check(object)) {
    SetNoKey(object);
    return false;
  }
  if (PyLong_Check(object)) return ParseInt(object);
  if (PyIndex_Check(object)) {  // such as numpy.int64
    PyObject* const number = OrStay([&] { return PyNumber_Index(object); });
    if (number == nullptr) return false;
    const bool parsed = ParseInt(number);
    Py_DECREF(number);
    return parsed;
  }
  const int is_uuid = IsOf(object, "uuid", "UUID");
  if (is_uuid < 0) return false;
  if (is_uuid > 0) {
    PyObject* const value = OrStay([&] { return PyObject_GetAttrString(object, "bytes"); });
    if (value == nullptr) return false;
    Py_XDECREF(owner_);
    owner_ = value;
    return ParseBytes(value);
  }
  SetNoKey(object);
  return false;
}

bool OneKey::ParseOrNull(PyObject* object) noexcept {
  int missing = object == nullptr || object == Py_None ||
                (PyFloat_Check(object) && std::isnan(PyFloat_AsDouble(object)));
  if (missing == 0 && !PyLong_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object)) {
    missing = IsMissingOfPandas(object);
  }
  if (missing < 0) return false;
  if (missing == 0) return Parse(object);
  type = Type::kNull;
  return true;
}

}  // namespace tamis::python
