// A filter kind as a value, with all data and functions that files and other parts of the library
// use.
#ifndef TAMIS_CORE_SRC_FILTERS_BASE_KIND_H_
#define TAMIS_CORE_SRC_FILTERS_BASE_KIND_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/src/bulk/change_loop.h"
#include "core/src/bulk/costs.h"
#include "core/src/file/file_kind.h"
#include "core/src/filters/base/filter_access.h"
#include "tamis/detail/build_from.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/filter_kinds.h"

namespace tamis::detail {

// The costs of operations, relative to the filters that a calibration measures.
struct RelativeCost {
  double contains = 1;
  double insert = 1;
};

// The facts about a lookup that are known before a filter exists.
struct LookupFacts {
  double cache_lines = 1;  // see PlanCandidate
  RelativeCost cost = {};
  std::string note = {};  // a remark of one line
};

// The costs on a typical machine, for each width of a backend's vectors.
struct TypicalCosts {
  std::span<const CostAtSize> portable, vector128, vector256, vector512;
};

struct KindCalibration {
  // The kind whose measured costs are used for this kind. A kind that is measured names itself.
  FilterKind costs_as;
  // Filters of more than this number of bytes are not measured.
  uint64_t max_bytes = ~uint64_t{0};
  // Whether insertion is measured until the filter is full, from an empty filter each time.
  bool until_full = false;
  // Fills the filter before lookups are measured, if the `keys` keys that were inserted for
  // measuring are too few. nullptr if lookups take the same time in an emptier filter.
  void (*fill)(ChangeableFilter& filter, uint64_t keys) = nullptr;
  bool on_device = false;  // whether queries on a GPU are measured, too
  TypicalCosts typical = {};
};

struct Kind {
  FilterKindInfo info;
  FileKind file;

  // Functions of the filter class; `load` and `map` require a file of this kind. A kind with layers
  // has neither `make` nor `build`. A static kind has `build`, all others have `make`.
  AnyFilter (*make)(const FilterOptions& options) = nullptr;
  AnyFilter (*build)(const RepeatableSource& source, const FilterOptions& options,
                     Workers& workers) = nullptr;
  AnyFilter (*load)(const InputFile& file, const LoadOptions& options);
  AnyFilter (*map)(const InputFile& file, const MapOptions& options);
  AnyFilter (*clone)(const Filter& filter, const MemoryOptions& memory);
  // `merge` and `shape` are set if info.no_merge is nullptr. `merge` merges two filters of this
  // kind. `shape` returns a text for messages with the size of a filter.
  void (*merge)(Filter& filter, const Filter& other) = nullptr;
  // nullptr if filters of this kind cannot be intersected.
  void (*intersect)(Filter& filter, const Filter& other) = nullptr;
  std::string (*shape)(const FileHeader& header) = nullptr;

  // Like FilterBytes and FilterFpr. nullptr for kinds that have layers, whose size is not fixed.
  uint64_t (*bytes_for)(uint64_t capacity, double fpr) = nullptr;
  double (*fpr_of_bytes)(double keys, uint64_t bytes) = nullptr;
  // Returns the rate with `header.capacity` keys. nullptr for kinds that have layers.
  double (*fpr_when_full)(const FileHeader& header) = nullptr;
  // Returns the rate as versions before 1.0 computed it. nullptr if the computation has not
  // changed.
  double (*old_fpr_when_full)(const FileHeader& header) = nullptr;

  // Returns the facts about a filter of `bytes` bytes with `keys` keys.
  LookupFacts (*lookup_facts)(uint64_t bytes, uint64_t keys) = nullptr;
  // Returns the costs of an existing filter. nullptr if these are equal for all filters of the
  // kind.
  RelativeCost (*relative_cost)(const FileHeader& header) = nullptr;

  bool has_union_writer = false;  // whether MakeUnionWriter returns a writer

  KindCalibration calibration;
};

// Functions of a row that are the same for every filter class.
template <typename F>
AnyFilter MakeAs(const FilterOptions& options) {
  return F(options);
}
template <typename F>
AnyFilter BuildAs(const RepeatableSource& source, const FilterOptions& options, Workers& workers) {
  return F::BuildBy(&workers, source, options);
}
template <typename F>
AnyFilter LoadAs(const InputFile& file, const LoadOptions& options) {
  OpenedFile opened = LoadFile(file, F::kKind, options);
  return FilterAccess::Make<F>(opened.header, std::move(opened.storage), options.backend);
}
template <typename F>
AnyFilter MapAs(const InputFile& file, const MapOptions& options) {
  OpenedFile opened = MapFile(file, F::kKind, options);
  return FilterAccess::Make<F>(opened.header, std::move(opened.storage), options.backend);
}
template <typename F>
AnyFilter CloneAs(const Filter& filter, const MemoryOptions& memory) {
  return static_cast<const F&>(filter).Clone(memory);
}
template <typename F>
void MergeAs(Filter& filter, const Filter& other) {
  static_cast<F&>(filter).Merge(static_cast<const F&>(other));
}
template <typename F>
void IntersectAs(Filter& filter, const Filter& other) {
  static_cast<F&>(filter).Intersect(static_cast<const F&>(other));
}

// These functions read the table of kinds and are defined beside it, in registry/kinds.cc.

// Returns the false-positive rate with `header.capacity` keys, for a kind without layers.
double FprAtCapacity(const FileHeader& header);
// Returns the rate by Kind::old_fpr_when_full.
double OldFprAtCapacity(const FileHeader& header);

// Returns whether ordering `keys` insertions by region is expected to be faster than writing them
// directly into a filter of `filter_bytes` bytes, on one thread of a typical machine.
bool PartitioningPays(FilterKind kind, std::string_view backend, uint64_t filter_bytes,
                      uint64_t keys) noexcept;

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_FILTERS_BASE_KIND_H_
