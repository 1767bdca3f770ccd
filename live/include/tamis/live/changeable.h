// Which filters may be changed while others ask them.
#ifndef TAMIS_LIVE_CHANGEABLE_H_
#define TAMIS_LIVE_CHANGEABLE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// A filter that any number of threads may insert into while any number ask it, and call what else
// is const; and that says so.
template <typename F>
concept ConcurrentlyChangeable = requires(F& filter, const F& same, const Keys& keys,
                                          uint64_t hash) {
  requires F::kConcurrentChanges;
  { same.hash() } -> std::convertible_to<HashSpec>;
  { filter.Insert(keys) } -> std::convertible_to<size_t>;
  { filter.InsertHash(hash) } -> std::convertible_to<bool>;
};

// One that they may erase from as well.
template <typename F>
concept ConcurrentlyErasable = ConcurrentlyChangeable<F> &&
    requires(F& filter, const Keys& keys, uint64_t hash) {
  { filter.Erase(keys) } -> std::convertible_to<size_t>;
  { filter.EraseHash(hash) } -> std::convertible_to<bool>;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_CHANGEABLE_H_
