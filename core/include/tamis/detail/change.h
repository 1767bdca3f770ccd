// The changes that a Changeable can make, for host and device code.
#ifndef TAMIS_DETAIL_CHANGE_H_
#define TAMIS_DETAIL_CHANGE_H_

#include <cstdint>

#include "tamis/cpp20.h"

namespace tamis {

enum class Change : uint8_t {
  kInsert,
  kErase,
  kInsertIfAbsent,  // inserts the keys for which Contains returns false
};

namespace detail {

// Records which keys of a call changed the filter. Private to the library.
class Outcomes;

}  // namespace detail
}  // namespace tamis

#endif  // TAMIS_DETAIL_CHANGE_H_
