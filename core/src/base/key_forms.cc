#include "tamis/key_forms.h"

#include <vector>

namespace tamis {

std::string KeyFormsText(KeyForms forms) {
  static constexpr const char* kNames[kKeyForms] = {"unknown",         "text",   "integers",
                                                    "32-bit integers", "floats", "doubles",
                                                    "96-bit integers", "times"};
  if (forms.bits() == 0) return "none";
  if (forms.Has(KeyForm::kUnknown)) return kNames[0];
  std::vector<const char*> names;
  for (int form = 1; form < kKeyForms; ++form) {
    if (forms.Has(static_cast<KeyForm>(form))) names.push_back(kNames[form]);
  }
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  }
  return text;
}

}  // namespace tamis
