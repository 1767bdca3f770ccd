#include "bindings/python/src/key_source.h"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/python/src/py_filter.h"

namespace tamis::python {

std::unique_ptr<KeySource> MakeKeySource(nb::handle object) {
  PyObject* const x = object.ptr();
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return SourceOfIterable(object);
  if (PyUnicode_Check(x) || PyBytes_Check(x) || PyByteArray_Check(x)) {
    throw nb::type_error("this is one key and no collection of keys: use add(key) or key in f");
  }
  if (nb::isinstance<PyFilter>(object)) {
    throw nb::type_error("a filter does not know its keys: f |= g adds those of another");
  }
  // What NumPy, pandas and others have is made into one of the forms below.
  const nb::object plain = nb::module_::import_("tamis._kinds").attr("plain")(object);
  std::unique_ptr<KeySource> source = SourceOfArrow(plain);
  if (source == nullptr) source = SourceOfBuffer(plain);
  if (source == nullptr) source = SourceOfIterable(plain);
  if (source != nullptr) return source;
  const std::string type = nb::cast<std::string>(object.type().attr("__name__"));
  throw nb::type_error(("keys are an array, a column or an iterable, and this is of type " + type +
                        ": for one key use add(key) or key in f")
                           .c_str());
}

}  // namespace tamis::python
