// Key types as text for people.
#ifndef TAMIS_KEY_TYPES_TEXT_H_
#define TAMIS_KEY_TYPES_TEXT_H_

#include <string>

#include "tamis/key_types.h"

namespace tamis {

// Returns "text", "integers", "text and integers" and so on. Returns "unknown" if the set contains
// KeyType::kUnknown, and "none" for an empty set.
std::string KeyTypesText(KeyTypes types);

}  // namespace tamis

#endif  // TAMIS_KEY_TYPES_TEXT_H_
