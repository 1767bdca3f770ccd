#include "tools/options/run_options.h"

#include <tamis/backends.h>
#include <tamis/error.h>

#include <filesystem>
#include <utility>

#include "tools/options/parse.h"
#include "tools/output/console.h"

namespace tamis::tools {

std::optional<Calibration> SavedCalibration() {
  try {
    const std::filesystem::path path = Calibration::DefaultPath();
    std::error_code missing;
    if (std::filesystem::exists(path, missing)) return Calibration::Load(path);
  } catch (const Error& error) {
    // Without a home directory, no calibration is saved. A calibration that is damaged or cannot be
    // read is ignored, because it affects only the speed of calls.
    if (error.code() == ErrorCode::kCorrupt)
      Say(std::string("calibration ignored: ") + error.what());
  }
  return std::nullopt;
}

void RunOptions::AddTo(const CommandLine& command) {
  command.Add("--backend", backend, "kernels to use, from `tamis backends` (default: the fastest)")
      .Type("NAME")
      .Group("Running");
  command
      .Add("--threads", threads, ParseThreads,
           "threads, 1 to 1024 (default: TAMIS_THREADS, or one per core)")
      .Type("N")
      .Group("Running");
  command.AddFlag("-q,--quiet", quiet, "no progress bar and no summary").Group("Running");
}

const Backend* RunOptions::Pinned() const {
  return backend.empty() ? nullptr : &FindBackend(backend);
}

Engine RunOptions::MakeEngine() const {
  EngineOptions options;
  options.threads = threads;
  options.backend = Pinned();
  if (std::optional<Calibration> saved = SavedCalibration()) {
    options.calibration = *std::move(saved);
  }
  return Engine(std::move(options));
}

}  // namespace tamis::tools
