// Erasing many keys: all of them or none.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_ERASE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_ERASE_H_

#include <tamis/error.h>
#include <tamis/keys.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/python/src/queries/batches.h"

namespace tamis::python {

// Erases the keys of x and returns how many were found. require(keys) throws
// Error(kInvalidArgument) unless the filter has all keys, and erase(keys) erases them; both run
// without the GIL if the keys are many. lock() locks the filter, as for ForBatches.
//
// Unless `missing_ok`, all keys are read first, as their hashes, and are then looked up and erased
// under one lock. An error while they are read erases nothing either.
template <typename Lock, typename Require, typename Erase>
uint64_t EraseKeys(nb::handle x, bool missing_ok, const HashSpec& hash, nb::handle progress,
                   const Lock& lock, const Require& require, const Erase& erase) {
  const auto source = MakeKeySource(x);
  if (missing_ok) {
    uint64_t erased = 0;
    ForBatches(*source, progress, NoPreparation, lock,
               [&](const Keys& batch, uint64_t) { erased += erase(batch); });
    return erased;
  }
  std::vector<uint64_t> hashes;
  const auto unlocked = [] { return 0; };
  ForBatches(*source, progress, NoPreparation, unlocked, [&](const Keys& batch, uint64_t) {
    const size_t before = hashes.size();
    hashes.resize(before + batch.size());
    hashes.resize(before + HashKeys(batch, hash, std::span(hashes).subspan(before)));
  });
  [[maybe_unused]] const auto held = lock();
  std::optional<WithoutGil> released;
  if (hashes.size() >= kReleasesGil) released.emplace();
  const Keys keys(Hashes{hashes});
  try {
    require(keys);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) +
                                  ". Keys that are not in can take out others; missing_ok=True "
                                  "erases those that are found");
  }
  return erase(keys);
}

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_ERASE_H_
