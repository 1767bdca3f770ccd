// Functions that change any Changeable, and check at run time whether it supports the change.
#ifndef TAMIS_CHANGES_H_
#define TAMIS_CHANGES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/changeable.h"
#include "tamis/keys.h"

namespace tamis {

// Call the member function with the same name. Throw Error(kUnsupported), with nothing changed, if
// change_traits() of the object do not include the change.
size_t Insert(Changeable& to, Keys keys);
size_t Insert(Changeable& to, Keys keys, std::span<uint64_t> rejected);
size_t InsertIfAbsent(Changeable& to, Keys keys, Bitmap fresh);
size_t InsertIfAbsent(Changeable& to, Keys keys, Bitmap fresh, Bitmap rejected);
size_t Erase(Changeable& from, Keys keys);
size_t Erase(Changeable& from, Keys keys, std::span<uint64_t> missing);

}  // namespace tamis

#endif  // TAMIS_CHANGES_H_
