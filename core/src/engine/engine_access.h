// Access to functions of Engine that are not public, for the library itself.
#ifndef TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
#define TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_

#include <memory>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/change_loop.h"
#include "core/src/engine/accelerator.h"
#include "tamis/engine/engine.h"

namespace tamis::detail {

struct EngineAccess {
  // Makes an Engine with a GPU that is not in Backends(), for its calibration and for tests. Throws
  // the errors of the constructor of Engine. If `accelerator` is nullptr, does the same as the
  // constructor.
  static Engine Make(EngineOptions options, std::shared_ptr<Accelerator> accelerator);
  // Calls work(workers) with all threads of the engine.
  static void WithWorkers(const Engine& engine, FunctionRef<void(Workers& workers)> work);
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
