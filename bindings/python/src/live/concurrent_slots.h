// One-key calls of concurrent filters, as raw slots: see one_key.h.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_

#include <nanobind/nanobind.h>

namespace tamis::python {

// Returns the slots of the base class and of each class. A class does not inherit a slot that
// nanobind defines, and the interpreter calls methods faster that the class itself defines.
PyType_Slot* ConcurrentSlots() noexcept;

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_
