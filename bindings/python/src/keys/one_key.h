// Converts a Python object to one key.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ONE_KEY_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ONE_KEY_H_

#include <nanobind/nanobind.h>
#include <tamis/file/file.h>

#include <cstdint>
#include <string_view>

#include "tamis/detail/compiler.h"

namespace tamis::python {

// Sets `key` to the value of an int object, and returns true. If the value needs more than 64 bits,
// or with the stable ABI more than 63, returns false without a Python error. Runs no Python code.
inline bool ReadInt(PyObject* object, uint64_t& key) noexcept {
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030C0000
  if (PyUnstable_Long_IsCompact(reinterpret_cast<PyLongObject*>(object))) {
    key = static_cast<uint64_t>(
        PyUnstable_Long_CompactValue(reinterpret_cast<PyLongObject*>(object)));
    return true;
  }
#elif !defined(Py_LIMITED_API) && PYLONG_BITS_IN_DIGIT == 30
  // The digits of the absolute value, the low digit first. The size of a negative int is negative.
  const Py_ssize_t size = Py_SIZE(object);
  const digit* const digits = reinterpret_cast<PyLongObject*>(object)->ob_digit;
  if (size == 1) {
    key = digits[0];
    return true;
  }
  if (size == 2 || (size == 3 && digits[2] < 16)) {
    key = digits[0] | uint64_t{digits[1]} << 30;
    if (size == 3) key |= uint64_t{digits[2]} << 60;
    return true;
  }
#endif
  int overflow = 0;
  key = static_cast<uint64_t>(PyLong_AsLongLongAndOverflow(object, &overflow));
  return overflow == 0;
}

// Sets `key` to the UTF-8 bytes of a str object, which it refers to, and returns true. Returns
// false with a Python error set if the object has lone surrogates. Runs no Python code.
inline bool ReadText(PyObject* object, std::string_view& key) noexcept {
#if !defined(Py_LIMITED_API)
  if (PyUnicode_IS_COMPACT_ASCII(object)) {
    key = {reinterpret_cast<const char*>(reinterpret_cast<PyASCIIObject*>(object) + 1),
           static_cast<size_t>(PyUnicode_GET_LENGTH(object))};
    return true;
  }
#endif
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) return false;
  key = {text, static_cast<size_t>(size)};
  return true;
}

// Returns work(key), a bool, if `object` is a str or an int that ReadInt reads. Returns -1 for
// other objects, without a Python error: OneKey::Parse converts these or sets the error.
//
// The classes are compared exactly, because the stable ABI has to call Python for subclasses. No
// object of a class with a destructor is on the stack, which saves instructions.
template <typename Work>
TAMIS_INLINE int ForPlainKey(PyObject* object, const Work& work) {
  if (PyLong_CheckExact(object)) {
    uint64_t key;
    return ReadInt(object, key) ? work(key) : -1;
  }
  if (PyUnicode_CheckExact(object)) {
    std::string_view key;
    if (ReadText(object, key)) return work(key);
    PyErr_Clear();
  }
  return -1;
}

// Returns 1 or 0. The result follows from a branch, which the processor predicts, and not from the
// value of `found`. So the interpreter does not wait until the filter's memory is read. The empty
// assembler statements differ, so that the compiler keeps the branch.
TAMIS_INLINE int ByBranch(bool found) noexcept {
#if TAMIS_GNU
  int result = 0;
  if (found) {
    result = 1;
    asm volatile("" : "+r"(result));
  } else {
    asm volatile("" : "+r"(result) : : "memory");
  }
  return result;
#else
  return found;
#endif
}

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
    if (PyUnicode_CheckExact(object)) return ParseStr(object);
    return ParseOther(object);
  }
  // Like Parse, but nullptr, None, NaN and the missing values of pandas become null, as in columns.
  bool ParseOrNull(PyObject* object) noexcept;

  Type type = Type::kInteger;
  uint64_t integer = 0;
  std::string_view bytes;

 private:
  bool ParseInt(PyObject* object) noexcept {
    type = Type::kInteger;
    return ReadInt(object, integer) || ParseLargeInt(object);
  }
  bool ParseStr(PyObject* object) noexcept {
    type = Type::kBytes;
    return ReadText(object, bytes);
  }
  bool ParseLargeInt(PyObject* object) noexcept;
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
