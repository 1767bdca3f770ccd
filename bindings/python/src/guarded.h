// C functions of Python, which throw nothing.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_GUARDED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_GUARDED_H_

#include <nanobind/nanobind.h>
#include <tamis/error.h>

#include <exception>
#include <new>

namespace tamis::python {

// Sets the exception of Python for it.
void SetError(const Error& error);

// Runs `work` and turns what it throws into a Python error.
template <typename Work>
bool Guarded(const Work& work) noexcept {
  try {
    work();
    return true;
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    SetError(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return false;
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_GUARDED_H_
