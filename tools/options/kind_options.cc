#include "tools/options/kind_options.h"

#include <tamis/file/filter_kind_name.h>
#include <tamis/hash_kinds.h>

#include <algorithm>
#include <iterator>

namespace tamis::tools {
namespace {

// Returns the hash named `name`, which must be one of kHashKinds.
HashKind HashKindNamed(std::string_view, std::string_view name) {
  return *std::find_if(std::begin(kHashKinds), std::end(kHashKinds),
                       [&](HashKind kind) { return HashKindName(kind) == name; });
}

}  // namespace

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

void AddHash(const CommandLine& command, HashKind& kind) {
  std::vector<std::string> names;
  for (const HashKind one : kHashKinds) names.emplace_back(HashKindName(one));
  command
      .Add("--hash", kind, HashKindNamed,
           std::string("hash function (default: ") + HashKindName(kind) + ")")
      .OneOf(names)
      .Type("NAME");
}

}  // namespace tamis::tools
