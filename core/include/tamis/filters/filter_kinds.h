// The kinds of filters that there are, what each can do, and filters made by the name of their
// kind.
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

// What a structure can do, or is asked to do.
struct Abilities {
  bool erase = false;           // keys can be taken back
  bool grow = false;            // more keys than planned can come, at the rate that was asked for
  bool merge = false;           // two of equal shape become one with all keys of both
  bool intersect = false;       // two of equal shape become one with the keys that are in both
  bool parallel_build = false;  // the threads of an Engine share the work of building it
  bool parquet = false;         // it can have the bits of Apache Parquet (XXH64 with seed 0)
  bool exact = false;           // it is never wrong
};

struct FilterKindInfo {
  FilterKind kind;
  const char* name;  // "split-block", "cuckoo8" ...
  Abilities can;     // of a scalable filter: whatever its layers are
  // What the numbers of FileHeader::geometry are called, in JSON; nullptr after the last.
  std::array<const char*, 3> geometry = {};
  // Why filters of this kind cannot be merged; nullptr if they can.
  const char* no_merge = nullptr;
  // Whether a scalable filter can have layers of this kind.
  bool can_be_layer = false;
  // Whether it consists of filters of another kind, its layers. Made by MakeScalableFilter.
  bool has_layers = false;
  // Whether it is built from all its keys at once, by BuildFilter, and never changes.
  bool is_static = false;

  // Whether MakeFilter makes it.
  bool is_plain() const noexcept { return !has_layers && !is_static; }
};

// All kinds, the fast default first.
std::span<const FilterKindInfo> FilterKinds();

// Throws Error(kUnsupported) for a number that is no kind.
const FilterKindInfo& KindInfo(FilterKind kind);

// A filter of that kind, as the constructor of its class makes it. Throws as that does, and
// Error(kInvalidArgument) for a kind that has layers or is static, Error(kUnsupported) for a number
// that is no kind.
AnyFilter MakeFilter(FilterKind kind, const FilterOptions& options);

// The bytes of a filter of a kind without layers for `capacity` keys at a rate of `fpr`. Throws
// Error(kInvalidArgument) if that is out of range, Error(kUnsupported) for a number that is no
// kind.
uint64_t FilterBytes(FilterKind kind, uint64_t capacity, double fpr);

// The false-positive rate of a filter of a kind without layers that has `bytes`, as FilterBytes
// gives them, and holds `keys` distinct keys; for a classic one, with the number of hashes that is
// best for them. `keys` is in [0, 2^64). Throws Error(kInvalidArgument) for any other number or a
// kind with layers, Error(kUnsupported) for a number that is no kind.
double FilterFpr(FilterKind kind, double keys, uint64_t bytes);

// The false-positive rate of a filter by the number of its keys, inserted_count(), as if all were
// distinct: with the formulas of sizing.h for its own geometry, and 1 - (1 - p1) (1 - p2) ... for
// the layers of a scalable one. An upper bound where keys were inserted twice. By InsertIfAbsent
// none are, but in a filter that is far too full it is too low: what is taken for another key is
// not counted. O(1), or O(layers), where expected_fpr() counts bits.
double FprByCount(const Filter& filter);

}  // namespace tamis

#endif  // TAMIS_FILTERS_FILTER_KINDS_H_
