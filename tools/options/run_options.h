// The options by which every command that works on many keys is steered.
#ifndef TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_
#define TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_

#include <tamis/engine/engine.h>

#include <optional>
#include <string>

#include "tools/options/command_line.h"

namespace tamis::tools {

// The calibration of this machine, if `tamis backends --calibrate` has left one. Of one that is
// damaged it says so on standard error.
std::optional<Calibration> SavedCalibration();

struct RunOptions {
  std::string backend;   // empty: the engine chooses
  unsigned threads = 0;  // 0: the engine chooses
  bool quiet = false;

  // --backend, --threads, --quiet
  void AddTo(const CommandLine& command);

  // nullptr if none is pinned. Throws Error(kUnknownBackend).
  const Backend* Pinned() const;
  // Uses the calibration of this machine, if `tamis backends --calibrate` has left one.
  Engine MakeEngine() const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_
