// Python objects and exceptions in code that runs without the GIL.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_RAISED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_RAISED_H_

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "bindings/python/src/classes/gate.h"

namespace tamis::python {

namespace nb = nanobind;

// A reference to a Python object that can be copied and released without the GIL. Releasing the
// last copy acquires the GIL.
class FreeObject {
 public:
  explicit FreeObject(nb::object object) : object_(object.release().ptr(), GiveBack) {}

  // Requires the GIL.
  nb::object get() const { return nb::borrow(object_.get()); }

 private:
  static void GiveBack(PyObject* object) noexcept {
    if (object == nullptr) return;
    const PyGILState_STATE state = OrStay([] { return PyGILState_Ensure(); });
    Py_DECREF(object);
    PyGILState_Release(state);
  }

  std::shared_ptr<PyObject> object_;
};

// Carries an exception of Python code through the library. The library may copy it and throw it in
// several threads.
class Raised : public std::exception {
 public:
  // Requires the GIL.
  explicit Raised(const nb::python_error& error)
      : exception_(nb::borrow(error.value())), text_(TextOf(error)) {}

  const char* what() const noexcept override { return text_.c_str(); }
  // Returns whether the exception is not an instance of Exception: KeyboardInterrupt, for example.
  // Requires the GIL.
  bool is_interrupt() const {
    return PyObject_IsInstance(exception_.get().ptr(), PyExc_Exception) == 0;
  }
  // Raises the exception. Requires the GIL.
  [[noreturn]] void Raise() const {
    const nb::object exception = exception_.get();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    throw nb::python_error();
  }

 private:
  static std::string TextOf(const nb::python_error& error);

  FreeObject exception_;
  std::string text_;
};

// Returns work(), which runs Python code with the GIL. Converts Python exceptions to Raised.
template <typename Work>
auto CatchRaised(const Work& work) {
  try {
    return work();
  } catch (const nb::python_error& error) {
    throw Raised(error);
  }
}

// Returns work(). If it throws Raised, raises the Python exception again. Requires the GIL.
template <typename Work>
auto RaiseAgain(const Work& work) {
  try {
    return work();
  } catch (const Raised& raised) {
    raised.Raise();
  }
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_RAISED_H_
