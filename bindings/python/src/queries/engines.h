// Provides engines for calls with the argument `threads`.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_

#include <tamis/engine/engine.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace tamis::python {

using EnginePtr = std::shared_ptr<const Engine>;

// Returns an engine with `threads` threads. Keeps the engines of the last few values for later
// calls. Returns nullptr, which stands for the calling thread, if `threads` is empty. Throws
// ValueError if `threads` is out of range.
EnginePtr EngineFor(std::optional<int64_t> threads);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ENGINES_H_
