// What the parts of the library that keep copies of a filter elsewhere may do to it.
#ifndef TAMIS_CORE_SRC_FILTERS_FILTER_ACCESS_H_
#define TAMIS_CORE_SRC_FILTERS_FILTER_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tamis/filter.h"

namespace tamis {

struct FilterAccess {
  // Equal for the same filter, wherever it was moved, as long as nothing changes it.
  struct Version {
    uint64_t identity;
    uint64_t changes;

    friend bool operator==(const Version&, const Version&) = default;
  };
  static Version VersionOf(const Filter& filter) noexcept {
    return {filter.identity_, filter.changes_};
  }

  // Throws Error(kReadOnly).
  static std::span<std::byte> WritablePayload(Filter& filter) {
    filter.RequireWritable();
    filter.Changed();
    return {filter.storage_.data(), filter.storage_.size()};
  }
  static void SetInserted(Filter& filter, uint64_t inserted) noexcept {
    filter.inserted_ = inserted;
  }
};

}  // namespace tamis

#endif  // TAMIS_CORE_SRC_FILTERS_FILTER_ACCESS_H_
