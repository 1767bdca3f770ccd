// The classes of filters: construction, properties and set operations.
#include "bindings/python/src/classes/classes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/any_scalable_filter.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/filters/set_operations.h>
#include <tamis/hash_kinds.h>

#include <cstring>
#include <optional>
#include <string>

#include "bindings/python/src/classes/for_class.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/keys/one_key.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

template <FilterKind kKind>
nb::class_<FilterOf<kKind>, PyFilter> Define(nb::module_& m, const char* name,
                                             const std::string& doc) {
  using F = FilterOf<kKind>;
  const auto make = [](F* self, Unsigned capacity, double fpr, Unsigned nbytes,
                       const std::string& hash, Unsigned seed,
                       const std::optional<nb::bytes>& secret,
                       const std::optional<std::string>& backend, bool huge_pages) {
    new (self) F(MakeFilter(
        kKind, OptionsOf(capacity, fpr, nbytes, hash, seed, secret, backend, huge_pages)));
  };
  return nb::class_<F, PyFilter>(m, name, nb::type_slots(SlotsOf(kKind)), doc.c_str())
      .def("__init__", make, nb::arg("capacity") = Unsigned{}, nb::arg("fpr") = 0.0, nb::kw_only(),
           nb::arg("nbytes") = Unsigned{}, nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           nb::arg("huge_pages") = true, MakeDoc().c_str());
}

// Returns work(filter), which reads the filter with the GIL. Locks the filter, because other
// threads change filters without the GIL.
template <typename Py, typename Work>
auto Look(Py& f, const Work& work) {
  const Reading lock(f.gate);
  return work(static_cast<const Filter&>(*f.filter));
}

void DefineScalable(nb::module_& m) {
  using F = FilterOf<FilterKind::kScalable>;
  const auto make =
      [](F* self, Unsigned initial_capacity, double fpr, const std::string& layers, double growth,
         double tightening, Unsigned max_bytes, const std::string& hash, Unsigned seed,
         const std::optional<nb::bytes>& secret, const std::optional<std::string>& backend) {
        FilterKind kind;
        if (!ParseFilterKind(layers, kind)) {
          throw nb::value_error(("unknown kind of layers '" + layers +
                                 "'; allowed: split-block, bloom, cuckoo8, cuckoo12, cuckoo16")
                                    .c_str());
        }
        const ScalableOptions options{.initial_capacity = initial_capacity.value,
                                      .fpr = fpr,
                                      .growth = growth,
                                      .tightening = tightening,
                                      .max_bytes = max_bytes.value,
                                      .hash = SpecOf(hash, seed.value, secret),
                                      .backend = BackendOf(backend)};
        new (self) F(MakeScalableFilter(kind, options));
      };
  nb::class_<F, PyFilter>(
      m, "ScalableFilter",
      "A filter for an unknown number of keys: a chain of filters that grows.\n\n"
      ">>> f = tamis.ScalableFilter(initial_capacity=1000, fpr=0.01)\n"
      ">>> f.insert(range(100_000))\n"
      "100000\n"
      ">>> f.layers > 3\n"
      "True\n")
      .def("__init__", make, nb::arg("initial_capacity") = Unsigned{uint64_t{1} << 16},
           nb::arg("fpr") = 0.01, nb::kw_only(), nb::arg("layers") = "split-block",
           nb::arg("growth") = 2.0, nb::arg("tightening") = 0.85, nb::arg("max_bytes") = Unsigned{},
           nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           "initial_capacity: number of keys of the first layer.\n"
           "fpr: upper bound for the false-positive rate of the whole filter.\n"
           "layers: 'split-block', 'bloom', 'cuckoo8', 'cuckoo12' or 'cuckoo16'. With cuckoo\n"
           "    layers, keys can be erased.\n"
           "growth: capacity of a layer as a multiple of the capacity of the previous layer.\n"
           "tightening: each layer gets the share 1 - tightening of the rate that earlier layers\n"
           "    left.\n"
           "max_bytes: upper bound for the size of all layers together; 0 means unlimited.")
      .def_prop_ro(
          "layers",
          [](PyFilter& f) {
            return Look(f, [](const Filter& g) {
              const auto view = ViewScalable(g);
              if (!view) throw nb::type_error("this is not a scalable filter");
              return view->layers.size();
            });
          },
          "The number of layers.");
}

std::string NameOf(nb::handle self) {
  return nb::cast<std::string>(self.type().attr("__qualname__"));
}

// Returns a text with the properties that are known without reading the contents.
template <typename Py>
std::string Repr(nb::handle self) {
  Py* const f = FilterIn<Py>(self.ptr());
  if (f == nullptr) throw nb::python_error();
  const Reading lock(f->gate);
  const Filter& filter = *f->filter;
  std::string text = tamis::detail::StrCat(NameOf(self), "(capacity=", filter.capacity(),
                                           ", inserted_count=", filter.inserted_count());
  text += tamis::detail::StrCat(", nbytes=", filter.bytes());
  char rate[64];
  std::snprintf(rate, sizeof(rate), ", fpr=%.3g, fill=%.3g", FprByCount(filter),
                static_cast<double>(filter.inserted_count()) /
                    static_cast<double>(std::max<uint64_t>(filter.capacity(), 1)));
  return text + rate + (filter.read_only() ? ", read_only=True)" : ")");
}

// Like Look, but calls `work` without the GIL.
template <typename Py, typename Work>
auto Read(Py& f, const Work& work) {
  const Reading lock(f.gate);
  const WithoutGil released;
  return work(static_cast<const Filter&>(*f.filter));
}

void Clear(PyFilter& f) {
  const Writing lock(f.gate);
  ChangeableFilter& filter = f.RequireChangeable();
  const WithoutGil released;
  filter.Clear();
}

template <typename Py>
AnyFilter Copied(Py& f) {
  return Read(f, [](const Filter& filter) { return Clone(filter); });
}

// Calls work(filter, other) for two filters of the same class.
template <typename Work>
void Combine(PyFilter& f, PyFilter& other, const Work& work) {
  if (&f == &other) throw nb::value_error("a filter cannot be combined with itself in place");
  WaitForBoth(f.gate, other.gate);
  const Writing lock(f.gate, AtOnce());
  const Reading other_lock(other.gate, AtOnce());
  f.RequireChangeable();
  const WithoutGil released;
  work(*f.filter, static_cast<const Filter&>(*other.filter));
}

// Returns the filter in an operand of `|` or `&`, or nullptr if the operand is not a filter.
PyFilter* Operand(nb::handle object) {
  PyFilter* found = nullptr;
  return nb::try_cast(object, found) ? found : nullptr;
}

template <typename Work>
SelfResult InPlace(nb::handle self, nb::handle other, const Work& work) {
  PyFilter* const f = Operand(self);
  PyFilter* const from = Operand(other);
  if (f == nullptr || from == nullptr) return nb::borrow(Py_NotImplemented);
  // f |= f and f &= f change nothing, as for sets.
  if (f != from) Combine(*f, *from, work);
  return nb::borrow(self);
}

template <typename Work>
SelfResult AsNew(nb::handle self, nb::handle other, const Work& work) {
  PyFilter* const f = Operand(self);
  PyFilter* const from = Operand(other);
  if (f == nullptr || from == nullptr) return nb::borrow(Py_NotImplemented);
  nb::object made = Wrap(Copied(*f));
  if (f != from) Combine(*nb::cast<PyFilter*>(made), *from, work);
  return made;
}

// Defines the members of tamis.Filter that do not change it, for a class with a PyFilter or a
// PyStaticFilter.
template <typename Py, typename Base>
void DefineMembers(nb::class_<Py, Base>& filter) {
  filter
      .def_prop_ro(
          "kind", [](const Py& f) { return FilterKindName(f.filter->kind()); },
          "The name of the filter's kind in the tamis command: 'split-block' ...")
      .def_prop_ro(
          "capacity", [](Py& f) { return Look(f, [](const Filter& g) { return g.capacity(); }); },
          "Number of keys that the filter was sized for.")
      .def_prop_ro(
          "inserted_count",
          [](Py& f) { return Look(f, [](const Filter& g) { return g.inserted_count(); }); },
          std::is_same_v<Py, PyStaticFilter>
              ? "The number of distinct keys."
              : "Number of keys inserted minus number erased. Duplicates count.")
      .def_prop_ro(
          "bits_per_key",
          [](Py& f) { return Look(f, [](const Filter& g) { return g.bits_per_key(); }); },
          "Bits of memory per key of the capacity.")
      .def_prop_ro(
          "hash", [](const Py& f) -> std::string { return HashKindName(f.filter->hash().kind); },
          "'xxh3', 'xxh64', 'siphash13' or 'siphash24'.")
      .def_prop_ro(
          "seed", [](const Py& f) { return f.filter->hash().seed; }, "The seed of the hash.")
      .def_prop_ro(
          "read_only", [](const Py& f) { return f.filter->read_only(); },
          "True if the filter is mapped from a file or a buffer.")
      .def_prop_ro(
          "can_erase", [](const Py& f) { return f.erasable() != nullptr; },
          "Whether keys can be erased.")
      .def_prop_ro(
          "backend", [](const Py& f) { return std::string(f.filter->backend().name); },
          "The name of the backend. It affects only the speed.")
      .def(
          "copy", [](Py& f) -> SelfResult { return Wrap(Copied(f)); },
          "Returns a copy in new memory, which is never read-only.")
      .def("__repr__", Repr<Py>);
}

}  // namespace

nb::object Wrap(AnyFilter filter, std::unique_ptr<Backing> bytes) {
  return ForKind(filter->kind(), [&]<typename, FilterKind kKind>() {
    auto made = std::make_unique<FilterOf<kKind>>(std::move(filter), std::move(bytes));
    return nb::cast(made.release(), nb::rv_policy::take_ownership);
  });
}

nb::handle ClassOf(FilterKind kind) {
  return ForKind(kind, []<typename, FilterKind kKind>() { return nb::type<FilterOf<kKind>>(); });
}

nb::class_<PyFilter, PyChangeable> DefineFilter(nb::module_& m) {
  nb::class_<PyFilter, PyChangeable> filter(
      m, "Filter", nb::type_slots(FilterSlots()), nb::is_weak_referenceable(),
      "The common base class of filters that take keys. An approximate set.\n");
  DefineMembers(filter);
  filter.def("clear", Clear, "Removes all keys.")
      .def(
          "__or__", [](nb::handle f, SelfArg other) { return AsNew(f, other, tamis::Merge); },
          nb::arg("other"), "Returns a filter with all keys of both filters.")
      .def(
          "__ior__", [](nb::handle f, SelfArg other) { return InPlace(f, other, tamis::Merge); },
          nb::arg("other"), "Adds all keys of another filter with equal size and hash.")
      .def(
          "__and__", [](nb::handle f, SelfArg other) { return AsNew(f, other, tamis::Intersect); },
          nb::arg("other"),
          "Returns a filter that contains at least the keys that are in both filters.")
      .def(
          "__iand__",
          [](nb::handle f, SelfArg other) { return InPlace(f, other, tamis::Intersect); },
          nb::arg("other"),
          "Keeps the keys that are also in another filter with equal size and hash.");
  return filter;
}

nb::class_<PyStaticFilter, PyQueryable> DefineStaticFilter(nb::module_& m) {
  nb::class_<PyStaticFilter, PyQueryable> filter(
      m, "StaticFilter", nb::type_slots(StaticFilterSlots()), nb::is_weak_referenceable(),
      "The common base class of filters that are built from all their keys and never change.\n");
  DefineMembers(filter);
  return filter;
}

void DefineKinds(nb::module_& m) {
  const auto with_example = [](std::string text, const char* example) { return text + example; };
  auto split_block = Define<FilterKind::kSplitBlock>(
      m, "SplitBlockBloomFilter",
      with_example("The fast default: one cache line per lookup, and the bits of Parquet.\n\n",
                   ">>> f = tamis.SplitBlockBloomFilter(capacity=1000, fpr=0.01)\n"
                   ">>> f.add('ada')\n"
                   ">>> 'ada' in f, 'eve' in f\n"
                   "(True, False)\n"));
  DefineContents(split_block);
  Define<FilterKind::kBloom>(
      m, "BloomFilter",
      with_example("The classic Bloom filter: takes the least memory of the Bloom filters.\n\n",
                   ">>> f = tamis.BloomFilter(1000, 0.001)\n"
                   ">>> f.update(range(1000))\n"
                   ">>> f.count(range(1000))\n"
                   "1000\n"));
  Define<FilterKind::kCounting>(
      m, "CountingBloomFilter",
      with_example("Counters instead of bits: keys can be inserted and erased, even in copies.\n\n",
                   ">>> f = tamis.CountingBloomFilter(1000)\n"
                   ">>> f.update(['ada', 'ada'])\n"
                   ">>> f.discard('ada'), 'ada' in f\n"
                   "(True, True)\n"));
  const char* const cuckoo =
      "Erase only keys that were inserted. A key can be inserted up to 8 times (10 with 12\n"
      "bits).\n";
  Define<FilterKind::kCuckoo8>(
      m, "CuckooFilter8",
      with_example("Keys can be erased: 8.3 bits per key, a false-positive rate of 3%.", cuckoo));
  Define<FilterKind::kCuckoo12>(
      m, "CuckooFilter12",
      with_example("Keys can be erased: 13.2 bits per key, a false-positive rate of 0.24%.",
                   cuckoo));
  Define<FilterKind::kCuckoo16>(
      m, "CuckooFilter16",
      with_example("Keys can be erased: 16.7 bits per key, a false-positive rate of 0.012%.",
                   cuckoo));
  DefineScalable(m);
}

}  // namespace tamis::python
