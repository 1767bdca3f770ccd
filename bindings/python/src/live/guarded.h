// Converts exceptions of C++ to Python errors, for C functions that must not throw.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_

#include <nanobind/nanobind.h>
#include <tamis/error.h>

#include <cstdint>
#include <exception>
#include <new>
#include <vector>

namespace tamis::python {

// Set the Python exception for an error. The second function also sets its attribute `keys`, the
// indices of the keys that caused the error.
void SetError(const Error& error);
void SetError(const Error& error, const std::vector<uint64_t>& keys);
// Registers the conversion of errors that leave functions of this module to Python exceptions.
void TranslateErrors();
// For the extension module that does not define the exceptions: uses the exceptions of `module`.
void BorrowErrors(nanobind::handle module);

// Calls work(). If it throws, sets the Python error and returns false.
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

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_
