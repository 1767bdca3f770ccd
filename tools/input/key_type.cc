#include "tools/input/key_type.h"

#include <tamis/error.h>

namespace tamis::tools {

void KeyTypeOptions::AddTo(const CommandLine& command) {
  command.AddFlag("--any-form", any, "also keys of a form that the filter was not built of");
}

void KeyTypeOptions::Require(KeyTypes forms, const std::string& path, KeyType asked) const {
  if (any || forms.Admit(asked)) return;
  const char* const cure = forms.Has(KeyType::kInteger) ? "give --integers (or --u64)"
                           : forms.Has(KeyType::kBytes) ? "leave out --integers and --u64"
                                                        : "the command cannot read these";
  throw Error(ErrorCode::kInvalidArgument, path + ": its keys are " + KeyTypesText(forms) +
                                               ", and not " + KeyTypesText(asked) + ": " + cure +
                                               ", or --any-form if it is meant so");
}

std::string KeyTypeOptions::Doubt(KeyTypes forms, const std::string& name, KeyType form,
                                  uint64_t found, uint64_t asked) {
  constexpr uint64_t kHardlyAny = 20;  // one of so many: no more than false positives
  if (!forms.Has(KeyType::kUnknown)) return "";
  if (asked == 0 || found > asked / kHardlyAny) return "";
  return name +
         " does not say whether its keys are text or integers, and of these keys, asked for as " +
         KeyTypesText(form) + ", it has none or hardly any: if they have the wrong form, " +
         (form == KeyType::kInteger ? "leave out --integers and --u64" : "give --integers");
}

}  // namespace tamis::tools
