#include "tools/input/key_type.h"

#include <tamis/error.h>
#include <tamis/key_types_text.h>

namespace tamis::tools {

void KeyTypeOptions::AddTo(const CommandLine& command) {
  command.AddFlag("--any-type", any, "allow keys of types that the filter was not built from");
}

void KeyTypeOptions::Require(KeyTypes types, const std::string& path, KeyType asked) const {
  if (any || types.Admit(asked)) return;
  const char* const cure = types.Has(KeyType::kInteger) ? "give --integers (or --u64)"
                           : types.Has(KeyType::kBytes) ? "leave out --integers and --u64"
                                                        : "the command cannot read such keys";
  throw Error(ErrorCode::kInvalidArgument, path + ": its keys are " + KeyTypesText(types) +
                                               ", and not " + KeyTypesText(asked) + ": " + cure +
                                               ", or --any-type if this is intended");
}

std::string KeyTypeOptions::Doubt(KeyTypes types, const std::string& name, KeyType type,
                                  uint64_t found, uint64_t asked) {
  constexpr uint64_t kHardlyAny = 20;  // one key in 20 may be a false positive
  if (!types.Has(KeyType::kUnknown)) return "";
  if (asked == 0 || found > asked / kHardlyAny) return "";
  return name +
         " does not record whether its keys are text or integers, and hardly any of the keys was "
         "found. The keys were queried as " +
         KeyTypesText(type) + ": if this is wrong, " +
         (type == KeyType::kInteger ? "leave out --integers and --u64" : "give --integers");
}

}  // namespace tamis::tools
