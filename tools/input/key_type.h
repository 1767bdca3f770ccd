// Checks whether a filter can have keys of a type.
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
  // Throws Error(kInvalidArgument) for keys of a type that the filter at `path` cannot have, unless
  // any type is allowed. The message names the option that gives the right type.
  void Require(const Filter& filter, const std::string& path, KeyType asked) const {
    Require(filter.key_types(), path, asked);
  }
  // The same for a filter whose keys have these types.
  void Require(KeyTypes types, const std::string& path, KeyType asked) const;

  // Returns a note if the types of the keys of filter `name` are unknown, and `found` of `asked`
  // keys are so few that their type may be wrong. Returns "" otherwise.
  static std::string Doubt(KeyTypes types, const std::string& name, KeyType type, uint64_t found,
                           uint64_t asked);
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_TYPE_H_
