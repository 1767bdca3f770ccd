// The extension module of tamis.redis. It is one of its own, so that `import tamis` loads neither
// hiredis nor OpenSSL, and works where these are missing. The library is that of the other module;
// what goes from one to the other are objects of Python, and filters as bytes.
#include <nanobind/nanobind.h>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/live/guarded.h"
#include "bindings/python/src/redis/classes.h"

NB_MODULE(_redis, m) {
  using namespace tamis::python;
  nanobind::set_leak_warnings(false);
  BorrowErrors(nanobind::module_::import_("tamis"));
  TranslateErrors();
  const nanobind::object name = m.attr("__name__");
  m.attr("__name__") = "tamis.redis";
  DefineRedis(m);
  m.attr("__name__") = name;
  nanobind::module_::import_("os").attr("register_at_fork")(
      nanobind::arg("after_in_child") = nanobind::cpp_function([] { ++g_forks; }));
}
