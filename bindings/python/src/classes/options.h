// Converts Python arguments to the options of filters.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_OPTIONS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_OPTIONS_H_

#include <nanobind/nanobind.h>
#include <tamis/filters/filter.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::python {

namespace nb = nanobind;

// An argument that is an integer from 0 to 2^64 - 1. Raises OverflowError for other integers and
// TypeError for other objects.
struct Unsigned {
  uint64_t value = 0;
};

// Returns the value of an object as for Unsigned, with the same exceptions. May run Python code.
uint64_t UnsignedOf(nb::handle object);

// An argument that is a time in seconds. Raises TypeError for objects that are not numbers. Also
// raises TypeError for NumPy times, because these would convert to numbers of another unit.
struct Seconds {
  double value = 0;
};

// Returns whether the object is a NumPy time or duration, or an array of them. May run Python code,
// and throws what it raises.
bool IsTimeOfNumPy(nb::handle object);

// Sets `seconds` to the value of an object. Returns false for NumPy times and for objects that are
// not numbers. May run Python code. Returns false if this code raises an Exception, and throws
// other exceptions, such as KeyboardInterrupt.
bool ReadSeconds(nb::handle object, Seconds& seconds);

// Throws ValueError unless `secret` has 16 bytes.
HashSecret SecretOf(const nb::bytes& secret);
std::optional<HashSecret> SecretIf(const std::optional<nb::bytes>& secret);

// Throws ValueError for an unknown hash, and for a secret or seed that the hash does not have.
HashSpec SpecOf(const std::string& name, uint64_t seed, const std::optional<nb::bytes>& secret);
// Returns the backend with this name. Without a name, returns nullptr, which stands for the best
// backend. Throws Error(kUnknownBackend).
const Backend* BackendOf(const std::optional<std::string>& name);
// Throws the exceptions of SpecOf and BackendOf.
FilterOptions OptionsOf(Unsigned capacity, double fpr, Unsigned nbytes, const std::string& hash,
                        Unsigned seed, const std::optional<nb::bytes>& secret,
                        const std::optional<std::string>& backend, bool huge_pages);

// Describes the arguments `hash` to `huge_pages` of constructors.
inline constexpr char kHashDoc[] =
    "hash, seed: 'xxh3' or 'xxh64', and its seed. Parquet uses 'xxh64' and 0.\n"
    "secret: 16 bytes for 'siphash13' and 'siphash24', for keys that an attacker may choose.\n"
    "    None draws a random secret.\n"
    "backend: one of backends(). None selects the best backend.\n"
    "huge_pages: whether to request huge pages for filters from 4 MiB up.";

// Returns the description of constructors with the arguments of OptionsOf.
inline std::string MakeDoc() {
  constexpr char kSizeDoc[] =
      "capacity: number of keys to insert.\n"
      "fpr: false-positive rate with this number of keys. 0 means 0.01, and for cuckoo filters\n"
      "    the rate of a full table.\n"
      "nbytes: if not 0, the size, instead of a size computed from capacity and fpr.\n";
  return std::string(kSizeDoc) + kHashDoc;
}

}  // namespace tamis::python

namespace nanobind::detail {

template <>
struct type_caster<tamis::python::Unsigned> {
  NB_TYPE_CASTER(tamis::python::Unsigned, const_name("int"))

  // Throws instead of returning false. Otherwise nanobind would hide the error behind a list of
  // signatures.
  bool from_python(handle source, uint8_t, cleanup_list*) {
    value.value = tamis::python::UnsignedOf(source);
    return true;
  }
  static handle from_cpp(const tamis::python::Unsigned& number, rv_policy, cleanup_list*) {
    return PyLong_FromUnsignedLongLong(number.value);
  }
};

template <>
struct type_caster<tamis::python::Seconds> {
  NB_TYPE_CASTER(tamis::python::Seconds, const_name("float"))

  bool from_python(handle source, uint8_t, cleanup_list*) {
    return tamis::python::ReadSeconds(source, value);
  }
  static handle from_cpp(const tamis::python::Seconds& seconds, rv_policy, cleanup_list*) noexcept {
    return PyFloat_FromDouble(seconds.value);
  }
};

// Necessary because nanobind's own caster for std::optional calls the caster above in a noexcept
// function.
template <>
struct type_caster<std::optional<tamis::python::Seconds>> {
  NB_TYPE_CASTER(std::optional<tamis::python::Seconds>, const_name("float | None"))

  bool from_python(handle source, uint8_t, cleanup_list*) {
    value.reset();
    return source.is_none() || tamis::python::ReadSeconds(source, value.emplace());
  }
};

}  // namespace nanobind::detail

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_OPTIONS_H_
