// All kinds of filters, the abilities of each, and functions that make filters by their kind.
#ifndef TAMIS_FILTERS_FILTER_KINDS_H_
#define TAMIS_FILTERS_FILTER_KINDS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tamis/file/file.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/filter.h"

namespace tamis {

// The abilities of a structure, or the abilities that a job needs.
struct Abilities {
  bool erase = false;      // keys can be erased
  bool grow = false;       // takes more keys than planned, at the same false-positive rate
  bool merge = false;      // two filters of the same shape can become one with the keys of both
  bool intersect = false;  // two filters of the same shape can become one with the common keys
  bool parallel_build = false;  // the threads of an Engine share the work of building it
  bool parquet = false;         // can have the bits of Apache Parquet's filters (XXH64, seed 0)
  bool exact = false;           // has no false positives
};

// The names and properties of a kind of filter.
struct FilterKindInfo {
  FilterKind kind;   // the kind
  const char* name;  // "split-block", "cuckoo8" ...
  Abilities can;     // its abilities; for a scalable filter, without those of its layers
  // The JSON names of the numbers in FileHeader::geometry. nullptr after the last name.
  std::array<const char*, 3> geometry = {};
  // Why filters of this kind cannot be merged. nullptr if they can.
  const char* no_merge = nullptr;
  // Whether a scalable filter can have layers of this kind.
  bool can_be_layer = false;
  // Whether a filter of this kind consists of layers of another kind. MakeScalableFilter makes it.
  bool has_layers = false;
  // Whether a filter of this kind is built from all its keys by BuildFilter, and never changes.
  bool is_static = false;

  // Returns whether MakeFilter makes filters of this kind.
  bool is_plain() const noexcept { return !has_layers && !is_static; }
};

// Returns all kinds, the fast default first.
std::span<const FilterKindInfo> FilterKinds();

// Returns the row of a kind. Throws Error(kUnsupported) for an unknown kind.
const FilterKindInfo& KindInfo(FilterKind kind);

// Makes an empty filter of a kind, like the constructor of its class. Throws the errors of the
// constructor, Error(kInvalidArgument) for a kind that has layers or is static, and
// Error(kUnsupported) for an unknown kind.
AnyFilter MakeFilter(FilterKind kind, const FilterOptions& options);

// Returns the bytes of a filter for `capacity` keys at the rate `fpr`. Throws
// Error(kInvalidArgument) if an argument is out of range or the kind has layers, and
// Error(kUnsupported) for an unknown kind.
uint64_t FilterBytes(FilterKind kind, uint64_t capacity, double fpr);

// Returns the false-positive rate of a filter with `keys` distinct keys, in [0, 2^64), and `bytes`
// from FilterBytes. For a classic filter, assumes the best number of hashes for this number of
// keys. Throws Error(kInvalidArgument) if `keys` is out of range or the kind has layers, and
// Error(kUnsupported) for an unknown kind.
double FilterFpr(FilterKind kind, double keys, uint64_t bytes);

// Returns the false-positive rate that follows from the number of keys, inserted_count(), as if all
// were distinct. Uses the formulas of sizing.h for the filter's geometry, and 1 - (1 - p1) (1 - p2)
// ... for the layers of a scalable filter. If keys were inserted twice, the result is an upper
// bound. If InsertIfAbsent filled the filter far beyond its capacity, the result is too low,
// because new keys that were false positives are not counted. O(1), or O(layers). expected_fpr()
// counts bits instead.
double FprByCount(const Filter& filter);

}  // namespace tamis

#endif  // TAMIS_FILTERS_FILTER_KINDS_H_
