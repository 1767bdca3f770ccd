// One-key calls of concurrent filters, as raw slots: see one_key.h.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_

#include <nanobind/nanobind.h>

namespace tamis::python {

// Return the slots of the base class, and the slots of each class. Each class needs its slots
// because it does not inherit a slot that nanobind defines.
PyType_Slot* ConcurrentBaseSlots() noexcept;
PyType_Slot* ConcurrentSlots() noexcept;

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_LIVE_CONCURRENT_SLOTS_H_
