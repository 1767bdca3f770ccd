// Opens saved filters and banks for commands that query them: mapped or loaded, verified or not.
#ifndef TAMIS_TOOLS_OPTIONS_OPEN_OPTIONS_H_
#define TAMIS_TOOLS_OPTIONS_OPEN_OPTIONS_H_

#include <tamis/file/file.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tools/options/command_line.h"
#include "tools/options/run_options.h"
#include "tools/options/secret.h"
#include "tools/output/progress.h"

namespace tamis::tools {

struct OpenOptions {
  bool map = false;  // the default
  bool no_map = false;
  bool verify = false;
  bool no_verify = false;

  // Adds --map, --no-map, --verify and --no-verify.
  void AddTo(const CommandLine& command);
  // Returns whether to verify all bytes of the mapped file at `path` before queries. `input_bytes`
  // is the size of the input with the keys, if it is known. kVerifyHelp states the rule.
  bool Verifies(const std::string& path, std::optional<uint64_t> input_bytes) const;
};

// Opens the file at `path` according to the options. Calls `load(LoadOptions)` or
// `map(MapOptions)`, and returns its result. Shows a notice on a terminal while a mapped file is
// verified.
template <typename Load, typename Map>
auto OpenAsAsked(const std::string& path, const OpenOptions& options, const RunOptions& run,
                 const SecretOptions& secret_options, std::optional<uint64_t> input_bytes,
                 const Load& load, const Map& map) {
  const Backend* const backend = run.Pinned();
  const std::optional<HashSecret> secret = secret_options.Read();
  if (options.no_map) return load(LoadOptions{.backend = backend, .secret = secret});
  MapOptions mapped{.backend = backend, .secret = secret};
  if (!options.Verifies(path, input_bytes)) return map(mapped);
  mapped.verify = Verify::kFull;
  const Notice notice("verifying " + path + " ...", run.quiet);
  return map(mapped);
}

extern const char kVerifyHelp[];

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_OPEN_OPTIONS_H_
