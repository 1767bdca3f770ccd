// What filters of each kind can do, for what decides before there is a filter.
#ifndef TAMIS_CORE_SRC_FILTERS_KIND_TRAITS_H_
#define TAMIS_CORE_SRC_FILTERS_KIND_TRAITS_H_

#include "tamis/file.h"

namespace tamis {

struct KindTraits {
  bool erases = false;
  bool merges = false;
  bool intersects = false;
  bool inserts_in_parallel = false;  // parts of it can be written independently
};

constexpr bool IsCuckoo(FilterKind kind) noexcept {
  return kind == FilterKind::kCuckoo8 || kind == FilterKind::kCuckoo12 ||
         kind == FilterKind::kCuckoo16;
}

// Of a scalable filter what holds for layers of any kind.
constexpr KindTraits TraitsOf(FilterKind kind) noexcept {
  if (IsCuckoo(kind)) return {.erases = true, .inserts_in_parallel = true};
  switch (kind) {
    case FilterKind::kSplitBlock:
      return {.merges = true, .intersects = true, .inserts_in_parallel = true};
    case FilterKind::kBloom:
      return {.merges = true, .intersects = true};
    case FilterKind::kCounting:
      return {.erases = true, .merges = true, .inserts_in_parallel = true};
    default:
      return {};
  }
}

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FILTERS_KIND_TRAITS_H_
