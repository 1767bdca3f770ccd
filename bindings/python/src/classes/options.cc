// Converts Python arguments to the options of filters.
#include "bindings/python/src/classes/options.h"

#include <tamis/backends.h>
#include <tamis/hash_kinds.h>

#include <cstring>

#include "bindings/python/src/classes/gate.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {

uint64_t UnsignedOf(nb::handle object) {
  const nb::object number = nb::steal(OrStay([&] { return PyNumber_Index(object.ptr()); }));
  if (!number.is_valid()) throw nb::python_error();
  const uint64_t value = PyLong_AsUnsignedLongLong(number.ptr());
  if (value == ~uint64_t{0} && PyErr_Occurred()) throw nb::python_error();
  return value;
}

bool IsTimeOfNumPy(nb::handle object) {
  const nb::object dtype = AttributeIf(object, "dtype");
  if (!dtype.is_valid()) return false;
  const nb::object kind = AttributeIf(dtype, "kind");
  if (!kind.is_valid() || PyUnicode_Check(kind.ptr()) == 0) return false;
  const auto is = [&](const char* text) {
    return PyUnicode_CompareWithASCIIString(kind.ptr(), text) == 0;
  };
  return is("m") || is("M");
}

bool ReadSeconds(nb::handle object, Seconds& seconds) {
  if (IsTimeOfNumPy(object)) return false;
  seconds.value = OrStay([&] { return PyFloat_AsDouble(object.ptr()); });
  if (seconds.value != -1 || PyErr_Occurred() == nullptr) return true;
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
  PyErr_Clear();
  return false;
}

HashSecret SecretOf(const nb::bytes& secret) {
  if (secret.size() != 2 * sizeof(uint64_t)) {
    throw nb::value_error(
        tamis::detail::StrCat("a secret has 16 bytes, and this has ", secret.size()).c_str());
  }
  HashSecret parts;
  std::memcpy(&parts.low, secret.c_str(), sizeof(parts.low));
  std::memcpy(&parts.high, secret.c_str() + sizeof(parts.low), sizeof(parts.high));
  return parts;
}

std::optional<HashSecret> SecretIf(const std::optional<nb::bytes>& secret) {
  if (!secret) return std::nullopt;
  return SecretOf(*secret);
}

HashSpec SpecOf(const std::string& name, uint64_t seed, const std::optional<nb::bytes>& secret) {
  for (const HashKind kind : kHashKinds) {
    if (name != HashKindName(kind)) continue;
    if (!IsKeyed(kind)) {
      if (secret) throw nb::value_error((name + " accepts a seed, and not a secret").c_str());
      return {.kind = kind, .seed = seed};
    }
    if (seed != 0) throw nb::value_error((name + " accepts a secret, and not a seed").c_str());
    if (!secret) return RandomKeyedHash(kind);
    return {.kind = kind, .secret = SecretOf(*secret)};
  }
  throw nb::value_error(
      ("unknown hash '" + name + "'; allowed: xxh3, xxh64, siphash13, siphash24").c_str());
}

const Backend* BackendOf(const std::optional<std::string>& name) {
  return name ? &FindBackend(*name) : nullptr;
}

FilterOptions OptionsOf(Unsigned capacity, double fpr, Unsigned nbytes, const std::string& hash,
                        Unsigned seed, const std::optional<nb::bytes>& secret,
                        const std::optional<std::string>& backend, bool huge_pages) {
  FilterOptions options{.capacity = capacity.value, .fpr = fpr, .bytes = nbytes.value};
  options.hash = SpecOf(hash, seed.value, secret);
  options.backend = BackendOf(backend);
  options.memory.huge_pages = huge_pages;
  return options;
}

}  // namespace tamis::python
