// The classes of tamis.redis.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_REDIS_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_REDIS_CLASSES_H_

#include <nanobind/nanobind.h>

namespace tamis::python {

void DefineRedis(nanobind::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_REDIS_CLASSES_H_
