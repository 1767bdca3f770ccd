// One generation of a live filter.
#ifndef TAMIS_LIVE_DETAIL_GENERATION_H_
#define TAMIS_LIVE_DETAIL_GENERATION_H_

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/live/live_status.h"

namespace tamis::detail {

template <typename F>
struct Generation {
  Generation(F made, uint64_t its_number, std::chrono::steady_clock::time_point known_at,
             LiveClock counted_by)
      : filter(std::move(made)),
        number(its_number),
        as_of(known_at),
        clock(std::move(counted_by)) {}

  F filter;
  const uint64_t number;
  const std::chrono::steady_clock::time_point as_of;
  const LiveClock clock;
};

// The class that readers query: Filter for AnyFilter, otherwise F itself.
template <typename F>
using Asked = std::conditional_t<std::is_same_v<F, AnyFilter>, Filter, F>;

inline const Filter& AskedOf(const AnyFilter& filter) { return *filter; }
template <typename F>
const F& AskedOf(const F& filter) {
  return filter;
}

// Whether the filter is moved-from, so that every query returns "no". A filter of a class without
// moved_from() never counts as moved-from.
template <typename F>
bool IsMovedFrom(const F& filter) {
  if constexpr (requires { filter.moved_from(); }) return filter.moved_from();
  return false;
}
inline bool IsMovedFrom(const AnyFilter& filter) {
  return filter.operator->() == nullptr || filter->moved_from();
}

// Throws Error(kInvalidArgument) for a filter that is moved-from.
template <typename F>
void RequireServable(const F& filter) {
  if (!IsMovedFrom(filter)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the filter to be published was moved from, and would answer \"no\" to every key; "
              "publish the filter that it was moved to");
}

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_GENERATION_H_
