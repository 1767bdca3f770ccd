// What bulk changes of a filter have in common.
#ifndef TAMIS_DETAIL_CHANGE_H_
#define TAMIS_DETAIL_CHANGE_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis::detail {

enum class Change : uint8_t {
  kInsert,
  kErase,
  kInsertIfAbsent,  // inserts the keys that the filter does not have
};

// Collects which keys were changed: private to the library.
class Outcomes;

}  // namespace tamis::detail

#endif  // TAMIS_DETAIL_CHANGE_H_
