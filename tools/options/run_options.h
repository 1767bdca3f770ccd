// The options of every command that works on many keys.
#ifndef TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_
#define TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_

#include <tamis/engine/engine.h>

#include <optional>
#include <string>

#include "tools/options/command_line.h"

namespace tamis::tools {

// Returns the calibration that `tamis backends --calibrate` has saved, or std::nullopt if no
// calibration can be read. If the file is damaged, also prints a message on standard error.
std::optional<Calibration> SavedCalibration();

struct RunOptions {
  std::string backend;   // empty: the engine chooses
  unsigned threads = 0;  // 0: the engine chooses
  bool quiet = false;

  // Adds --backend, --threads and --quiet.
  void AddTo(const CommandLine& command);

  // Returns the backend of --backend, or nullptr without it. Throws Error(kUnknownBackend).
  const Backend* Pinned() const;
  // Makes an engine with these options and the calibration of this machine, if there is one.
  Engine MakeEngine() const;
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_RUN_OPTIONS_H_
