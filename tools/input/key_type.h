// Checks whether a filter can have keys of a given type.
#ifndef TAMIS_TOOLS_INPUT_KEY_TYPE_H_
#define TAMIS_TOOLS_INPUT_KEY_TYPE_H_

#include <tamis/filters/filter.h>

#include <cstdint>
#include <string>

#include "tools/options/command_line.h"

namespace tamis::tools {

struct KeyTypeOptions {
  bool any = false;

  // Adds --any-type.
  void AddTo(const CommandLine& command);
  // If `any` is false and the filter at `path` cannot have keys of type `asked`, throws
  // Error(kInvalidArgument). The message names the option that selects the right type.
  void Require(const Filter& filter, const std::string& path, KeyType asked) const {
    Require(filter.key_types(), path, asked);
  }
  // Likewise, for a filter whose keys have the types `types`.
  void Require(KeyTypes types, const std::string& path, KeyType asked) const;

  // Returns a note if the key types of the filter `name` are unknown and at most one key in 20 was
  // found: `found` of `asked` keys. The type of these keys may then be wrong. Otherwise returns "".
  static std::string Doubt(KeyTypes types, const std::string& name, KeyType type, uint64_t found,
                           uint64_t asked);
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_TYPE_H_
