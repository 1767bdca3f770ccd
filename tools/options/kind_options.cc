#include "tools/options/kind_options.h"

#include <tamis/file/filter_kind_name.h>

namespace tamis::tools {

std::vector<std::string> KindNames(bool (*may_be)(const FilterKindInfo& kind)) {
  std::vector<std::string> names;
  for (const FilterKindInfo& info : FilterKinds()) {
    if (may_be(info)) names.emplace_back(info.name);
  }
  return names;
}

FilterKind KindNamed(std::string_view, std::string_view name) {
  FilterKind kind{};
  ParseFilterKind(name, kind);
  return kind;
}

void AddKindAndType(const CommandLine& command, FilterKind& kind,
                    bool (*may_be)(const FilterKindInfo& kind), const std::string& description) {
  const Option option = AddKind(command, "-k,--kind", kind, may_be,
                                description + " (default: " + FilterKindName(kind) + ")");
  AddKind(command, "-t,--type", kind, may_be, "").Hidden().Excludes(option);
}

}  // namespace tamis::tools
