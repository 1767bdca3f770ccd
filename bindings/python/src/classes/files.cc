// Filters in files, bytes and buffers.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/filters/serialize.h>
#include <tamis/hash_kinds.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/py_filter.h"

namespace tamis::python {
namespace {

namespace fs = std::filesystem;
using Secret = std::optional<nb::bytes>;

}  // namespace

void RequireThere(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) || error) return;
  const nb::object name = nb::cast(path);
  errno = ENOENT;
  PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, name.ptr());
  throw nb::python_error();
}

namespace {

AnyFilterResult OpenFile(const fs::path& path, bool map, bool verify, const Secret& secret,
                         const std::optional<std::string>& backend) {
  RequireThere(path);
  const auto opened = [&] {
    if (!map) {
      const LoadOptions options{.backend = BackendOf(backend), .secret = SecretIf(secret)};
      const WithoutGil released;
      return Load(path, options);
    }
    const MapOptions options{.verify = verify ? Verify::kFull : Verify::kHeader,
                             .backend = BackendOf(backend),
                             .secret = SecretIf(secret)};
    const WithoutGil released;
    return Map(path, options);
  };
  return Wrap(opened());
}

template <typename Py>
void SaveFile(Py& f, const fs::path& path, std::optional<bool> with_secret, uint32_t version,
              uint64_t shard_bytes) {
  const Reading lock(f.gate);
  const WithoutGil released;
  f.filter->Save(path,
                 {.with_secret = with_secret, .version = version, .shard_bytes = shard_bytes});
}

template <typename Py>
Result<"bytes"> ToBytes(Py& f, std::optional<bool> with_secret) {
  const SaveOptions options{.with_secret = with_secret};
  const Reading lock(f.gate);
  const uint64_t size = SerializedBytes(*f.filter, options);
  if (size > static_cast<uint64_t>(PY_SSIZE_T_MAX)) throw std::bad_alloc();
  nb::object bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes.is_valid()) throw nb::python_error();
  auto* const to = reinterpret_cast<std::byte*>(PyBytes_AsString(bytes.ptr()));
  const WithoutGil released;
  Serialize(*f.filter, std::span(to, size), options);
  return bytes;
}

AnyFilter LoadBytes(nb::handle bytes, const Secret& secret) {
  const HeldBuffer held(bytes, PyBUF_SIMPLE);
  const std::span all(static_cast<const std::byte*>(held.view().buf),
                      static_cast<size_t>(held.view().len));
  const LoadOptions options{.secret = SecretIf(secret)};
  const WithoutGil released;
  return Load(all, options);
}

AnyFilterResult FromBuffer(BufferArg buffer, bool verify, const Secret& secret) {
  auto backing = std::make_unique<Backing>(buffer);
  const MapOptions options{.verify = verify ? Verify::kFull : Verify::kHeader,
                           .secret = SecretIf(secret)};
  AnyFilter filter = [&] {
    const WithoutGil released;
    return Map(backing->bytes(), options);
  }();
  return Wrap(std::move(filter), std::move(backing));
}

// Returns the state for pickle: the bytes of the filter, and the attributes of Python subclasses.
template <typename Py>
nb::tuple GetState(nb::handle self) {
  Py* const found = FilterIn<Py>(self.ptr());
  if (found == nullptr) throw nb::python_error();
  Py& f = *found;
  // The bytes include the secret of a keyed hash, because the filter is useless without the secret.
  const bool keyed = IsKeyed(f.filter->hash().kind);
  const std::optional<bool> with_secret = keyed ? std::optional(true) : std::nullopt;
  return nb::make_tuple(ToBytes(f, with_secret),
                        nb::getattr(self, "__dict__", nb::handle(Py_None)));
}

template <typename Py>
void SetState(nb::pointer_and_handle<Py> self, const nb::tuple& state) {
  if (state.size() != 2) throw nb::value_error("this is not the state of a filter");
  AnyFilter filter = LoadBytes(state[0], std::nullopt);
  if (PyObject_IsInstance(self.h.ptr(), ClassOf(filter->kind()).ptr()) != 1) {
    throw nb::type_error("these are the bytes of a filter of another class");
  }
  if (!state[1].is_none()) self.h.attr("__dict__").attr("update")(state[1]);
  new (self.p) Py(std::move(filter));
}

// Calls object.__reduce_ex__ with protocol 2 or a newer one. Older protocols do not read the state.
nb::object Reduce(nb::handle self, int protocol) {
  const nb::handle object(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return object.attr("__reduce_ex__")(self, std::max(protocol, 2));
}

template <typename Py, typename Base>
void DefineSaving(nb::class_<Py, Base>& filter) {
  filter
      .def(
          "save", SaveFile<Py>, nb::arg("path"), nb::kw_only(),
          nb::arg("with_secret").none() = nb::none(),
          nb::arg("version") = FileHeader::kNewestVersion, nb::arg("shard_bytes") = 0,
          "Writes the filter to a file, atomically: the path names the old file or the new one.\n\n"
          "with_secret: whether the file contains the secret of a keyed hash. The default is\n"
          "    True if the filter was read from a file that contains the secret.\n"
          "version: 1 for readers that support only version 1.\n"
          "shard_bytes: if it is not 0, saves several files of this many bytes, a multiple of\n"
          "    65,536. The path must be a name and '.0000'; the other files end in '.0001' and so\n"
          "    on, and all must be new. open() takes the path of the first.")
      .def("to_bytes", ToBytes<Py>, nb::kw_only(), nb::arg("with_secret").none() = nb::none(),
           "Returns the bytes of the file that save() would write.")
      .def("__reduce_ex__", Reduce, nb::arg("protocol"))
      .def("__getstate__", GetState<Py>)
      .def("__setstate__", SetState<Py>, nb::arg("state"));
}

}  // namespace

Backing::Backing(nb::handle object)
    : held_(std::make_unique<HeldBuffer>(object, PyBUF_SIMPLE)),
      bytes_(static_cast<const std::byte*>(held_->view().buf),
             static_cast<size_t>(held_->view().len)) {
  if (reinterpret_cast<uintptr_t>(bytes_.data()) % alignof(Line) == 0) return;
  copy_ = std::make_unique_for_overwrite<Line[]>((bytes_.size() + sizeof(Line) - 1) / sizeof(Line));
  std::memcpy(copy_.get(), bytes_.data(), bytes_.size());
  bytes_ = {copy_[0].bytes, bytes_.size()};
  held_ = nullptr;
}

void DefineFiles(nb::module_& m, nb::class_<PyFilter, PyChangeable>& filter,
                 nb::class_<PyStaticFilter, PyQueryable>& static_filter) {
  m.def("open", OpenFile, nb::arg("path"), nb::kw_only(), nb::arg("map") = false,
        nb::arg("verify") = false, nb::arg("secret").none() = nb::none(),
        nb::arg("backend").none() = nb::none(),
        "Opens the filter in a file written by save() or by the tamis command. Returns an object\n"
        "of the class of its kind.\n\n"
        "map: maps the file instead of reading it. The filter is then read-only, and pages are\n"
        "    read when they are first used. Do not write to a file while it is mapped. save() may\n"
        "    replace the file.\n"
        "verify: checks all bytes of a mapped file instead of only its header. A file that is\n"
        "    read is always checked completely.\n"
        "secret: the secret of a keyed hash, unless the file contains it.\n\n"
        "Raises FileNotFoundError, FileError (an OSError), and CorruptError (a ValueError).\n\n"
        ">>> f = tamis.SplitBlockBloomFilter(1000)\n"
        ">>> f.add('ada')\n"
        ">>> f.save('known.tamis')\n"
        ">>> 'ada' in tamis.open('known.tamis', map=True)\n"
        "True\n");
  m.def(
      "from_bytes",
      [](BufferArg data, const Secret& secret) -> AnyFilterResult {
        return Wrap(LoadBytes(data, secret));
      },
      nb::arg("data"), nb::kw_only(), nb::arg("secret").none() = nb::none(),
      "Returns a copy of the filter in the bytes of to_bytes() or of a file. Checks all of\n"
      "them.\n\n"
      ">>> f = tamis.BloomFilter(1000)\n"
      ">>> f.add(7)\n"
      ">>> 7 in tamis.from_bytes(f.to_bytes())\n"
      "True\n");
  m.def("frombuffer", FromBuffer, nb::arg("buffer"), nb::kw_only(), nb::arg("verify") = true,
        nb::arg("secret").none() = nb::none(),
        "Returns a read-only filter in the memory of a buffer that contains the bytes of\n"
        "to_bytes().\n\n"
        "Does not copy a buffer that begins at a multiple of 64, as shared memory and mmap do.\n"
        "The buffer must not be written to while the filter exists.\n"
        "verify: checks all bytes instead of only the header.\n\n"
        ">>> f = tamis.BloomFilter(1000)\n"
        ">>> f.add(7)\n"
        ">>> g = tamis.frombuffer(f.to_bytes())\n"
        ">>> 7 in g, g.read_only\n"
        "(True, True)\n");
  DefineSaving(filter);
  DefineSaving(static_filter);
}

}  // namespace tamis::python
