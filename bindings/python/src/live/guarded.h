// C functions of Python that throw nothing.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_GUARDED_H_

#include <nanobind/nanobind.h>
#include <tamis/error.h>

#include <cstdint>
#include <exception>
#include <new>
#include <vector>

namespace tamis::python {

// Sets the Python exception for an error. The second also sets the keys that caused it.
void SetError(const Error& error);
void SetError(const Error& error, const std::vector<uint64_t>& keys);
// Converts errors that leave functions of this module to Python exceptions from then on.
void TranslateErrors();
// Takes the exceptions from the module that defines them. For another module.
void BorrowErrors(nanobind::handle module);

// Runs `work` and converts its exceptions to Python errors.
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
