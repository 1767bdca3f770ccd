// The exceptions of the package. Each class also inherits from a matching exception of Python.
#include <nanobind/stl/string.h>

#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/live/guarded.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

struct ErrorClass {
  ErrorCode code;
  const char* name;
  PyObject* const* base;
  const char* doc;
};

// These references are never released, because exceptions may be raised until the interpreter ends.
PyObject* g_error = nullptr;
PyObject* g_full = nullptr;
PyObject* g_timed_out = nullptr;
PyObject* g_classes[32] = {};

const ErrorClass kClasses[] = {
    {ErrorCode::kInvalidArgument, "InvalidArgumentError", &PyExc_ValueError,
     "A value outside its range."},
    {ErrorCode::kOutOfMemory, "OutOfMemoryError", &PyExc_MemoryError,
     "The requested memory is not available."},
    {ErrorCode::kIncompatible, "IncompatibleError", &PyExc_ValueError,
     "Two filters that cannot be combined."},
    {ErrorCode::kReadOnly, "ReadOnlyError", &PyExc_ValueError,
     "An attempt to change a filter that is mapped from a file or a buffer."},
    {ErrorCode::kUnknownBackend, "UnknownBackendError", &PyExc_ValueError,
     "A backend that is unknown, or that this machine cannot run."},
    {ErrorCode::kIo, "FileError", &PyExc_OSError, "The operating system refused a file operation."},
    {ErrorCode::kCorrupt, "CorruptError", &PyExc_ValueError,
     "Bytes that fail a check. `check` names the check, and `offset` is their position."},
    {ErrorCode::kUnsupported, "UnsupportedError", &PyExc_ValueError,
     "A file of a newer version or of another kind; `check` and `offset` as in CorruptError."},
    {ErrorCode::kDevice, "DeviceError", &PyExc_RuntimeError, "A GPU or its driver failed."},
    {ErrorCode::kNotDurable, "NotDurableError", &PyExc_OSError,
     "A file was saved, but a power cut may still undo it."},
    {ErrorCode::kBusy, "BusyError", &PyExc_OSError,
     "Another process is changing the file, or has replaced it."},
    {ErrorCode::kCancelled, "CancelledError", &PyExc_RuntimeError, "The work was cancelled."},
    {ErrorCode::kSecret, "SecretError", &PyExc_ValueError,
     "The secret of a keyed hash is missing or wrong, or a secret was given without need."},
    {ErrorCode::kUnavailable, "UnavailableError", &PyExc_ConnectionError,
     "A server cannot be reached, or refuses the connection."},
};

PyObject* NewClass(nb::module_& m, const char* name, nb::handle bases, const char* doc) {
  const std::string qualified = std::string("tamis.") + name;
  PyObject* const made = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(made);
  return made;
}

}  // namespace

namespace {

PyObject* ClassOf(const Error& error) {
  const auto code = static_cast<size_t>(error.code());
  // The library has one code for all failures of servers. Only the message states that a server did
  // not answer in time.
  if (error.code() == ErrorCode::kUnavailable &&
      std::string_view(error.what()).find("no answer in time") != std::string_view::npos) {
    return g_timed_out;
  }
  return code < std::size(g_classes) && g_classes[code] ? g_classes[code] : g_error;
}

// Returns the message. Escapes invalid UTF-8, which paths and names may contain, like os.fsdecode.
// If memory runs out, returns an invalid object with Python's error set.
nb::object TextOf(const Error& error) {
  const std::string_view text = error.what();
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

}  // namespace

void SetError(const Error& error) {
  PyObject* const type = ClassOf(error);
  const auto* const format = dynamic_cast<const FormatError*>(&error);
  const nb::object text = TextOf(error);
  if (!text.is_valid()) return;
  if (format == nullptr) {
    PyErr_SetObject(type, text.ptr());
    return;
  }
  const nb::object value = nb::borrow(type)(text);
  value.attr("check") = format->check();
  value.attr("offset") = format->offset();
  PyErr_SetObject(type, value.ptr());
}

void SetError(const Error& error, const std::vector<uint64_t>& keys) {
  const nb::handle type = ClassOf(error);
  const nb::object text = TextOf(error);
  if (!text.is_valid()) return;
  const nb::object value = type(text);
  nb::list indices;
  for (const uint64_t key : keys) indices.append(nb::int_(key));
  value.attr("keys") = indices;
  PyErr_SetObject(type.ptr(), value.ptr());
}

void TranslateErrors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      SetError(error);
    }
  });
}

void BorrowErrors(nb::handle module) {
  const auto borrowed = [&](const char* name) {
    return nb::object(module.attr(name)).release().ptr();
  };
  g_error = borrowed("Error");
  for (const ErrorClass& row : kClasses) {
    g_classes[static_cast<size_t>(row.code)] = borrowed(row.name);
  }
  g_full = borrowed("FullError");
  g_timed_out = borrowed("TimedOutError");
}

void DefineErrors(nb::module_& m) {
  g_error = NewClass(m, "Error", nb::handle(PyExc_Exception),
                     "The base class of all errors of tamis. `keys`: the indices of the keys\n"
                     "that caused the error in a call with many keys, or None.");
  for (const ErrorClass& row : kClasses) {
    const nb::object bases = nb::make_tuple(nb::handle(g_error), nb::handle(*row.base));
    g_classes[static_cast<size_t>(row.code)] = NewClass(m, row.name, bases, row.doc);
  }
  for (const ErrorCode code : {ErrorCode::kCorrupt, ErrorCode::kUnsupported}) {
    const nb::handle type = g_classes[static_cast<size_t>(code)];
    type.attr("check") = nb::none();  // errors without a failed check keep these values
    type.attr("offset") = nb::none();
  }
  g_full =
      NewClass(m, "FullError", nb::make_tuple(nb::handle(g_error), nb::handle(PyExc_RuntimeError)),
               "A cuckoo or scalable filter had no room for some keys.");
  const nb::handle unavailable = g_classes[static_cast<size_t>(ErrorCode::kUnavailable)];
  g_timed_out =
      NewClass(m, "TimedOutError", nb::make_tuple(unavailable, nb::handle(PyExc_TimeoutError)),
               "A server does not answer in time.");
  nb::handle(g_error).attr("keys") = nb::none();
  TranslateErrors();
}

void ThrowFull(uint64_t lost, uint64_t keys) {
  const std::string message = tamis::detail::StrCat(
      lost, " of ", keys, " keys do not fit into the filter; all other keys are in");
  PyErr_SetString(g_full, message.c_str());
  throw nb::python_error();
}

ChangeableFilter& PyFilter::RequireChangeable() {
  if (exports != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "the filter cannot be changed while a memoryview of its contents exists");
    throw nb::python_error();
  }
  if (filter->read_only()) {
    throw Error(ErrorCode::kReadOnly, "the filter is read-only: change a copy()");
  }
  return tamis::RequireChangeable(*filter);
}

}  // namespace tamis::python
