// What other rooms of the library may do with an Engine that users may not.
#ifndef TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
#define TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_

#include <memory>

#include "core/src/base/function_ref.h"
#include "core/src/bulk/change_loop.h"
#include "core/src/engine/accelerator.h"
#include "tamis/engine/engine.h"

namespace tamis::detail {

struct EngineAccess {
  // With a GPU besides those of Backends(), for the calibration of one, and for tests. As the
  // constructor of Engine; without an accelerator the same.
  static Engine Make(EngineOptions options, std::shared_ptr<Accelerator> accelerator);
  // Calls work(workers) with all threads of the engine.
  static void WithWorkers(const Engine& engine, FunctionRef<void(Workers& workers)> work);
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
