// Advice, and the backends of this machine.

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

// Converts a pair of integers. nanobind converts std::pair in a noexcept function, so it cannot be
// used here: the conversion to Unsigned throws.
KeyRange RangeOf(nb::handle key_range) {
  const nb::object pair = nb::steal(PySequence_Tuple(key_range.ptr()));
  if (!pair.is_valid()) throw nb::python_error();
  if (nb::len(pair) != 2) throw nb::value_error("key_range must be (low, high)");
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
  nb::class_<PlanCandidate>(
      m, "PlanCandidate", "A candidate structure for the keys, or the reason why it is impossible.")
      .def_ro("name", &PlanCandidate::name, "'split-block', 'bitmap' ...")
      .def_ro("nbytes", &PlanCandidate::bytes, "The size.")
      .def_ro("bits_per_key", &PlanCandidate::bits_per_key)
      .def_ro("fpr", &PlanCandidate::fpr, "The false-positive rate with all keys inserted.")
      .def_ro("cache_lines", &PlanCandidate::cache_lines,
              "The number of cache lines that a lookup reads.")
      .def_prop_ro("lookup_ns", NanosecondsOf, "Predicted nanoseconds per key of a batch, or None.")
      .def_ro("note", &PlanCandidate::note)
      .def_ro("error", &PlanCandidate::error, "Why the structure is impossible; otherwise empty.")
      .def_ro("lacks", &PlanCandidate::lacks, "The requirements that the structure does not meet.")
      .def_prop_ro("suitable", [](const PlanCandidate& c) { return c.suitable(); })
      .def("__repr__", [](const PlanCandidate& c) {
        return tamis::detail::StrCat("<tamis.PlanCandidate ", c.name, ": ",
                                     std::to_string(c.bits_per_key), " bits a key>");
      });
  nb::class_<FilterPlan>(m, "Plan", "The result of plan(). str() returns its advice.")
      .def_ro("keys", &FilterPlan::keys)
      .def_ro("fpr", &FilterPlan::fpr)
      .def_ro("filters", &FilterPlan::filters, "All kinds of filters, the best first.")
      .def_ro("exact", &FilterPlan::exact, "Exact structures, the best first.")
      .def_ro("choice", &FilterPlan::choice, "The recommended structure, or None.")
      .def_ro("advice", &FilterPlan::advice,
              "The recommendation and its reasons, in a few sentences.")
      .def("__str__", [](const FilterPlan& plan) { return plan.advice; });
  m.def("plan", MakePlan, nb::arg("keys"), nb::arg("fpr") = kDefaultFpr, nb::kw_only(),
        nb::arg("erase") = false, nb::arg("grow") = false, nb::arg("merge") = false,
        nb::arg("intersect") = false, nb::arg("parallel_build") = false, nb::arg("parquet") = false,
        nb::arg("exact") = false, nb::arg("static") = false,
        nb::arg("key_range").none() = nb::none(), nb::arg("max_bytes") = Unsigned{},
        nb::arg("batch_keys") = Unsigned{1'000'000}, nb::arg("threads") = 1u,
        nb::arg("key_bytes") = Unsigned{8},
        "Compares the structures for a number of distinct keys at a false-positive rate.\n\n"
        "erase, grow, merge, intersect, parallel_build, parquet, exact: required abilities.\n"
        "static: True if no keys are added after the filter is built. Filters that never change\n"
        "    are then candidates, and filters are ordered by size.\n"
        "key_range: (low, high), if the keys are integers in this range.\n"
        "max_bytes: largest size allowed; 0 means the memory of the machine.\n"
        "batch_keys, threads: keys and threads of a lookup, to predict its time.\n"
        "key_bytes: mean size of a key, for exact structures without a key_range.\n\n"
        ">>> plan = tamis.plan(10**6, 0.01, erase=True)\n"
        ">>> plan.choice.name\n"
        "'cuckoo12'\n");
  m.def(
      "backends", []() -> Result<"list[str]"> {
        nb::list names;
        for (const Backend& backend : Backends()) names.append(std::string(backend.name));
        return names;
      },
      "Returns the names of the backends that run on this machine, the best first.\n\n"
      ">>> tamis.backends()[-1]\n"
      "'portable'\n");
}

}  // namespace tamis::python
