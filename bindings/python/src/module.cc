// The extension module of the package. tamis/__init__.py defines its public names.
#include <nanobind/nanobind.h>

#include "bindings/python/src/classes/classes.h"
#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/classes/parquet_classes.h"
#include "bindings/python/src/join/join_classes.h"
#include "bindings/python/src/live/live_classes.h"
#include "bindings/python/src/queries/answer.h"
#include "bindings/python/src/text/text_classes.h"
#include "tamis/version.h"

NB_MODULE(_tamis, m) {
  using namespace tamis::python;
  // Only authors of bindings can use the warnings about leaks at the end of a process.
  nanobind::set_leak_warnings(false);
  // The definitions below get the module name of the package, where pickle and users look for them.
  const nanobind::object name = m.attr("__name__");
  m.attr("__name__") = "tamis";
  m.attr("__version__") = TAMIS_VERSION_STRING;
  DefineErrors(m);
  DefineAnswer(m);
  DefineQueryables(m);
  auto filter = DefineFilter(m);
  auto static_filter = DefineStaticFilter(m);
  DefineKinds(m);
  DefineStaticKinds(m);
  DefineFiles(m, filter, static_filter);
  DefineBank(m);
  DefineForeign(m);
  DefinePlan(m);
  m.attr("__name__") = name;
  nanobind::module_ live = m.def_submodule("live");
  live.attr("__name__") = "tamis.live";
  DefineConcurrent(live);
  DefineLive(live);
  DefineGuard(live);
  nanobind::module_ join = m.def_submodule("join");
  join.attr("__name__") = "tamis.join";
  DefineJoin(join);
  DefineJoinProbe(join);
  nanobind::module_ parquet = m.def_submodule("parquet");
  parquet.attr("__name__") = "tamis.parquet";
  DefineParquet(parquet);
  nanobind::module_ text = m.def_submodule("text");
  text.attr("__name__") = "tamis.text";
  DefineText(text);
  nanobind::module_::import_("os").attr("register_at_fork")(
      nanobind::arg("after_in_child") = nanobind::cpp_function([] { ++g_forks; }));
}
