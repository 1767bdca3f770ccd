// Advice, and what this machine has.

#include "tamis/plan/plan.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tamis/backends.h>
#include <tamis/filters/sizing.h>

#include <optional>
#include <string>

#include "bindings/python/src/classes/classes.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

// Not a std::pair, whose conversion may not throw what that of its integers does.
KeyRange RangeOf(nb::handle key_range) {
  const nb::object pair = nb::steal(PySequence_Tuple(key_range.ptr()));
  if (!pair.is_valid()) throw nb::python_error();
  if (nb::len(pair) != 2) throw nb::value_error("key_range is (low, high)");
  return {nb::cast<Unsigned>(pair[0]).value, nb::cast<Unsigned>(pair[1]).value};
}

FilterPlan MakePlan(Unsigned keys, double fpr, bool erase, bool grow, bool merge, bool intersect,
                    bool parallel_build, bool parquet, bool exact, bool is_static,
                    Arg<"tuple[int, int]"> key_range, Unsigned max_bytes, Unsigned batch_keys,
                    unsigned threads, Unsigned key_bytes) {
  PlanNeeds needs{.must = {.erase = erase,
                           .grow = grow,
                           .merge = merge,
                           .intersect = intersect,
                           .parallel_build = parallel_build,
                           .parquet = parquet,
                           .exact = exact},
                  .is_static = is_static,
                  .max_bytes = max_bytes.value,
                  .batch_keys = batch_keys.value,
                  .key_bytes = key_bytes.value};
  if (!key_range.is_none()) needs.range = RangeOf(key_range);
  const EngineOptions engine{.threads = threads};
  const WithoutGil released;
  return PlanFilters(keys.value, fpr, needs, &engine);
}

std::optional<double> NanosecondsOf(const PlanCandidate& candidate) {
  if (!candidate.probe) return std::nullopt;
  return candidate.probe->ns;
}

}  // namespace

void DefinePlan(nb::module_& m) {
  nb::class_<PlanCandidate>(m, "PlanCandidate", "A structure for the keys, or why it cannot be.")
      .def_ro("name", &PlanCandidate::name, "'split-block', 'bitmap' ...")
      .def_ro("nbytes", &PlanCandidate::bytes, "Its size.")
      .def_ro("bits_per_key", &PlanCandidate::bits_per_key)
      .def_ro("fpr", &PlanCandidate::fpr, "Its false-positive rate when all keys are in.")
      .def_ro("cache_lines", &PlanCandidate::cache_lines, "Those that a lookup touches.")
      .def_prop_ro("lookup_ns", NanosecondsOf, "Predicted for each key of a batch, or None.")
      .def_ro("note", &PlanCandidate::note)
      .def_ro("error", &PlanCandidate::error, "Why it cannot be; empty if it can.")
      .def_ro("lacks", &PlanCandidate::lacks, "The needs that it does not meet.")
      .def_prop_ro("suitable", [](const PlanCandidate& c) { return c.suitable(); })
      .def("__repr__", [](const PlanCandidate& c) {
        return tamis::detail::StrCat("<tamis.PlanCandidate ", c.name, ": ",
                                     std::to_string(c.bits_per_key), " bits a key>");
      });
  nb::class_<FilterPlan>(m, "Plan", "What plan() found: str() is its advice.")
      .def_ro("keys", &FilterPlan::keys)
      .def_ro("fpr", &FilterPlan::fpr)
      .def_ro("filters", &FilterPlan::filters, "Every kind of filter, the best first.")
      .def_ro("exact", &FilterPlan::exact, "Structures that are never wrong, the best first.")
      .def_ro("choice", &FilterPlan::choice, "What to take, or None.")
      .def_ro("advice", &FilterPlan::advice, "Which to take and why, in a few sentences.")
      .def("__str__", [](const FilterPlan& plan) { return plan.advice; });
  m.def(
      "plan", MakePlan, nb::arg("keys"), nb::arg("fpr") = kDefaultFpr, nb::kw_only(),
      nb::arg("erase") = false, nb::arg("grow") = false, nb::arg("merge") = false,
      nb::arg("intersect") = false, nb::arg("parallel_build") = false, nb::arg("parquet") = false,
      nb::arg("exact") = false, nb::arg("static") = false, nb::arg("key_range").none() = nb::none(),
      nb::arg("max_bytes") = Unsigned{}, nb::arg("batch_keys") = Unsigned{1'000'000},
      nb::arg("threads") = 1u, nb::arg("key_bytes") = Unsigned{8},
      "Which structure to take for so many distinct keys at a false-positive rate.\n\n"
      "erase, grow, merge, intersect, parallel_build, parquet, exact: what it must be able to do.\n"
      "static: whether no key comes after the filter is built. Filters that never change are then\n"
      "    candidates, too, and the size alone decides.\n"
      "key_range: (low, high), if the keys are integers in it.\n"
      "max_bytes: the most memory it may take; 0 is all of the machine's.\n"
      "batch_keys, threads: of a lookup, for its time.\n"
      "key_bytes: mean bytes of a key, for exact structures without a key_range.\n\n"
      ">>> plan = tamis.plan(10**6, 0.01, erase=True)\n"
      ">>> plan.choice.name\n"
      "'cuckoo12'\n");
  m.def(
      "backends", []() -> Result<"list[str]"> {
        nb::list names;
        for (const Backend& backend : Backends()) names.append(std::string(backend.name));
        return names;
      },
      "The names of the backends that run on this machine, best first.\n\n"
      ">>> tamis.backends()[-1]\n"
      "'portable'\n");
}

}  // namespace tamis::python
