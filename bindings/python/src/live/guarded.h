// C functions of Python, which throw nothing.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_

#include <nanobind/nanobind.h>
#include <tamis/error.h>

#include <cstdint>
#include <exception>
#include <new>
#include <vector>

namespace tamis::python {

// Sets the exception of Python for it. The second says which keys of the call it is about.
void SetError(const Error& error);
void SetError(const Error& error, const std::vector<uint64_t>& keys);
// From then on errors that come out of functions of this module are exceptions of Python.
void TranslateErrors();
// For another module than the one that defines the exceptions: takes them from that.
void BorrowErrors(nanobind::handle module);

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

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_
