#include "bindings/python/src/classes/raised.h"

namespace tamis::python {

std::string Raised::TextOf(const nb::python_error& error) {
  const nb::object name = nb::steal(PyType_GetName(Py_TYPE(error.value().ptr())));
  const nb::object text = nb::steal(PyObject_Str(error.value().ptr()));
  std::string all;
  for (const nb::object& part : {name, text}) {
    const char* const utf8 = part.is_valid() ? PyUnicode_AsUTF8AndSize(part.ptr(), nullptr) : "";
    if (utf8 != nullptr && *utf8 != '\0') all += (all.empty() ? "" : ": ") + std::string(utf8);
  }
  PyErr_Clear();  // the conversion of the text to UTF-8 may have failed
  return all;
}

}  // namespace tamis::python
