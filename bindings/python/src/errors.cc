// The exceptions of the package: each is also the one of Python that fits it.
#include <nanobind/stl/string.h>

#include <exception>
#include <iterator>
#include <string>

#include "bindings/python/src/guarded.h"
#include "bindings/python/src/py_filter.h"

namespace tamis::python {
namespace {

struct ErrorClass {
  ErrorCode code;
  const char* name;
  PyObject* const* base;
  const char* doc;
};

// Never given back: exceptions may be raised as long as there is an interpreter.
PyObject* g_error = nullptr;
PyObject* g_full = nullptr;
PyObject* g_classes[32] = {};

const ErrorClass kClasses[] = {
    {ErrorCode::kInvalidArgument, "InvalidArgumentError", &PyExc_ValueError,
     "A value outside its range."},
    {ErrorCode::kOutOfMemory, "OutOfMemoryError", &PyExc_MemoryError,
     "More memory asked for than there is."},
    {ErrorCode::kIncompatible, "IncompatibleError", &PyExc_ValueError,
     "Two filters that cannot be combined."},
    {ErrorCode::kReadOnly, "ReadOnlyError", &PyExc_ValueError,
     "A change to a filter that is mapped from a file, or in a buffer."},
    {ErrorCode::kUnknownBackend, "UnknownBackendError", &PyExc_ValueError,
     "A backend that is unknown, or that this machine cannot run."},
    {ErrorCode::kIo, "FileError", &PyExc_OSError, "The operating system refused a file operation."},
    {ErrorCode::kCorrupt, "CorruptError", &PyExc_ValueError,
     "Bytes that fail a check: `check` names it, and `offset` is where."},
    {ErrorCode::kUnsupported, "UnsupportedError", &PyExc_ValueError,
     "A file of a newer version or of another kind; `check` and `offset` as in CorruptError."},
    {ErrorCode::kDevice, "DeviceError", &PyExc_RuntimeError, "A GPU, or its driver, that failed."},
    {ErrorCode::kNotDurable, "NotDurableError", &PyExc_OSError,
     "A file that has been saved, but that a power cut may still undo."},
    {ErrorCode::kBusy, "BusyError", &PyExc_OSError,
     "A file that another process is changing, or has replaced meanwhile."},
    {ErrorCode::kCancelled, "CancelledError", &PyExc_RuntimeError, "Work that was called off."},
    {ErrorCode::kSecret, "SecretError", &PyExc_ValueError,
     "The secret of a keyed hash: missing, wrong, or given where none is needed."},
    {ErrorCode::kUnavailable, "UnavailableError", &PyExc_OSError,
     "A server that cannot be reached."},
};

PyObject* NewClass(nb::module_& m, const char* name, nb::handle bases, const char* doc) {
  const std::string qualified = std::string("tamis.") + name;
  PyObject* const made = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(made);
  return made;
}

}  // namespace

void SetError(const Error& error) {
  const auto code = static_cast<size_t>(error.code());
  PyObject* const type = code < std::size(g_classes) && g_classes[code] ? g_classes[code] : g_error;
  const auto* const format = dynamic_cast<const FormatError*>(&error);
  if (format == nullptr) {
    PyErr_SetString(type, error.what());
    return;
  }
  const nb::object value = nb::borrow(type)(error.what());
  value.attr("check") = format->check();
  value.attr("offset") = format->offset();
  PyErr_SetObject(type, value.ptr());
}

void DefineErrors(nb::module_& m) {
  g_error = NewClass(m, "Error", nb::handle(PyExc_Exception), "The base of all errors of tamis.");
  for (const ErrorClass& row : kClasses) {
    const nb::object bases = nb::make_tuple(nb::handle(g_error), nb::handle(*row.base));
    g_classes[static_cast<size_t>(row.code)] = NewClass(m, row.name, bases, row.doc);
  }
  for (const ErrorCode code : {ErrorCode::kCorrupt, ErrorCode::kUnsupported}) {
    const nb::handle type = g_classes[static_cast<size_t>(code)];
    type.attr("check") = nb::none();  // for those that are about no bytes
    type.attr("offset") = nb::none();
  }
  g_full =
      NewClass(m, "FullError", nb::make_tuple(nb::handle(g_error), nb::handle(PyExc_RuntimeError)),
               "Keys that a cuckoo or scalable filter had no room for.");
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      SetError(error);
    }
  });
}

void ThrowFull(uint64_t lost, uint64_t keys) {
  const std::string message = std::to_string(lost) + " of " + std::to_string(keys) +
                              " keys found no room; all others are in";
  PyErr_SetString(g_full, message.c_str());
  throw nb::python_error();
}

void PyFilter::RequireChangeable() const {
  if (exports != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "the filter has a memoryview, and cannot change before that is released");
    throw nb::python_error();
  }
  if (filter->read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter is read-only: copy() makes one that is not");
  }
}

}  // namespace tamis::python
