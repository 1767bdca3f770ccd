// The classes of filters that many threads change and query at the same time.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/file/filter_kind_name.h>
#include <tamis/filters/filter_kinds.h>
#include <tamis/hash_kinds.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/py_filter.h"
#include "bindings/python/src/live/concurrent_slots.h"
#include "bindings/python/src/live/live_classes.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

// A separate type for each kind, so that each Python class gets its own constructor.
template <FilterKind kKind>
struct ConcurrentOfKind : PyConcurrent {
  using PyConcurrent::PyConcurrent;
};

// Returns make.operator()<kKind>() for the kKind of the list that equals `kind`.
template <FilterKind kFirst, FilterKind... kMore, typename Make>
auto ForKinds(FilterKind kind, const Make& make) {
  if constexpr (sizeof...(kMore) > 0) {
    if (kind != kFirst) return ForKinds<kMore...>(kind, make);
  }
  return make.template operator()<kFirst>();
}

// Returns the filter in an object of this class. Throws TypeError if its __init__ was never called.
ConcurrentFilter& Made(nb::handle self) {
  if (!nb::inst_ready(self)) {
    throw nb::type_error("the filter is not made yet: call super().__init__(...)");
  }
  return *nb::inst_ptr<PyConcurrent>(self)->filter;
}

SelfResult MergeInPlace(nb::handle self, AnyFilterArg other) {
  ConcurrentFilter& to = Made(self);
  PyFilter* plain = nullptr;
  PyConcurrent* shared = nullptr;
  if (other.is_none()) return nb::borrow(Py_NotImplemented);
  if (nb::try_cast(other, plain)) {
    const Reading lock(plain->gate);
    const WithoutGil released;
    to.Merge(*plain->filter);
  } else if (nb::try_cast(other, shared)) {
    const ConcurrentFilter& from = *shared->filter;
    const WithoutGil released;
    to.Merge(from);
  } else {
    return nb::borrow(Py_NotImplemented);
  }
  return nb::borrow(self);
}

FilterResult Snapshot(const PyConcurrent& c) {
  return Wrap([&] {
    const WithoutGil released;
    return c.filter->Snapshot();
  }());
}

void SaveFile(const PyConcurrent& c, const std::filesystem::path& path,
              std::optional<bool> with_secret, uint32_t version, uint64_t shard_bytes) {
  const WithoutGil released;
  c.filter->Save(path,
                 {.with_secret = with_secret, .version = version, .shard_bytes = shard_bytes});
}

ConcurrentResult OpenFile(const std::filesystem::path& path,
                          const std::optional<nb::bytes>& secret) {
  RequireThere(path);
  return WrapConcurrent([&] {
    const LoadOptions options{.secret = SecretIf(secret)};
    const WithoutGil released;
    return AnyConcurrent::Load(path, options);
  }());
}

std::string Repr(nb::handle self) {
  const ConcurrentFilter& f = Made(self);
  char rate[32];
  std::snprintf(rate, sizeof(rate), ", fill=%.3g)",
                static_cast<double>(f.inserted_count()) /
                    static_cast<double>(std::max<uint64_t>(f.capacity(), 1)));
  return tamis::detail::StrCat(nb::cast<std::string>(self.type().attr("__qualname__")),
                               "(capacity=", f.capacity(), ", inserted_count=", f.inserted_count(),
                               ", nbytes=", f.bytes(), rate);
}

template <FilterKind kKind>
void Define(nb::module_& m, const char* name, const char* doc) {
  using C = ConcurrentOfKind<kKind>;
  const auto make = [](C* self, Unsigned capacity, double fpr, Unsigned nbytes,
                       const std::string& hash, Unsigned seed,
                       const std::optional<nb::bytes>& secret,
                       const std::optional<std::string>& backend, bool huge_pages) {
    new (self) C(AnyConcurrent(MakeConcurrent(MakeFilter(
        kKind, OptionsOf(capacity, fpr, nbytes, hash, seed, secret, backend, huge_pages)))));
  };
  nb::class_<C, PyConcurrent>(m, name, nb::type_slots(ConcurrentSlots()), doc)
      .def("__init__", make, nb::arg("capacity") = Unsigned{}, nb::arg("fpr") = 0.0, nb::kw_only(),
           nb::arg("nbytes") = Unsigned{}, nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           nb::arg("huge_pages") = true, MakeDoc().c_str());
}

constexpr char kDoc[] =
    "The common base class of the concurrent filters. Any number of threads can insert and\n"
    "query at a time, in calls that never wait. Calls with many keys run without the GIL.\n\n"
    "A key whose insertion has returned is found by every call that begins afterwards. If\n"
    "several threads insert the same key by insert_if_absent at a time, at least one of them\n"
    "gets True; for cuckoo filters exactly one. erase looks up all keys before it erases the\n"
    "first, and holds no lock in between. So if several threads erase the same key at a time,\n"
    "more than one may find it. A child of fork may use filters that cannot erase keys.\n";

void DefineBase(nb::module_& m) {
  nb::class_<PyConcurrent, PyChangeable>(m, "ConcurrentFilter", nb::type_slots(ConcurrentSlots()),
                                         nb::is_weak_referenceable(), kDoc)
      .def("__ior__", MergeInPlace, nb::arg("other"),
           "Adds all keys of another filter with equal kind, size and hash, plain or concurrent.")
      .def("snapshot", Snapshot,
           "Returns a copy as a plain filter, with at least every key whose insertion has\n"
           "returned.\n\n"
           ">>> f = tamis.live.ConcurrentSplitBlockBloomFilter(1000)\n"
           ">>> f.add('ada')\n"
           ">>> 'ada' in f.snapshot(), type(f.snapshot()).__name__\n"
           "(True, 'SplitBlockBloomFilter')\n")
      .def("save", SaveFile, nb::arg("path"), nb::kw_only(),
           nb::arg("with_secret").none() = nb::none(),
           nb::arg("version") = FileHeader::kNewestVersion, nb::arg("shard_bytes") = 0,
           "Saves a snapshot: see tamis.Filter.save.")
      .def_prop_ro(
          "kind", [](const PyConcurrent& c) { return FilterKindName(c.filter->kind()); },
          "The name of the filter's kind: 'split-block' ...")
      .def_prop_ro(
          "capacity", [](const PyConcurrent& c) { return c.filter->capacity(); },
          "Number of keys that the filter was sized for.")
      .def_prop_ro(
          "inserted_count", [](const PyConcurrent& c) { return c.filter->inserted_count(); },
          "Number of keys inserted minus number erased. Duplicates count.")
      .def_prop_ro(
          "hash", [](const PyConcurrent& c) { return HashKindName(c.filter.hash().kind); },
          "'xxh3', 'xxh64', 'siphash13' or 'siphash24'.")
      .def_prop_ro(
          "seed", [](const PyConcurrent& c) { return c.filter.hash().seed; },
          "The seed of the hash.")
      .def_prop_ro(
          "can_erase", [](const PyConcurrent& c) { return c.filter.erases(); },
          "Whether keys can be erased.")
      .def("__repr__", Repr);
}

}  // namespace

// Throws if a key occurs twice in `keys`: the filter cannot tell whether it has two copies, because
// other threads may change their number.
void PyConcurrent::RequireAllIn(const Keys& keys) const {
  if (const size_t absent = keys.size() - filter->Count(keys); absent > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                tamis::detail::StrCat(absent, " of ", keys.size(),
                                      " keys are not in the filter; nothing was erased"));
  }
  const auto* const hashes = keys.data<uint64_t>();
  std::vector<uint64_t> sorted(hashes, hashes + keys.size());
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    throw Error(ErrorCode::kInvalidArgument, "a key comes twice in the list; nothing was erased");
  }
}

ConcurrentResult WrapConcurrent(AnyConcurrent filter) {
  using enum FilterKind;
  return ForKinds<kSplitBlock, kBloom, kCuckoo8, kCuckoo12, kCuckoo16>(
      filter->kind(), [&]<FilterKind kKind>() {
        return nb::cast(new ConcurrentOfKind<kKind>(std::move(filter)),
                        nb::rv_policy::take_ownership);
      });
}

AnyConcurrent ConcurrentOf(nb::handle object) {
  PyConcurrent* shared = nullptr;
  if (nb::try_cast(object, shared) && shared != nullptr) return shared->filter;  // nullptr for None
  if (!IsFilter(object)) {
    throw nb::type_error("a filter is expected: a ConcurrentFilter, or a tamis.Filter to copy");
  }
  return WithFilterIn(object, [](auto& plain) {
    RequireConcurrentKind(plain.kind);  // throws before the copy is made
    const Reading lock(plain.gate);
    const WithoutGil released;
    return AnyConcurrent(MakeConcurrent(Clone(*plain.filter)));
  });
}

void DefineConcurrent(nb::module_& m) {
  DefineBase(m);
  Define<FilterKind::kSplitBlock>(
      m, "ConcurrentSplitBlockBloomFilter",
      "A SplitBlockBloomFilter that many threads insert into and query, without locks.\n\n"
      ">>> seen = tamis.live.ConcurrentSplitBlockBloomFilter(capacity=100_000, fpr=0.001)\n"
      ">>> from concurrent.futures import ThreadPoolExecutor\n"
      ">>> with ThreadPoolExecutor(4) as threads:\n"
      "...     parts = [range(i, 100_000, 4) for i in range(4)]\n"
      "...     sum(threads.map(seen.insert, parts))\n"
      "100000\n"
      ">>> seen.count(range(100_000))\n"
      "100000\n");
  Define<FilterKind::kBloom>(
      m, "ConcurrentBloomFilter",
      "A BloomFilter that many threads insert into and query, without locks.");
  Define<FilterKind::kCuckoo8>(m, "ConcurrentCuckooFilter8",
                               "A CuckooFilter8 that many threads insert into, erase from and "
                               "query. Lookups take no locks.");
  Define<FilterKind::kCuckoo12>(m, "ConcurrentCuckooFilter12",
                                "A CuckooFilter12 that many threads insert into, erase from and "
                                "query. Lookups take no locks.");
  Define<FilterKind::kCuckoo16>(m, "ConcurrentCuckooFilter16",
                                "A CuckooFilter16 that many threads insert into, erase from and\n"
                                "query. Lookups take no locks.\n\n"
                                ">>> sessions = tamis.live.ConcurrentCuckooFilter16(1000)\n"
                                ">>> sessions.add('s1')\n"
                                ">>> sessions.discard('s1'), 's1' in sessions\n"
                                "(True, False)\n");
  m.def(
      "concurrent", [](AnyFilterArg filter) { return WrapConcurrent(ConcurrentOf(filter)); },
      nb::arg("filter"),
      "Returns a concurrent filter that is a copy of a plain filter.\n\n"
      ">>> f = tamis.BloomFilter(1000)\n"
      ">>> f.add('ada')\n"
      ">>> 'ada' in tamis.live.concurrent(f)\n"
      "True\n");
  m.def("open", OpenFile, nb::arg("path"), nb::kw_only(), nb::arg("secret").none() = nb::none(),
        "Opens a file as a concurrent filter. Reads and checks all of it: see tamis.open.");
}

}  // namespace tamis::python
