// Numbers in error messages.
#ifndef TAMIS_FORMATS_SRC_VALUE_TEXT_H_
#define TAMIS_FORMATS_SRC_VALUE_TEXT_H_

#include <string>
#include <type_traits>

#include "tamis/units.h"

namespace tamis::detail {

// Returns the number, so that different numbers have different texts: std::to_string(1e-7) is
// "0.000000".
template <typename T>
std::string ValueText(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return NumberText(value);
  } else {
    return std::to_string(value);
  }
}

}  // namespace tamis::detail

#endif  // TAMIS_FORMATS_SRC_VALUE_TEXT_H_
