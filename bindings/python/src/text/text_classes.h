// The class behind tamis.text.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_TEXT_TEXT_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_TEXT_TEXT_CLASSES_H_

#include <nanobind/nanobind.h>

namespace tamis::python {

void DefineText(nanobind::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_TEXT_TEXT_CLASSES_H_
