// Key types in texts for people.
#ifndef TAMIS_KEY_TYPES_TEXT_H_
#define TAMIS_KEY_TYPES_TEXT_H_

#include <string>

#include "tamis/key_types.h"

namespace tamis {

// "text", "integers", "text and integers" ...; just "unknown" if that is among them; "none" for an
// empty set.
std::string KeyTypesText(KeyTypes types);

}  // namespace tamis

#endif  // TAMIS_KEY_TYPES_TEXT_H_
