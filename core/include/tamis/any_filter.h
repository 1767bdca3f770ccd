// A filter of whatever kind a file holds, and files in memory.
#ifndef TAMIS_ANY_FILTER_H_
#define TAMIS_ANY_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

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

// Load and Map of the classes, for a file of any kind.
AnyFilter Load(const std::filesystem::path& path, const LoadOptions& options = {});
AnyFilter Map(const std::filesystem::path& path, const MapOptions& options = {});

// The same out of memory: of the bytes that Serialize gives, which are those of a file. Load copies
// them. Map does not: they must not change and must outlive the filter, which is read-only, and
// begin at a multiple of 64, else Error(kInvalidArgument) is thrown. Bytes that came from elsewhere
// are checked as files are, and messages call them "memory".
AnyFilter Load(std::span<const std::byte> bytes, const LoadOptions& options = {});
AnyFilter Map(std::span<const std::byte> bytes, const MapOptions& options = {});

// The bytes of the file that filter.Save would write with the same options, of which only those
// about contents count. The second writes them to `out`, which needs SerializedBytes of them, and
// returns how many they are; the third says so beforehand, in O(1), or O(layers). Throw as Save,
// but not Error(kIo), and Error(kInvalidArgument), with nothing written, if `out` is too small.
std::vector<std::byte> Serialize(const Filter& filter, const SaveOptions& options = {});
uint64_t Serialize(const Filter& filter, std::span<std::byte> out, const SaveOptions& options = {});
uint64_t SerializedBytes(const Filter& filter, const SaveOptions& options = {});

// Clone of the class, for a filter of any kind.
AnyFilter Clone(const Filter& filter, const MemoryOptions& memory = {});

}  // namespace tamis

#endif  // TAMIS_ANY_FILTER_H_
