// Engines with a GPU besides those of Backends(): for the calibration of one, and for tests.
#ifndef TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
#define TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_

#include <memory>

#include "core/src/engine/accelerator.h"
#include "tamis/engine.h"

namespace tamis::detail {

struct EngineAccess {
  // As the constructor of Engine; without an accelerator the same.
  static Engine Make(EngineOptions options, std::shared_ptr<Accelerator> accelerator);
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_ENGINE_ACCESS_H_
