// Converts a Python object to one key.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ONE_KEY_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ONE_KEY_H_

#include <nanobind/nanobind.h>
#include <tamis/file/file.h>

#include <cstdint>
#include <string_view>

namespace tamis::python {

// A key. For a str or bytes object, `bytes` refers to its memory, so the object must outlive the
// key.
class OneKey {
 public:
  enum class Type : uint8_t { kInteger, kBytes, kNull };

  OneKey() = default;
  OneKey(const OneKey&) = delete;
  OneKey& operator=(const OneKey&) = delete;
  ~OneKey() { Py_XDECREF(owner_); }

  // Converts `object`. If it is not a key, sets a Python error and returns false: TypeError for
  // other objects, OverflowError for integers of more than 64 bits, and UnicodeEncodeError for lone
  // surrogates. A negative integer is the same key as in a column of signed integers.
  bool Parse(PyObject* object) noexcept {
    if (PyLong_CheckExact(object)) return ParseInt(object);
    if (PyUnicode_Check(object)) return ParseStr(object);
    return ParseOther(object);
  }
  // Like Parse, but None, NaN and the missing values of pandas become null, as in columns.
  bool ParseOrNull(PyObject* object) noexcept;

  Type type = Type::kInteger;
  uint64_t integer = 0;
  std::string_view bytes;

 private:
  bool ParseInt(PyObject* object) noexcept {
    type = Type::kInteger;
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact(reinterpret_cast<PyLongObject*>(object))) {
      integer = static_cast<uint64_t>(
          PyUnstable_Long_CompactValue(reinterpret_cast<PyLongObject*>(object)));
      return true;
    }
#endif
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return ParseLargeInt(object, overflow);
    integer = static_cast<uint64_t>(value);
    return true;
  }
  bool ParseStr(PyObject* object) noexcept {
    type = Type::kBytes;
#if !defined(Py_LIMITED_API)
    if (PyUnicode_IS_COMPACT_ASCII(object)) {
      bytes = {static_cast<const char*>(PyUnicode_DATA(object)),
               static_cast<size_t>(PyUnicode_GET_LENGTH(object))};
      return true;
    }
#endif
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) return false;
    bytes = {text, static_cast<size_t>(size)};
    return true;
  }
  bool ParseLargeInt(PyObject* object, int overflow) noexcept;
  bool ParseOther(PyObject* object) noexcept;
  // Reads the bytes of `object`. Keeps a reference to `object` until the next key.
  bool ParseBytes(PyObject* object) noexcept;

  PyObject* owner_ = nullptr;
};

// Return the slots with `add`, `discard`, `in` and other calls for one key. They are raw slots,
// because a generic call would take more time than the query or change. The first two functions
// return the slots of the base classes, and the third returns the slots that each class adds.
PyType_Slot* FilterSlots() noexcept;
PyType_Slot* StaticFilterSlots() noexcept;
PyType_Slot* SlotsOf(FilterKind kind);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_ONE_KEY_H_
