// A filter of any kind, and the functions that load, map and copy one.
#ifndef TAMIS_FILTERS_ANY_FILTER_H_
#define TAMIS_FILTERS_ANY_FILTER_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "tamis/filters/filter.h"

namespace tamis {

// Owns a filter of any kind. Move-only. Empty only after a move.
class AnyFilter {
 public:
  template <typename F>
  requires std::is_base_of_v<Filter, F> AnyFilter(F filter)
      : filter_(std::make_unique<F>(std::move(filter))) {}

  // Return the filter.
  Filter& operator*() const noexcept { return *filter_; }
  Filter* operator->() const noexcept { return filter_.get(); }

  // Returns the filter as a filter of class F. nullptr if it has another class.
  template <typename F>
  F* As() const noexcept {
    return dynamic_cast<F*>(filter_.get());
  }

 private:
  std::unique_ptr<Filter> filter_;
};

// Load or map a file of any kind, like Load and Map of the filter classes. See
// SplitBlockBloomFilter for errors.
AnyFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
AnyFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

// Load or map a file in memory, such as the bytes that Serialize (serialize.h) returns. Load copies
// the bytes. Map does not copy the bytes, and its filter is read-only: the bytes must not change
// and must outlive the filter. Map throws Error(kInvalidArgument) if the address of the bytes is
// not a multiple of 64. The bytes are checked like a file. Error messages call them "memory".
AnyFilter Load(std::span<const std::byte> bytes, const LoadOptions& options = {});
AnyFilter Map(std::span<const std::byte> bytes, const MapOptions& options = {});

// Returns a copy of a filter of any kind, like Clone of the filter classes.
AnyFilter Clone(const Filter& filter, const MemoryOptions& memory = {});

}  // namespace tamis

#endif  // TAMIS_FILTERS_ANY_FILTER_H_
