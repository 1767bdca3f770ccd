// The classes of filters.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_CLASSES_H_

#include <filesystem>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"

namespace tamis::python {

nb::class_<PyFilter, PyChangeable> DefineFilter(nb::module_& m);
nb::class_<PyStaticFilter, PyQueryable> DefineStaticFilter(nb::module_& m);
void DefineKinds(nb::module_& m);
void DefineStaticKinds(nb::module_& m);
// Defines Filter.merge_contents, which adds contents of another filter piece by piece.
void DefineContents(nb::class_<FilterOf<FilterKind::kSplitBlock>, PyFilter>& filter);
// Defines save, open, to_bytes, from_bytes, frombuffer, and pickling.
void DefineFiles(nb::module_& m, nb::class_<PyFilter, PyChangeable>& filter,
                 nb::class_<PyStaticFilter, PyQueryable>& static_filter);
// Throws FileNotFoundError if the path does not exist.
void RequireThere(const std::filesystem::path& path);
void DefineBank(nb::module_& m);
void DefineForeign(nb::module_& m);
void DefinePlan(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_CLASSES_H_
