// What the command knows of each kind of filter. A new kind is one more entry in the list.
#ifndef TAMIS_TOOLS_FILTER_KINDS_H_
#define TAMIS_TOOLS_FILTER_KINDS_H_

#include <tamis/any_filter.h>
#include <tamis/file.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tamis::tools {

struct KindInfo {
  FilterKind kind;
  AnyFilter (*make)(const FilterOptions& options);
  // Adds the keys of `other`, which is of this kind, to `filter`. Throws Error(kIncompatible). Null
  // if filters of this kind cannot be merged, for this reason:
  void (*merge)(AnyFilter& filter, const AnyFilter& other);
  const char* no_merge;
  bool erases;  // keys can be erased
  // What the numbers of FileHeader::geometry are called, in JSON; null after the last.
  std::array<const char*, 3> geometry;
};

// All but scalable filters, of which InfoOf has no functions.
std::span<const KindInfo> FilterKinds();

const KindInfo& InfoOf(FilterKind kind);

// The names of the kinds of FilterKinds().
std::vector<std::string> KindNames();

}  // namespace tamis::tools

#endif  // TAMIS_TOOLS_FILTER_KINDS_H_
