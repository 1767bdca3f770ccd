// Options whose value is a kind of filter or of hash.
#ifndef TAMIS_TOOLS_OPTIONS_KIND_OPTIONS_H_
#define TAMIS_TOOLS_OPTIONS_KIND_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tamis/filters/filter_kinds.h"
#include "tamis/hash.h"
#include "tools/options/command_line.h"

namespace tamis::tools {

// Returns the names of the kinds for which `may_be` returns true.
std::vector<std::string> KindNames(bool (*may_be)(const FilterKindInfo& kind));
// Returns the kind named `name`, which must be the name of a kind.
FilterKind KindNamed(std::string_view option, std::string_view name);

// Adds an option that sets `kind`, a FilterKind or a std::optional<FilterKind>.
template <typename Kind>
Option AddKind(const CommandLine& command, const std::string& names, Kind& kind,
               bool (*may_be)(const FilterKindInfo& kind), const std::string& description) {
  const Option option = command.Add(names, kind, KindNamed, description);
  option.OneOf(KindNames(may_be)).Type("KIND");
  return option;
}

// Adds --kind, and --type, its former name, which the help leaves out.
template <typename Kind>
void AddKindAndType(const CommandLine& command, Kind& kind,
                    bool (*may_be)(const FilterKindInfo& kind), const std::string& description) {
  const Option option = AddKind(command, "-k,--kind", kind, may_be, description);
  AddKind(command, "-t,--type", kind, may_be, "").Hidden().Excludes(option);
}

// Adds --hash. Its default is the value of `kind`.
void AddHash(const CommandLine& command, HashKind& kind);

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_OPTIONS_KIND_OPTIONS_H_
