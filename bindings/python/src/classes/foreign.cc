// The class of filters of other libraries.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tamis/error.h>
#include <tamis/formats/foreign_filter.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/py_filter.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

namespace fs = std::filesystem;

class PyForeign : public PyChangeable {
 public:
  explicit PyForeign(ForeignFilter made)
      : PyChangeable(QueryTraits::ThreadSafety::kConcurrentQueries), filter(std::move(made)) {}

  const Queryable& queryable() const override { return filter; }
  Changeable& RequireChangeable() override { return filter; }
  std::string name() const override { return std::string(filter.format().name) + " filter"; }

  ForeignFilter filter;
};

// Returns work(filter), called without the GIL.
template <typename Work>
auto Read(PyForeign& f, const Work& work) {
  return Query(f, [&](const Queryable&) { return work(std::as_const(f.filter)); });
}

template <typename Make>
Result<"tamis.ForeignFilter"> Made(const Make& make) {
  auto made = [&] {
    const WithoutGil released;
    return make();
  };
  return nb::cast(new PyForeign(made()), nb::rv_policy::take_ownership);
}

auto LoadForeign(const fs::path& path, const std::string& format, bool map) {
  return Made(
      [&] { return map ? ForeignFilter::Map(path, format) : ForeignFilter::Load(path, format); });
}

auto OpenForeign(const fs::path& path) {
  return Made([&] { return ForeignFilter::Open(path); });
}

auto FromBytes(BufferArg data, const std::string& format) {
  const HeldBuffer held(data, PyBUF_SIMPLE);
  const std::span bytes(static_cast<const std::byte*>(held.view().buf),
                        static_cast<size_t>(held.view().len));
  return Made([&] { return ForeignFilter::FromBytes(bytes, format); });
}

void MergeForeign(PyForeign& f, PyForeign& other) {
  if (&f == &other) return;
  WaitForBoth(f.gate, other.gate);
  const Writing lock(f.gate, AtOnce());
  const Reading other_lock(other.gate, AtOnce());
  const WithoutGil released;
  f.filter.Merge(other.filter);
}

nb::bytes ToBytes(PyForeign& f) {
  const std::vector<std::byte> bytes = Read(f, [](const ForeignFilter& g) { return g.ToBytes(); });
  return nb::bytes(bytes.data(), bytes.size());
}

std::vector<std::string> Formats() {
  std::vector<std::string> names;
  for (const ForeignFormat& format : ForeignFormats()) names.emplace_back(format.name);
  return names;
}

std::string ReprOf(nb::handle self) {
  if (!nb::inst_ready(self)) throw nb::type_error("the filter is not made yet");
  PyForeign& f = *nb::inst_ptr<PyForeign>(self);
  const Reading lock(f.gate);
  return tamis::detail::StrCat("ForeignFilter(format='", f.filter.format().name,
                               "', nbytes=", f.filter.bytes(), ")");
}

Result<"typing.NoReturn"> NoPickle(nb::handle, Arg<"typing.SupportsIndex">) {
  throw nb::type_error(
      "a filter of another library cannot be pickled: use to_bytes() and from_bytes()");
}

constexpr char kDoc[] =
    "A Bloom or cuckoo filter in the format of another library, bit for bit.\n\n"
    "The name of a format includes the type of its keys, such as 'guava:utf8', because the\n"
    "bytes do not contain it. formats() returns all names; see docs/formats.md. Pass keys\n"
    "as to the other classes. Keys of another type, such as text for a filter of integers,\n"
    "raise InvalidArgumentError. If the format does not support a key, no key of the key's batch\n"
    "is inserted. Keys of earlier batches stay in the filter.\n\n"
    ">>> f = tamis.ForeignFilter.from_bytes(bytes.fromhex('01010000000200000000000000000000"
    "000000000000'), 'guava:utf8')\n"
    ">>> f.insert(['ada', 'bob'])\n"
    "2\n"
    ">>> 'ada' in f, f.contains(['bob', 'eve', None])\n"
    "(True, [True, False, False])\n"
    ">>> f\n"
    "ForeignFilter(format='guava:utf8', nbytes=16)\n";

}  // namespace

void DefineForeign(nb::module_& m) {
  nb::class_<PyForeign, PyChangeable>(m, "ForeignFilter", kDoc)
      .def_static("formats", Formats, "Returns the names of all formats.")
      .def_static("load", LoadForeign, nb::arg("path"), nb::arg("format"), nb::kw_only(),
                  nb::arg("map") = false,
                  "Reads a filter written by the other library.\n\n"
                  "map: maps the file instead, for the format 'dcso' only. The filter is then\n"
                  "    read-only, and pages are read when they are first used. Do not write to a\n"
                  "    file while it is mapped.")
      .def_static("open", OpenForeign, nb::arg("path"),
                  "Reads a file of save_imported or of `tamis import`, which contains its format.")
      .def_static("from_bytes", FromBytes, nb::arg("data"), nb::arg("format"),
                  "Reads a filter from the bytes of a file of the other library.")
      .def_prop_ro(
          "format", [](PyForeign& f) { return std::string(f.filter.format().name); },
          "The name of the format, with the type of its keys.")
      .def("merge", MergeForeign, nb::arg("other"),
           "Adds the keys of another filter with the same format and size.")
      .def("to_bytes", ToBytes, "Returns the bytes that the other library reads.")
      .def(
          "save",
          [](PyForeign& f, const fs::path& path) {
            Read(f, [&](const ForeignFilter& g) { g.Save(path); });
          },
          nb::arg("path"), "Writes the bytes of to_bytes() to a file, atomically.")
      .def(
          "save_imported",
          [](PyForeign& f, const fs::path& path) {
            Read(f, [&](const ForeignFilter& g) { g.SaveImported(path); });
          },
          nb::arg("path"), "Like save, with a header that contains the format, and a checksum.")
      .def("__repr__", ReprOf)
      .def("__reduce_ex__", NoPickle, nb::arg("protocol"));
}

}  // namespace tamis::python
