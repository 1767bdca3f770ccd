// The extension module of tamis.redis. The module is separate, so that `import tamis` loads neither
// hiredis nor OpenSSL, and works without them. Both extension modules use the copy of the library
// in the other module, _tamis. They exchange only Python objects, and filters as bytes.
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
