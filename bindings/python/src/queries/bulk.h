// The calls with many keys.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BULK_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BULK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "bindings/python/src/classes/py_filter.h"

namespace tamis::python {

using EnginePtr = std::shared_ptr<const Engine>;

// The engine with so many threads, the last few of which are kept; nullptr for the calling thread
// alone. Throws ValueError.
EnginePtr EngineFor(std::optional<int64_t> threads);

void DefineBulk(nb::class_<PyFilter>& filter);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_BULK_H_
