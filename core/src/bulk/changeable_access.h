// Access to the protected functions of a Changeable, for the library itself.
#ifndef TAMIS_CORE_SRC_BULK_CHANGEABLE_ACCESS_H_
#define TAMIS_CORE_SRC_BULK_CHANGEABLE_ACCESS_H_

#include <cstddef>

#include "tamis/changeable.h"

namespace tamis::detail {

struct ChangeableAccess {
  static size_t Apply(Changeable& to, Change change, const Keys& keys,
                      const ChangeOutputs& outputs) {
    return to.Apply(change, keys, outputs);
  }

  // These functions accept any Changeable.
  template <typename... Outputs>
  static size_t Insert(Changeable& to, const Keys& keys, Outputs... outputs) {
    return to.Insert(keys, outputs...);
  }
  template <typename... Outputs>
  static size_t InsertIfAbsent(Changeable& to, const Keys& keys, Outputs... outputs) {
    Require(to.change_traits().inserts_if_absent, "this filter cannot report which keys are new");
    return to.InsertIfAbsent(keys, outputs...);
  }
  template <typename... Outputs>
  static size_t Erase(Changeable& from, const Keys& keys, Outputs... outputs) {
    Require(from.change_traits().erases, "keys cannot be erased from this filter");
    return from.Erase(keys, outputs...);
  }

 private:
  static void Require(bool supported, const char* message);  // throws Error(kUnsupported)
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_BULK_CHANGEABLE_ACCESS_H_
