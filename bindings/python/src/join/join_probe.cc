// Measures whether a join filter pays.
#include "tamis/join/join_probe.h"

#include <nanobind/stl/string.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bindings/python/src/classes/options.h"
#include "bindings/python/src/classes/typed.h"
#include "bindings/python/src/join/join_classes.h"
#include "bindings/python/src/queries/batches.h"
#include "tamis/detail/str_cat.h"

namespace tamis::python {
namespace {

struct PyJoinProbe {
  PyJoinProbe(PyJoinFilter& f, const JoinProbeOptions& options) : in(f), probe(f.filter, options) {}

  // Returns call(), the number of `rows` rows of `keys` that pass, and records its time.
  template <typename Call>
  size_t Timed(const Keys& keys, uint64_t rows, const Call& call) {
    RequireSameSort(keys, in.filter.key_types());
    const auto start = std::chrono::steady_clock::now();
    const size_t passed = call();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    probe.Record(rows, passed, time.count());
    return passed;
  }

  // Reads the keys of an argument, and locks the probe for each batch.
  auto ToQuery() {
    return [this] { return Writing(gate); };
  }

  PyJoinFilter& in;  // keep_alive keeps the object alive
  JoinProbe probe;
  Gate gate;  // one thread at a time
};

void Make(PyJoinProbe* self, PyJoinFilter& f, double row_ns, Unsigned sample_rows, double margin,
          Unsigned pause_rows, uint32_t max_pauses) {
  new (self) PyJoinProbe(f, {.row_ns = row_ns,
                             .sample_rows = sample_rows.value,
                             .margin = margin,
                             .pause_rows = pause_rows.value,
                             .max_pauses = max_pauses});
}

bool Wanted(PyJoinProbe& p, Unsigned rows) {
  const Writing lock(p.gate);
  return p.probe.Wanted(rows.value);
}

AnyResult Contains(PyJoinProbe& p, KeysArg x) {
  const auto query = [&](const Keys& keys, std::span<uint8_t> bools) {
    p.Timed(keys, keys.size(), [&] { return p.in.filter.Contains(keys, bools); });
  };
  return AnswerEach(*p.in.KeysOf(x), x, nb::none(), nb::none(), p.ToQuery(), query);
}

AnyResult Select(PyJoinProbe& p, KeysArg x) {
  const auto query = [&](const Keys& keys, std::span<uint64_t> rows) {
    return p.Timed(keys, keys.size(), [&] { return p.in.filter.Select(keys, rows); });
  };
  return SelectFrom(*p.in.KeysOf(x), x, p.ToQuery(), query);
}

AnyResult SelectRowsFrom(PyJoinProbe& p, KeysArg x, KeysArg selection) {
  const auto query = [&](const Keys& keys, std::span<const uint64_t> rows,
                         std::span<uint64_t> out) {
    return p.Timed(keys, rows.size(), [&] { return p.in.filter.SelectFrom(keys, rows, out); });
  };
  return SelectFromRows(*p.in.KeysOf(x), x, selection, p.ToQuery(), query);
}

void Record(PyJoinProbe& p, Unsigned rows, Unsigned passed, double ns) {
  const Writing lock(p.gate);
  p.probe.Record(rows.value, passed.value, ns);
}

Result<"dict[str, int | float]"> CountersOf(PyJoinProbe& p) {
  const Writing lock(p.gate);
  const JoinProbe::Counters& counters = p.probe.counters();
  nb::dict made;
  made["rows"] = counters.rows;
  made["passed"] = counters.passed;
  made["skipped"] = counters.skipped;
  made["ns"] = counters.ns;
  made["samples"] = counters.samples;
  made["switches"] = counters.switches;
  made["last_pass_rate"] = counters.last_pass_rate;
  made["last_ns_per_row"] = counters.last_ns_per_row;
  return made;
}

constexpr char kProbeDoc[] =
    "Queries a JoinFilter, and measures whether that pays. For one thread that scans the probe\n"
    "side.\n\n"
    ">>> f = tamis.join.JoinFilter(expected_keys=1000)\n"
    ">>> part = f.make_part(0)\n"
    ">>> part.update(range(1000))\n"
    ">>> f.add(part); f.complete(1)\n"
    ">>> probe = tamis.join.JoinProbe(f, row_ns=50)\n"
    ">>> keys = [500, 1500, 2500]\n"
    ">>> probe.select(keys) if probe.wanted(len(keys)) else range(len(keys))\n"
    "[0]\n";
constexpr char kProbeArguments[] =
    "row_ns: nanoseconds that a row costs after the filter, such as for a lookup in the hash\n"
    "    table.\n"
    "sample_rows: rows of a sample; at least 1.\n"
    "margin: the filter is switched off if it costs more than `margin` times what it saves, in\n"
    "    two samples in a row. It is switched on again if it saves more than `margin` times its\n"
    "    costs. At least 1.\n"
    "pause_rows: rows of the first pause; each further pause is twice as long.\n"
    "max_pauses: the pause after these never ends.";

}  // namespace

void DefineJoinProbe(nb::module_& m) {
  const JoinProbeOptions defaults;
  nb::class_<PyJoinProbe>(m, "JoinProbe", kProbeDoc)
      .def("__init__", Make, nb::arg("filter"), nb::kw_only(), nb::arg("row_ns") = defaults.row_ns,
           nb::arg("sample_rows") = Unsigned{defaults.sample_rows},
           nb::arg("margin") = defaults.margin,
           nb::arg("pause_rows") = Unsigned{defaults.pause_rows},
           nb::arg("max_pauses") = defaults.max_pauses, nb::keep_alive<1, 2>(), kProbeArguments)
      .def("wanted", Wanted, nb::arg("rows"),
           "Returns whether the next `rows` rows should be queried. If not, all of them pass, and\n"
           "they are counted as skipped. Before the filter is complete, returns False.")
      .def("contains", Contains, nb::arg("x"), "Like JoinFilter.contains, and measures the call.")
      .def("select", Select, nb::arg("x"), "Like JoinFilter.select, and measures the call.")
      .def("select_from", SelectRowsFrom, nb::arg("x"), nb::arg("selection"),
           "Like JoinFilter.select_from, and measures the call.")
      .def("record", Record, nb::arg("rows"), nb::arg("passed"), nb::arg("ns"),
           "Adds a measurement, for programs that query and measure by themselves. Ignores a time\n"
           "that is negative or not finite.")
      .def_prop_ro(
          "verdict", [](PyJoinProbe& p) { return JoinVerdictName(p.probe.verdict()); },
          "'keep', 'try again later', or 'switch off'.")
      .def_prop_ro("counters", CountersOf,
                   "Counts of rows and calls, and the figures of the last sample.")
      .def("__str__", [](PyJoinProbe& p) {
        return tamis::detail::StrCat(JoinVerdictName(p.probe.verdict()), ": ",
                                     p.probe.counters().ToText());
      });
}

}  // namespace tamis::python
