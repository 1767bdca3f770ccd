// Queries of the keys that a selection vector of the caller names.
#ifndef TAMIS_BINDINGS_C_SRC_SELECT_FROM_H_
#define TAMIS_BINDINGS_C_SRC_SELECT_FROM_H_

#include <cstdint>
#include <span>

#include "bindings/c/src/guard.h"
#include "bindings/c/src/key_array.h"
#include "bindings/c/src/room.h"

namespace tamis::c {

// Sets *hits to select(keys, selection, out), with spans of the arrays of the caller. All keys are
// one run, because indices may be in any order.
template <typename Select>
void SelectFrom(const tamis_keys* keys, const uint32_t* selection, uint64_t num_selected,
                uint32_t* rows, uint64_t capacity, uint64_t* hits, const Select& select) {
  uint64_t& found = Required(hits, "hits");
  const KeyArray array(keys, KeyArray::kOneRun);
  const std::span chosen = Room(selection, num_selected, num_selected, "selection");
  const std::span out = Room(rows, capacity, num_selected, "rows");
  array.ForRuns([&](const Keys& all, size_t) { found = select(all, chosen, out); });
}

}  // namespace tamis::c

#endif  // TAMIS_BINDINGS_C_SRC_SELECT_FROM_H_
