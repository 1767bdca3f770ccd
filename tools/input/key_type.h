// Keys that a filter cannot have, as those it was built of have another type.
#ifndef TAMIS_TOOLS_INPUT_KEY_TYPE_H_
#define TAMIS_TOOLS_INPUT_KEY_TYPE_H_

#include <tamis/filters/filter.h>

#include <cstdint>
#include <string>

#include "tools/options/command_line.h"

namespace tamis::tools {

struct KeyTypeOptions {
  bool any = false;

  // --any-type
  void AddTo(const CommandLine& command);
  // Throws Error(kInvalidArgument) for keys of a type that the filter at `path` does not admit,
  // with a word on how to give the right one, unless any type will do.
  void Require(const Filter& filter, const std::string& path, KeyType asked) const {
    Require(filter.key_types(), path, asked);
  }
  // The same for keys of those types.
  void Require(KeyTypes types, const std::string& path, KeyType asked) const;

  // Returns a note for keys of which `found` of `asked` are in the filter called `name`, if that is
  // as good as none and `types`, the types of its keys, are not known. Returns "" otherwise.
  static std::string Doubt(KeyTypes types, const std::string& name, KeyType type, uint64_t found,
                           uint64_t asked);
};

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_INPUT_KEY_TYPE_H_
