// How commands that ask keys of a saved filter, or bank of filters, open it: mapped or loaded,
// verified or not.
#ifndef TAMIS_TOOLS_OPEN_OPTIONS_H_
#define TAMIS_TOOLS_OPEN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/command_line.h"

namespace tamis::tools {

struct OpenOptions {
  bool map = false;  // which is the default
  bool no_map = false;
  bool verify = false;
  bool no_verify = false;

  // --map, --no-map, --verify, --no-verify
  void AddTo(const CommandLine& command);
  // Whether to read all of the mapped file at `path` before it is asked for the keys of so many
  // bytes of input, if these are known. kVerifyHelp has the rule.
  bool Verifies(const std::string& path, std::optional<uint64_t> input_bytes) const;
};

extern const char kVerifyHelp[];

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPEN_OPTIONS_H_
