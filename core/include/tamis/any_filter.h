// A filter of whatever kind a file holds.
#ifndef TAMIS_ANY_FILTER_H_
#define TAMIS_ANY_FILTER_H_

#include <filesystem>
#include <memory>
#include <utility>

#include "tamis/filter.h"

namespace tamis {

// Move-only owner of a filter of any kind, never empty unless moved from.
class AnyFilter {
 public:
  template <typename F>
  requires std::is_base_of_v<Filter, F> AnyFilter(F filter)
      : filter_(std::make_unique<F>(std::move(filter))) {}

  Filter& operator*() const noexcept { return *filter_; }
  Filter* operator->() const noexcept { return filter_.get(); }

  // The filter as one of kind F, or nullptr if it is of another.
  template <typename F>
  F* As() const noexcept {
    return dynamic_cast<F*>(filter_.get());
  }

 private:
  std::unique_ptr<Filter> filter_;
};

// Reads a file of any kind and verifies all of it. Throws FormatError or Error(kIo).
AnyFilter Open(const std::filesystem::path& path, const LoadOptions& options = {});

// Maps a file of any kind, as SplitBlockBloomFilter::Map does.
AnyFilter OpenMapped(const std::filesystem::path& path, const MapOptions& options = {});

// A copy of a filter of any kind, in memory of its own, never read-only: as Clone of its class.
AnyFilter Clone(const Filter& filter, const MemoryOptions& memory = {});

}  // namespace tamis

#endif  // TAMIS_ANY_FILTER_H_
