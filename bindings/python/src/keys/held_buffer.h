// A Python buffer that stays acquired until its destructor runs.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_HELD_BUFFER_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_HELD_BUFFER_H_

#include <nanobind/nanobind.h>

namespace tamis::python {

namespace nb = nanobind;

// Acquires a buffer, and releases it in the destructor. Requires the GIL.
class HeldBuffer {
 public:
  // Throws the BufferError or TypeError of the object.
  explicit HeldBuffer(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() { PyBuffer_Release(&view_); }

  const Py_buffer& view() const noexcept { return view_; }

 private:
  Py_buffer view_ = {};
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_HELD_BUFFER_H_
