// The engines of calls with `threads`.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_

#include <tamis/engine/engine.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace tamis::python {

using EnginePtr = std::shared_ptr<const Engine>;

// Returns the engine with `threads` threads. The last few engines are kept. Returns nullptr for
// none: the calling thread. Throws ValueError.
EnginePtr EngineFor(std::optional<int64_t> threads);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_
