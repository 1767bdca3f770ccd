#include "tools/key_form.h"

#include <tamis/error.h>

namespace tamis::tools {

void KeyFormOptions::AddTo(const CommandLine& command) {
  command.AddFlag("--any-form", any, "also keys of a form that the filter was not built of");
}

void KeyFormOptions::Require(const Filter& filter, const std::string& path, KeyForm asked) const {
  const KeyForms forms = filter.key_forms();
  if (any || forms.Admit(asked)) return;
  const char* const cure = forms.Has(KeyForm::kInteger) ? "give --integers (or --u64)"
                           : forms.Has(KeyForm::kBytes) ? "leave out --integers and --u64"
                                                        : "the command cannot read these";
  throw Error(ErrorCode::kInvalidArgument, path + ": its keys are " + KeyFormsText(forms) +
                                               ", and not " + KeyFormsText(asked) + ": " + cure +
                                               ", or --any-form if it is meant so");
}

}  // namespace tamis::tools
