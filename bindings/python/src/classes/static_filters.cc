// The classes of filters that are built from all their keys and never change.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <tamis/engine/build.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"
#include "bindings/python/src/queries/batches.h"
#include "bindings/python/src/queries/engines.h"

namespace tamis::python {
namespace {

// Builds a filter from the keys in an object. Reads the keys with the GIL. If there are many keys,
// builds the filter without the GIL.
AnyFilter BuildOf(FilterKind kind, nb::handle keys, const FilterOptions& options,
                  const Engine* engine, nb::handle progress) {
  const auto source = MakeKeySource(keys);
  std::optional<WithoutGil> released;
  // BuildFilter calls `read` once for a static kind, so an iterator is enough.
  const auto read = [&](const std::function<void(Keys)>& visit) {
    const auto unlocked = [] { return 0; };
    const uint64_t n = ForBatches(*source, progress, NoPreparation, unlocked,
                                  [&](const Keys& batch, uint64_t) { visit(batch); });
    if (n >= kReleasesGil) released.emplace();
  };
  return BuildFilter(kind, read, options, engine);
}

constexpr char kBuildDoc[] =
    "keys: all keys, in any layout that insert of other filters accepts. Nulls are not keys.\n"
    "    Copies of a key count once. The keys are read once, so a generator is allowed.\n"
    "fpr: if not 0, a false-positive rate that the class must not exceed. It does not change\n"
    "    the filter.\n";
constexpr char kEffortDoc[] =
    "\nthreads: number of threads. None: the calling thread. 0: one thread per processor.\n"
    "progress: is called with the number of keys read, at least every 2**24 keys.\n\n"
    "Building runs without the GIL, and takes 8 bytes of memory per key in addition to the\n"
    "filter. While keys are read, Ctrl-C ends the call. The bytes of the filter depend only on\n"
    "the set of keys and the hash.\n\n"
    "Raises InvalidArgumentError for an fpr out of range, and for keys that were chosen so that\n"
    "no filter can be built. A keyed hash prevents this.";

template <FilterKind kKind>
void Define(nb::module_& m, const char* name, const std::string& doc) {
  using F = FilterOf<kKind>;
  const auto make = [](nb::pointer_and_handle<F> self, KeysArg keys, double fpr,
                       const std::string& hash, Unsigned seed,
                       const std::optional<nb::bytes>& secret,
                       const std::optional<std::string>& backend, bool huge_pages,
                       std::optional<int64_t> threads, ProgressArg progress) {
    const FilterOptions options = OptionsOf({}, fpr, {}, hash, seed, secret, backend, huge_pages);
    const EnginePtr engine = EngineFor(threads);
    AnyFilter filter = BuildOf(kKind, keys, options, engine.get(), progress);
    // While the keys were read, another thread or the code that yields the keys may have called
    // __init__.
    if (nb::inst_ready(self.h)) throw nb::type_error("the filter is made already");
    new (self.p) F(std::move(filter));
  };
  nb::class_<F, PyStaticFilter>(m, name, nb::type_slots(SlotsOf(kKind)), doc.c_str())
      .def("__init__", make, nb::arg("keys"), nb::kw_only(), nb::arg("fpr") = 0.0,
           nb::arg("hash") = "xxh3", nb::arg("seed") = Unsigned{},
           nb::arg("secret").none() = nb::none(), nb::arg("backend").none() = nb::none(),
           nb::arg("huge_pages") = true, nb::arg("threads").none() = nb::none(),
           nb::arg("progress").none() = nb::none(),
           (std::string(kBuildDoc) + kHashDoc + kEffortDoc).c_str());
}

}  // namespace

void DefineStaticKinds(nb::module_& m) {
  Define<FilterKind::kFuse8>(m, "FuseFilter8",
                             "The smallest filter for a set that never changes: 9.4 bits per key,\n"
                             "a false-positive rate of 0.4%.\n\n"
                             ">>> f = tamis.FuseFilter8(['ada', 'bob', 7])\n"
                             ">>> 'ada' in f, f.contains([7, 8, None])\n"
                             "(True, [True, False, False])\n"
                             ">>> f.inserted_count, isinstance(f, tamis.Changeable)\n"
                             "(3, False)\n");
  Define<FilterKind::kFuse12>(
      m, "FuseFilter12",
      "A set that never changes: 14 bits per key, a false-positive rate of 0.024%.");
  Define<FilterKind::kFuse16>(
      m, "FuseFilter16",
      "A set that never changes: 19 bits per key, a false-positive rate of 0.0015%.");
  Define<FilterKind::kFuse32>(
      m, "FuseFilter32",
      "A set that never changes: 38 bits per key, a false-positive rate of 2.3e-10.");
}

}  // namespace tamis::python
