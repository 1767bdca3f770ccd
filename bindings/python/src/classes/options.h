// What a filter is made as, from arguments of Python.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_OPTIONS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_OPTIONS_H_

#include <nanobind/nanobind.h>
#include <tamis/filters/filter.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tamis::python {

namespace nb = nanobind;

// An argument that is an integer from 0 to 2^64 - 1: OverflowError for others, TypeError for what
// is no integer.
struct Unsigned {
  uint64_t value = 0;
};

// The number in an object. Throws OverflowError and TypeError. May run code of Python.
uint64_t UnsignedOf(nb::handle object);

// An argument that is a time in seconds: TypeError for what is no number, and for times of NumPy,
// which turn into numbers of whatever unit they are in.
struct Seconds {
  double value = 0;
};

// Whether it is a time or a duration of NumPy, or an array of these. May run code of Python, and
// throws what that raises.
bool IsTimeOfNumPy(nb::handle object);

// Sets `seconds` to the number in an object. Returns false for NumPy times and for objects that are
// not numbers. May run Python code: interrupts such as KeyboardInterrupt are thrown, and an
// Exception counts as "not a number".
bool ReadSeconds(nb::handle object, Seconds& seconds);

// Throws ValueError unless it has 16 bytes.
HashSecret SecretOf(const nb::bytes& secret);
std::optional<HashSecret> SecretIf(const std::optional<nb::bytes>& secret);

// Throws ValueError for a hash that there is none of, and a secret or seed that it does not have.
HashSpec SpecOf(const std::string& name, uint64_t seed, const std::optional<nb::bytes>& secret);
// nullptr for the best. Throws Error(kUnknownBackend).
const Backend* BackendOf(const std::optional<std::string>& name);
// Throws as the two above.
FilterOptions OptionsOf(Unsigned capacity, double fpr, Unsigned nbytes, const std::string& hash,
                        Unsigned seed, const std::optional<nb::bytes>& secret,
                        const std::optional<std::string>& backend, bool huge_pages);

// Describes the arguments `hash` to `huge_pages` of constructors.
inline constexpr char kHashDoc[] =
    "hash, seed: 'xxh3' or 'xxh64' and its seed; Parquet has 'xxh64' and 0.\n"
    "secret: 16 bytes for 'siphash13' and 'siphash24', which are for keys that an attacker may\n"
    "    choose; None draws a random one.\n"
    "backend: one of backends(); None is the best.\n"
    "huge_pages: ask for them from 4 MiB up.";

// Returns the description of constructors with the arguments of OptionsOf.
inline std::string MakeDoc() {
  constexpr char kSizeDoc[] =
      "capacity: how many keys will be inserted.\n"
      "fpr: the false-positive rate when they are; 0 is 0.01, and for cuckoo filters the rate\n"
      "    of a full table.\n"
      "nbytes: if not 0, the size instead.\n";
  return std::string(kSizeDoc) + kHashDoc;
}

}  // namespace tamis::python

namespace nanobind::detail {

template <>
struct type_caster<tamis::python::Unsigned> {
  NB_TYPE_CASTER(tamis::python::Unsigned, const_name("int"))

  // Throws: to say no would hide what was wrong behind a list of signatures.
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

// nanobind's own calls the caster above in a function that must not throw.
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
