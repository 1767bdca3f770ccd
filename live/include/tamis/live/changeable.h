// Concepts of filters that may be changed while other threads query them.
#ifndef TAMIS_LIVE_CHANGEABLE_H_
#define TAMIS_LIVE_CHANGEABLE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tamis/hash.h"
#include "tamis/keys.h"

namespace tamis {

// A filter that states, by kConcurrentChanges, that any number of threads may insert into it while
// other threads query it and call its other const functions.
template <typename F>
concept ConcurrentlyChangeable = requires(F& filter, const F& same, const Keys& keys,
                                          uint64_t hash) {
  requires F::kConcurrentChanges;
  { same.hash() } -> std::convertible_to<HashSpec>;
  { filter.Insert(keys) } -> std::convertible_to<size_t>;
  { filter.InsertHash(hash) } -> std::convertible_to<bool>;
};

// A concurrently changeable filter that threads may also erase from.
template <typename F>
concept ConcurrentlyErasable = ConcurrentlyChangeable<F> &&
    requires(F& filter, const Keys& keys, uint64_t hash) {
  { filter.Erase(keys) } -> std::convertible_to<size_t>;
  { filter.EraseHash(hash) } -> std::convertible_to<bool>;
};

}  // namespace tamis

#endif  // TAMIS_LIVE_CHANGEABLE_H_
