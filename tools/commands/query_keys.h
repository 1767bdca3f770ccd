// The code that `tamis query` and `tamis redis query` share.
#ifndef TAMIS_TOOLS_COMMANDS_QUERY_KEYS_H_
#define TAMIS_TOOLS_COMMANDS_QUERY_KEYS_H_

#include <tamis/engine/engine.h>
#include <tamis/queryable.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/input/input.h"
#include "tools/options/command_line.h"

namespace tamis::tools {

// The keys to query, and the outputs.
struct KeyQueryOptions {
  InputOptions input;
  bool invert = false;
  bool count = false;
  bool json = false;
  bool any = false;
  std::string bitmap;  // empty: none

  // Adds --invert, --count, --json and --any. Returns --any.
  Option AddTo(const CommandLine& command);
  // Throws Error(kInvalidArgument) for options that exclude each other, and if an output is also
  // one of the files `inputs` or another output.
  void Check(const std::vector<std::string>& inputs) const;
  bool WritesLines() const { return !count && !json && !any && bitmap.empty(); }
};

// Queries `queryable` for the keys of the input, and writes the outputs. Messages call `queryable`
// `name`. Runs on `engine`, or on this thread if `engine` is nullptr. Then prints a summary if the
// false-positive rate is known, and warnings about keys that look wrong. `quiet` suppresses the
// summary and the warnings. `input_bytes` is the size of the input, if it is known. Returns the
// exit status. Throws the errors of reading and querying.
int QueryKeys(const Queryable& queryable, const std::string& name, const KeyQueryOptions& options,
              std::optional<uint64_t> input_bytes, const Engine* engine, bool quiet);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_COMMANDS_QUERY_KEYS_H_
