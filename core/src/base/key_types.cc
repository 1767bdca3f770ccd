#include "tamis/key_types.h"

#include <vector>

#include "tamis/key_types_text.h"

namespace tamis {

std::string KeyTypesText(KeyTypes types) {
  static constexpr const char* kNames[KeyTypes::kCount] = {"unknown",         "text",   "integers",
                                                           "32-bit integers", "floats", "doubles",
                                                           "96-bit integers", "times"};
  if (types.bits() == 0) return "none";
  if (types.Has(KeyType::kUnknown)) return kNames[0];
  std::vector<const char*> names;
  for (int type = 1; type < KeyTypes::kCount; ++type) {
    if (types.Has(static_cast<KeyType>(type))) names.push_back(kNames[type]);
  }
  std::string text = names[0];
  for (size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  }
  return text;
}

}  // namespace tamis
