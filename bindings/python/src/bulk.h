// The calls with many keys.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_BULK_H_
#define TAMIS_BINDINGS_PYTHON_SRC_BULK_H_

#include "bindings/python/src/py_filter.h"

namespace tamis::python {

void DefineBulk(nb::class_<PyFilter>& filter);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_BULK_H_
